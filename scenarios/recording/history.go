package recording

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// change is one command of the script to be.
type change struct {
	verb   string // create, update or delete
	object *object
	rv     int64 // 0 until a guessed deletion is given one
	kind   *history

	initial bool // part of the state before the first change

	// A deletion that was not seen: it took one of the revisions above after.
	guessed bool
	after   int64
}

// history is what a recording says of one kind.
type history struct {
	gvk        schema.GroupVersionKind
	namespaced bool
	plural     string // of the resource
	short      string // its name in commands: the plural, with the group if that alone is ambiguous
	informer   string

	initial []*change
	changes []*change

	known   map[string]*object // what exists, as last seen
	deleted map[string]int64   // revision of the last deletion of what does not
	last    int64              // the highest revision seen
	run     []*object          // ADDED events whose meaning is still open
	listed  bool               // the initial state is complete
	kept    *int64             // bytes of objects kept, over all kinds

	neverSeen int // deletions of objects that were never seen
	relists   int // lists of a recording that was started again
}

func newHistory(gvk schema.GroupVersionKind, watchOnly bool, kept *int64) *history {
	return &history{gvk: gvk, listed: watchOnly, kept: kept, known: map[string]*object{}, deleted: map[string]int64{}}
}

// drop forgets an object that says nothing new.
func (h *history) drop(o *object) { *h.kept -= int64(len(o.raw)) }

// added takes an ADDED event. Whether it is part of a list shows with the events after it.
func (h *history) added(o *object) { h.run = append(h.run, o) }

// modified takes a MODIFIED event.
func (h *history) modified(o *object) error {
	if err := h.endRun(false); err != nil {
		return err
	}
	if known := h.known[o.key]; known != nil && known.rv == o.rv {
		h.drop(o)
		return nil
	}
	if o.rv <= h.last {
		return h.goesBack(o)
	}
	h.put(o, h.last)
	return nil
}

// removed takes a DELETED event, whose revision is that of the deletion (S18).
func (h *history) removed(o *object) error {
	if err := h.endRun(false); err != nil {
		return err
	}
	if h.known[o.key] == nil && h.deleted[o.key] == o.rv {
		h.drop(o)
		return nil
	}
	if o.rv <= h.last {
		return h.goesBack(o)
	}
	h.last = o.rv
	if h.known[o.key] == nil {
		h.neverSeen++
		h.drop(o)
	} else {
		h.record(&change{verb: "delete", object: o, rv: o.rv})
	}
	delete(h.known, o.key)
	h.deleted[o.key] = o.rv
	return nil
}

// endRun gives the ADDED events seen since the last other one their meaning. listEnd says that a streaming list ended here.
func (h *history) endRun(listEnd bool) error {
	run := h.run
	h.run = nil
	if !h.listed {
		h.listed = true
		n := initialLength(run, listEnd)
		h.list(run[:n])
		run = run[n:]
	}
	return h.addRun(run)
}

// initialLength returns how much of the leading run of ADDED events is the initial list; see the package comment.
func initialLength(run []*object, listEnd bool) int {
	seen := make(map[string]bool, len(run))
	for i, o := range run {
		if seen[o.key] {
			run = run[:i]
			break
		}
		seen[o.key] = true
	}
	if listEnd {
		return len(run)
	}
	n := 0
	for n < len(run) && (n == 0 || run[n-1].key < run[n].key) {
		n++
	}
	var highest int64
	for i, o := range run {
		if o.rv < highest {
			n = max(n, i+1)
		}
		highest = max(highest, o.rv)
	}
	return n
}

// list takes the initial state.
func (h *history) list(objects []*object) {
	for _, o := range sortedByRevision(objects) {
		h.initial = append(h.initial, &change{verb: "create", object: o, rv: o.rv, kind: h, initial: true})
		h.known[o.key] = o
		h.last = max(h.last, o.rv)
	}
}

// addRun takes ADDED events after the initial state: single ones, the list of a recording that was started again, or both.
func (h *history) addRun(run []*object) error {
	before := h.last
	pending := make(map[string]int64, len(run))
	repeated := false
	var news []*object
	for _, o := range run {
		rv := pending[o.key]
		if known := h.known[o.key]; rv == 0 && known != nil {
			rv = known.rv
			repeated = repeated || rv == o.rv
		}
		pending[o.key] = o.rv
		switch {
		case rv == o.rv:
			h.drop(o)
		case o.rv <= before || o.rv < rv:
			return h.goesBack(o)
		default:
			news = append(news, o)
		}
	}
	var missing []*object
	if repeated {
		h.relists++
		for key, o := range h.known {
			if pending[key] == 0 {
				missing = append(missing, o)
			}
		}
	}
	for _, o := range sortedByRevision(missing) {
		h.guessDeletion(o, before)
	}
	for _, o := range sortedByRevision(news) {
		h.put(o, before)
	}
	return nil
}

// put records a new version of an object, whose revision is above all before it. A deletion that it shows to have been missed
// was above the revision after.
func (h *history) put(o *object, after int64) {
	known := h.known[o.key]
	if known != nil && known.uid != "" && o.uid != "" && known.uid != o.uid {
		h.guessDeletion(known, after)
		known = nil
	}
	verb := "update"
	if known == nil {
		verb = "create"
	}
	h.record(&change{verb: verb, object: o, rv: o.rv})
	h.known[o.key] = o
	h.last = max(h.last, o.rv)
}

// guessDeletion records that an object was deleted unseen, at a revision above after.
func (h *history) guessDeletion(o *object, after int64) {
	h.record(&change{verb: "delete", object: o, guessed: true, after: after})
	delete(h.known, o.key)
}

func (h *history) record(c *change) {
	c.kind = h
	h.changes = append(h.changes, c)
}

func (h *history) goesBack(o *object) error {
	return wrong(o.place, o.document, "import recordings of one cluster in the order they were made",
		"the revision goes back: %s %s has resourceVersion %d after %d", o.gvk.Kind, shorten(o.key), o.rv, h.last)
}

func sortedByRevision(objects []*object) []*object {
	return slices.SortedStableFunc(slices.Values(objects), func(a, b *object) int {
		return cmp.Or(cmp.Compare(a.rv, b.rv), cmp.Compare(a.key, b.key))
	})
}
