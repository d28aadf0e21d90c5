package recording

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/informersim/informersim/scenarios/script"
)

// widget renders a widget; its uid derives from its key unless one is given.
func widget(key string, rv int64, uid ...string) string {
	namespace, name, _ := strings.Cut(key, "/")
	id := key
	if len(uid) > 0 {
		id = uid[0]
	}
	return fmt.Sprintf(`{"apiVersion":"probe.dev/v1","kind":"Widget","metadata":{"name":%q,"namespace":%q,"resourceVersion":"%d","uid":%q},"spec":{"rv":%d}}`,
		name, namespace, rv, id, rv)
}

func event(typ, object string) string { return `{"type":"` + typ + `","object":` + object + "}\n" }

// TestHistoryOfEvents fixes how the events of a recording are interpreted. An event is `TYPE key rv [uid]`, a command
// `verb key rv`, with a | where the informer starts and a ? after a guess.
func TestHistoryOfEvents(t *testing.T) {
	tests := []struct{ name, events, want string }{
		{"list in key order, then live", "A n/a 5, A n/c 3, A n/b 6, M n/a 7", "c n/c 3, c n/a 5, |, c n/b 6, u n/a 7"},
		{"list not in key order", "A n/c 5, A n/a 6, A n/b 4, A n/d 7", "c n/b 4, c n/c 5, c n/a 6, |, c n/d 7"},
		{"list in key order of bytes", "A n-1/a 5, A n/a 4, A n/b 3", "c n/b 3, c n/a 4, c n-1/a 5"},
		{"streaming list", "A n/c 5, A n/a 6, END 6, A n/b 7", "c n/c 5, c n/a 6, |, c n/b 7"},
		{"bookmark", "A n/a 5, B 6, A n/b 7, B 8", "c n/a 5, |, c n/b 7"},
		{"no list", "M n/a 5, D n/a 6", "|, c n/a 5, d n/a 6"},
		{"deleted before seen", "A n/a 5, D n/b 6, M n/a 7", "c n/a 5, |, u n/a 7"},
		{"ADDED of a known object", "A n/a 5, M n/a 6, A n/a 7, M n/a 8", "c n/a 5, |, u n/a 6, u n/a 7, u n/a 8"},
		{"MODIFIED of an unknown object", "A n/a 5, M n/b 6", "c n/a 5, |, c n/b 6"},
		{"repeated events", "A n/a 5, M n/a 6, M n/a 6, D n/a 7, D n/a 7, A n/a 8", "c n/a 5, |, u n/a 6, d n/a 7, c n/a 8"},
		{"restarted, nothing new", "A n/a 5, A n/b 3, M n/b 6, A n/a 5, A n/b 6, M n/a 7", "c n/b 3, c n/a 5, |, u n/b 6, u n/a 7"},
		{"restarted at once", "A n/a 5, A n/b 3, A n/a 5, A n/b 3, A n/c 6", "c n/b 3, c n/a 5, |, c n/c 6"},
		{"restarted at once, new objects first", "A n/c 5, A n/d 6, A n/a 8, A n/b 7, A n/c 5, A n/d 6, M n/c 9", "c n/c 5, c n/d 6, |, c n/b 7, c n/a 8, u n/c 9"},
		{"restarted, changes in a gap", "A n/b 5, M n/b 6, A n/a 9, A n/b 6, A n/c 8, M n/c 10", "c n/b 5, |, u n/b 6, c n/c 8, c n/a 9, u n/c 10"},
		{"restarted, update in a gap", "A n/a 4, A n/b 5, M n/b 6, A n/a 4, A n/b 8, M n/b 9", "c n/a 4, c n/b 5, |, u n/b 6, u n/b 8, u n/b 9"},
		{"restarted, deletions in a gap", "A n/a 4, A n/b 5, A n/c 6, M n/b 7, A n/b 7, A n/d 8, M n/b 11", "c n/a 4, c n/b 5, c n/c 6, |, u n/b 7, c n/d 8, d n/a 9?, d n/c 10?, u n/b 11"},
		{"recreated in a gap", "A n/a 4, A n/b 5, M n/a 6, A n/a 6, A n/b 8 new, M n/a 9", "c n/a 4, c n/b 5, |, u n/a 6, d n/b 7?, c n/b 8, u n/a 9"},
		{"deleted in a gap right after it was created", "A n/a 1, M n/a 2, A n/b 3, A n/a 2, A n/c 6", "c n/a 1, |, u n/a 2, c n/b 3, d n/b 4?, c n/c 6"},
		{"restarted, list not in key order", "A n/a 1, A n/b 2, A n/c 3, M n/a 4, A n/b 2, A n/d 9, A n/a 4, A n/e 8, A n/c 3", "c n/a 1, c n/b 2, c n/c 3, |, u n/a 4, c n/e 8, c n/d 9"},
		{"restarted twice", "A n/a 1, A n/b 2, M n/a 3, A n/a 3, A n/b 2, A n/a 3, M n/a 6", "c n/a 1, c n/b 2, |, u n/a 3, d n/b 4?, u n/a 6"},
		{"no revision is free", "A n/a 4, M n/a 5 new, M n/a 6", "c n/a 4, |, u n/a 5, u n/a 6"},
		{"recreated unseen", "A n/a 4, M n/a 6 new", "c n/a 4, |, d n/a 5?, c n/a 6"},
		{"error", "A n/a 4, M n/a 6, E, M n/a 5", "c n/a 4, |, u n/a 6"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := importString(t, WatchEvents, renderEvents(t, tt.events), Options{})
			if got := renderCommands(r); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			fold(t, scriptSteps(t, r.File))
			if strings.Contains(tt.want, "?") != strings.Contains(strings.Join(r.Warnings, " "), "guessed") {
				t.Errorf("warnings %q", r.Warnings)
			}
		})
	}
	if got, want := renderCommands(importString(t, WatchEvents, renderEvents(t, "A n/a 5, A n/b 6"), Options{WatchOnly: true})), "|, c n/a 5, c n/b 6"; got != want {
		t.Errorf("a recording without list: got %s, want %s", got, want)
	}
}

