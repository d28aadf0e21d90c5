package recording

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// change is a future command of the script.
type change struct {
	verb   string // create, update or delete
	object *object
	rv     int64 // 0 for a guessed deletion without one yet
	kind   *history

	initial bool // part of the state before the first change

	// A deletion that was not seen: its revision was above after.
	guessed bool
	after   int64
}

// history is the recorded history of one kind.
type history struct {
	gvk        schema.GroupVersionKind
	namespaced bool
	plural     string // of the resource
	short      string // its name in commands: the plural, with the group if that alone is ambiguous
	informer   string

	initial []*change
	changes []*change

	known   map[string]*object // existing objects, as last seen
	deleted map[string]int64   // deleted objects, with the revision of the last deletion
	last    int64              // the highest revision seen
	run     []*object          // ADDED events not yet interpreted
	listed  bool               // the initial state is complete
	bytes   *int64             // size of the objects of all kinds

	neverSeen int // deletions of objects that were never seen
	relists   int // restarts of the recording, seen from their lists
}

func newHistory(gvk schema.GroupVersionKind, watchOnly bool, bytes *int64) *history {
	return &history{gvk: gvk, listed: watchOnly, bytes: bytes, known: map[string]*object{}, deleted: map[string]int64{}}
}

// drop discards an object that is already known.
func (h *history) drop(o *object) { *h.bytes -= int64(len(o.raw)) }

// added handles an ADDED event. Later events show whether it is part of a list.
func (h *history) added(o *object) { h.run = append(h.run, o) }

// modified handles a MODIFIED event.
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

// removed handles a DELETED event, whose revision is that of the deletion (S18).
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

// endRun interprets the run of ADDED events that ends here. listEnd means that a streaming list ended.
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

// initialLength returns the number of leading ADDED events that are the initial list; see the package comment.
func initialLength(run []*object, listEnd bool) int {
	seen := make(map[string]bool, len(run))
	for i, o := range run {
		if seen[o.key] {
			// The recording was restarted: the new list begins at this object, or before it with new objects.
			for i > 0 && run[i-1].key < run[i].key {
				i--
			}
			run = run[:i]
			break
		}
		seen[o.key] = true
	}
	if listEnd {
		return len(run)
	}
	n := ascending(run)
	var highest int64
	for i, o := range run {
		if o.rv < highest {
			n = max(n, i+1)
		}
		highest = max(highest, o.rv)
	}
	return n
}

// list records the initial state.
func (h *history) list(objects []*object) {
	for _, o := range sortedByRevision(objects) {
		h.initial = append(h.initial, &change{verb: "create", object: o, rv: o.rv, kind: h, initial: true})
		h.known[o.key] = o
		h.last = max(h.last, o.rv)
	}
}

// addRun handles ADDED events after the initial state: single ones, lists of a restarted recording, or both.
func (h *history) addRun(run []*object) error {
	for len(run) > 0 {
		n := h.groupLength(run)
		if err := h.addGroup(run[:n]); err != nil {
			return err
		}
		run = run[n:]
	}
	return nil
}

// ascending returns the length of the longest prefix of a run with ascending keys, as in a list (S6).
func ascending(run []*object) int {
	n := 0
	for n < len(run) && (n == 0 || run[n-1].key < run[n].key) {
		n++
	}
	return n
}

// groupLength returns the length of the prefix of a run that is one list, or single events before one. It is the ascending
// prefix, extended by objects that must belong to the same list although they do not ascend, because they repeat objects
// that the list lacks so far or because their revisions go back.
func (h *history) groupLength(run []*object) int {
	keys := map[string]bool{}
	isList, highest, n := false, int64(0), 0
	for next := run[:ascending(run)]; len(next) > 0; next = run[n : n+ascending(run[n:])] {
		belongs := n == 0
		for _, o := range next {
			if keys[o.key] {
				return n
			}
			repeats := h.repeats(o)
			belongs = belongs || repeats && isList || !repeats && o.rv <= highest
		}
		if !belongs {
			return n
		}
		for _, o := range next {
			keys[o.key] = true
			if h.repeats(o) {
				isList = true
			} else {
				highest = max(highest, o.rv)
			}
		}
		n += len(next)
	}
	return n
}

// repeats reports whether an object is known at the same revision.
func (h *history) repeats(o *object) bool {
	known := h.known[o.key]
	return known != nil && known.rv == o.rv
}

// addGroup handles one list, or single events.
func (h *history) addGroup(group []*object) error {
	before, isList := h.last, false
	listed := make(map[string]bool, len(group))
	var news []*object
	for _, o := range group {
		listed[o.key] = true
		if h.repeats(o) {
			isList = true
			h.drop(o)
			continue
		}
		if o.rv <= before {
			return h.goesBack(o)
		}
		news = append(news, o)
	}
	if isList {
		h.relists++
		var missing []*object
		for key, o := range h.known { // order: sorted by revision below
			if !listed[key] {
				missing = append(missing, o)
			}
		}
		for _, o := range sortedByRevision(missing) {
			h.guessDeletion(o, before)
		}
	}
	for _, o := range sortedByRevision(news) {
		h.put(o, before)
	}
	return nil
}

// put records a new version of an object, whose revision is above all earlier ones. If it shows that a deletion was missed,
// that deletion's revision was above after.
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

// guessDeletion records an unseen deletion of an object at a revision above after.
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
