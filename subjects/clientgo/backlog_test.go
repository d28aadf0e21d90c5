package clientgo

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo/gates"
)

// queued returns a view of a queue with these keys.
func queued(keys []string, delta, atomic bool) *queueView {
	return &queueView{
		QueueInfo: gates.QueueInfo{Delta: delta, Atomic: atomic}, length: len(keys), keys: func(from, to int) []string { return keys[from:to] },
	}
}

func TestBacklogKnowsWhatHasNoOrder(t *testing.T) {
	list := &replaced{keys: []string{"b", "c"}}
	streamed := &replaced{keys: []string{"b", "c"}, unordered: true}
	for _, test := range []struct {
		name          string
		delta, atomic bool
		before, after []string
		with          *replaced // nil for a resync
		want          []part
	}{
		{"delta: tombstones follow the list", true, false, []string{"b"}, []string{"b", "c", "x", "y"}, list, []part{{from: 2, to: 4}}},
		{"delta: one tombstone has an order", true, false, nil, []string{"b", "c", "x"}, list, nil},
		{"delta: a streaming list", true, false, []string{"z"}, []string{"z", "c", "b"}, streamed, []part{{from: 1, to: 3, listed: true}}},
		{"delta: a resync", true, false, []string{"z"}, []string{"z", "c", "b"}, nil, []part{{from: 1, to: 3}}},
		{"in order: tombstones precede the list", false, false, []string{"z"}, []string{"z", "x", "y", "b", "c"}, list, []part{{from: 1, to: 3}}},
		{"in order: no tombstones", false, false, nil, []string{"b", "c"}, list, nil},
		{"delta: a streaming list and tombstones", true, false, nil, []string{"c", "b", "y", "x"}, streamed, []part{{from: 0, to: 2, listed: true}, {from: 2, to: 4}}},
		{"in order: a streaming list", false, false, nil, []string{"x", "y", "c", "b"}, streamed, []part{{from: 0, to: 2}, {from: 2, to: 4, listed: true}}},
		{"atomic: a list is one entry", false, true, []string{"z"}, []string{"z", "list"}, list, []part{{from: 1, to: 2, replace: true}}},
		{"atomic: a resync is one entry", false, true, nil, []string{"sync"}, nil, []part{{from: 0, to: 1}}},
	} {
		b := backlog{queue: queued(test.before, test.delta, test.atomic)}
		b.follow()
		b.queue = queued(test.after, test.delta, test.atomic)
		if test.with != nil {
			b.replaced(test.with)
		} else {
			b.resynced()
		}
		if !slices.Equal(b.parts, test.want) || b.length != len(test.after) {
			t.Errorf("%s: parts %+v of %d, want %+v of %d", test.name, b.parts, b.length, test.want, len(test.after))
		}
	}
}

// A part that is popped from moves to the front, and a pop that begins in it continues to its end or, where batches may end
// anywhere, to the end of the queue.
func TestBacklogPops(t *testing.T) {
	for _, test := range []struct {
		name    string
		delta   bool
		parts   []part
		pops    []int
		ahead   []bool // before each pop
		inside  []bool // after each pop
		entries int
	}{
		{"delta", true, []part{{from: 1, to: 4}}, []int{1, 1, 1, 1, 1}, []bool{false, true, true, true, false}, []bool{false, true, true, false, false}, 5},
		{"a batch takes it all", false, []part{{from: 1, to: 4}}, []int{5}, []bool{true}, []bool{false}, 5},
		{"a batch ends inside", false, []part{{from: 0, to: 4}}, []int{2, 2, 1}, []bool{true, true, false}, []bool{true, true, false}, 5},
	} {
		b := backlog{queue: queued(make([]string, test.entries), test.delta, false), parts: slices.Clone(test.parts)}
		b.follow()
		b.begin()
		for n, take := range test.pops {
			if got := b.unorderedAhead(); got != test.ahead[n] {
				t.Errorf("%s: before pop %d: unorderedAhead is %v", test.name, n+1, got)
			}
			b.queue.length -= take
			if !b.popped() {
				t.Errorf("%s: pop %d took nothing", test.name, n+1)
			}
			if got := b.inside(); got != test.inside[n] {
				t.Errorf("%s: after pop %d: inside is %v", test.name, n+1, got)
			}
		}
		if b.popped() {
			t.Errorf("%s: a pop that took nothing is counted", test.name)
		}
	}
}