func renderEvents(t *testing.T, events string) string {
	var b strings.Builder
	for e := range strings.SplitSeq(events, ", ") {
		f := strings.Fields(e)
		var rv int64
		fmt.Sscan(f[len(f)-1], &rv)
		switch f[0] {
		case "B":
			fmt.Fprintf(&b, `{"type":"BOOKMARK","object":{"apiVersion":"probe.dev/v1","kind":"Widget","metadata":{"resourceVersion":"%d"}}}`, rv)
		case "END":
			fmt.Fprintf(&b, `{"type":"BOOKMARK","object":{"apiVersion":"probe.dev/v1","kind":"Widget","metadata":{"resourceVersion":"%d","annotations":{"k8s.io/initial-events-end":"true"}}}}`, rv)
		case "E":
			b.WriteString(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","message":"too old resource version","reason":"Expired","code":410}}`)
		default:
			fmt.Sscan(f[2], &rv)
			types := map[string]string{"A": "ADDED", "M": "MODIFIED", "D": "DELETED"}
			b.WriteString(event(types[f[0]], widget(f[1], rv, f[3:]...)))
		}
	}
	return b.String()
}

func renderCommands(r *Result) string {
	var parts []string
	guess := ""
	for _, n := range r.File.Nodes {
		switch n := n.(type) {
		case *script.Comment:
			guess = ""
			if strings.Contains(n.Text, "Deleted unseen") {
				guess = "?"
			}
		case *script.Command:
			switch {
			case n.Payload != nil:
				parts = append(parts, n.Name[:1]+" "+n.Args[1].Value+" "+n.Args[2].Value+guess)
			case n.Name == "informer":
				parts = append(parts, "|")
			}
			guess = ""
		}
	}
	return strings.TrimSuffix(strings.Join(parts, ", "), ", |")
}

func TestGuessedDeletionHasItsRevision(t *testing.T) {
	r := importString(t, WatchEvents, renderEvents(t, "A n/a 4, A n/b 5, M n/a 6, A n/a 6, M n/a 8"), Options{})
	for _, s := range scriptSteps(t, r.File) {
		if s.verb == "delete" && (s.rv != 7 || s.object != strings.Replace(widget("n/b", 5), `"resourceVersion":"5"`, `"resourceVersion":"7"`, 1)) {
			t.Errorf("got %+v", s)
		}
	}
	want := []string{
		"The recording has gaps: the revisions and last states of 1 deletion are guessed and marked below.",
		"The recording of widgets was restarted 1 time; changes in between are replayed as its lists show them.",
	}
	if !slices.Equal(r.Warnings, want) {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestErrorEventEndsTheRecording(t *testing.T) {
	r := importString(t, WatchEvents, renderEvents(t, "A n/a 4, E, M n/a 5"), Options{})
	want := []string{
		`The recording ends with an ERROR event at document 2: code 410, reason "Expired", message "too old resource version".`,
		"Everything after the ERROR event, from 2:129 on, is not imported.",
	}
	if !slices.Equal(r.Warnings, want) {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// cluster is a model of a recorded cluster.
type cluster struct {
	rv      int64
	objects map[string]string
	uids    map[string]string
	rvs     map[string]int64
}

// write makes one change and returns it as a step and as a watch event.
func (c *cluster) write(t *rapid.T) (step, string) {
	c.rv += rapid.Int64Range(1, 3).Draw(t, "revisions") // other kinds take revisions too
	key := rapid.SampledFrom([]string{"n/a", "n/b", "n/c", "n-1/a", "n-1/d"}).Draw(t, "key")
	if _, exists := c.objects[key]; !exists {
		c.uids[key] = fmt.Sprint(key, c.rv)
		c.objects[key], c.rvs[key] = widget(key, c.rv, c.uids[key]), c.rv
		return step{"create", "widgets " + key, c.rv, c.objects[key]}, event("ADDED", c.objects[key])
	}
	o := widget(key, c.rv, c.uids[key])
	if rapid.Bool().Draw(t, "delete") {
		delete(c.objects, key)
		return step{"delete", "widgets " + key, c.rv, o}, event("DELETED", o)
	}
	c.objects[key], c.rvs[key] = o, c.rv
	return step{"update", "widgets " + key, c.rv, o}, event("MODIFIED", o)
}

func (c *cluster) list() string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(c.objects)) {
		b.WriteString(event("ADDED", c.objects[key]))
	}
	return b.String()
}

func (c *cluster) bookmark(wanted bool) string {
	if !wanted {
		return ""
	}
	return fmt.Sprintf(`{"type":"BOOKMARK","object":{"apiVersion":"probe.dev/v1","kind":"Widget","metadata":{"resourceVersion":"%d"}}}`, c.rv)
}

// TestImportOfARecordedCluster records a model cluster, restarting the recording now and then. If nothing was written in the
// gaps, the script is the history. Otherwise, if bookmarks delimit the list, it leads to the same objects.
func TestImportOfARecordedCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &cluster{objects: map[string]string{}, uids: map[string]string{}, rvs: map[string]int64{}}
		for range rapid.IntRange(0, 8).Draw(t, "writes before") {
			c.write(t)
		}
		recording := c.list()
		var history []step
		for key, o := range c.objects {
			history = append(history, step{"create", "widgets " + key, c.rvs[key], o})
		}
		slices.SortFunc(history, func(a, b step) int { return int(a.rv - b.rv) })
		unseen := false
		bookmarks := rapid.Bool().Draw(t, "bookmarks")
		for range rapid.IntRange(0, 20).Draw(t, "writes") {
			if len(c.objects) > 0 && rapid.IntRange(0, 4).Draw(t, "start again") == 0 {
				recording += c.bookmark(bookmarks)
				// One unchanged object shows that the recording was restarted: see the package comment.
				marker := slices.Sorted(maps.Keys(c.objects))[0]
				before := c.objects[marker]
				for range rapid.IntRange(0, 3).Draw(t, "unseen writes") {
					unseen = true
					c.write(t)
				}
				if c.objects[marker] != before {
					t.Skip("the marker object was written")
				}
				recording += c.list() + c.bookmark(bookmarks)
			}
			s, e := c.write(t)
			history = append(history, s)
			recording += e
		}
		if len(history) == 0 {
			t.Skip("nothing was recorded")
		}
		r, err := Import(strings.NewReader(recording), Options{Format: WatchEvents, Name: "r"})
		if err != nil {
			t.Fatalf("%v\nin\n%s", err, recording)
		}
		got := scriptSteps(t, r.File)
		if !unseen && !slices.Equal(got, history) {
			t.Fatalf("got\n%v\nwant\n%v\nof\n%s", got, history, recording)
		}
		want := map[string]string{}
		for key, o := range c.objects {
			want["widgets "+key] = o
		}
		if final := fold(t, got); (bookmarks || !unseen) && !maps.Equal(final, want) {
			t.Fatalf("got\n%v\nwant\n%v\nof\n%s", final, want, recording)
		}
	})
}