func TestNotificationsArePutInOrder(t *testing.T) {
	text := func(ns []notification) string {
		var b strings.Builder
		for _, n := range ns {
			fmt.Fprintf(&b, "%s:%s ", n.detail, n.key)
		}
		return b.String()
	}
	n := func(detail string, keys ...string) (out []notification) {
		for _, k := range keys {
			out = append(out, notification{detail: detail, key: k})
		}
		return out
	}
	all := slices.Concat(n(subjects.NotifyUnknown, "y", "x"), n(subjects.NotifyUpdate, "b", "a"), n(subjects.NotifySync, "d", "c"), n(subjects.NotifyDelete, "f", "e"))
	ns := slices.Clone(all)
	byRun(ns, nil)
	want := slices.Concat(n(subjects.NotifyUnknown, "x", "y"), n(subjects.NotifyUpdate, "b", "a"), n(subjects.NotifySync, "c", "d"), n(subjects.NotifyDelete, "f", "e"))
	if text(ns) != text(want) {
		t.Errorf("got %s\nwant %s", text(ns), text(want))
	}
	ns = slices.Clone(all)
	byRun(ns, map[version]bool{{"a", 0}: true, {"b", 0}: true})
	want = slices.Concat(n(subjects.NotifyUnknown, "x", "y"), n(subjects.NotifyUpdate, "a", "b"), n(subjects.NotifySync, "c", "d"), n(subjects.NotifyDelete, "f", "e"))
	if text(ns) != text(want) {
		t.Errorf("of a list without order: got %s\nwant %s", text(ns), text(want))
	}
	ns = n(subjects.NotifyAdd, "b", "a", "d", "c")
	byRun(ns, map[version]bool{{"a", 0}: true, {"b", 0}: true})
	if want := n(subjects.NotifyAdd, "a", "b", "d", "c"); text(ns) != text(want) {
		t.Errorf("of such a list, and what a watch brought behind it: got %s\nwant %s", text(ns), text(want))
	}
	ns = slices.Concat(n(subjects.NotifyUpdate, "b"), n(subjects.NotifySync, "b", "a"), n(subjects.NotifyAdd, "c"))
	byRun(ns, map[version]bool{{"a", 0}: false, {"b", 0}: false, {"c", 0}: true})
	if want := slices.Concat(n(subjects.NotifyUpdate, "b"), n(subjects.NotifySync, "a", "b"), n(subjects.NotifyAdd, "c")); text(ns) != text(want) {
		t.Errorf("of such a list, and what a watch brought before it: got %s\nwant %s", text(ns), text(want))
	}
	ns = n(subjects.NotifySync, "b", "c", "a", "a", "c")
	byRun(ns, nil)
	if want := n(subjects.NotifySync, "a", "b", "c", "a", "c"); text(ns) != text(want) {
		t.Errorf("of two lists: got %s\nwant %s", text(ns), text(want))
	}
	ns = slices.Concat(n(subjects.NotifyUnknown, "b"), n(subjects.NotifyAdd, "b"), n(subjects.NotifyUnknown, "a"))
	byKey(ns)
	if want := slices.Concat(n(subjects.NotifyUnknown, "a"), n(subjects.NotifyUnknown, "b"), n(subjects.NotifyAdd, "b")); text(ns) != text(want) {
		t.Errorf("by key: got %s\nwant %s", text(ns), text(want))
	}
}
