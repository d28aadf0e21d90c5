package dropin

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"
)

// sortedKnown lists its keys in order, so that both queues iterate alike.
type sortedKnown struct{ Store }

func (k sortedKnown) ListKeys() []string {
	keys := k.Store.ListKeys()
	slices.Sort(keys)
	return keys
}

// side is a queue with the store that its consumer fills.
type side struct {
	queue Queue
	known Store
	lines []string // a record of every pop
}

func (s *side) note(deltas []Delta, initial bool, how string) {
	line := fmt.Sprintf("%s initial=%v synced=%v", how, initial, IsDone(s.queue.HasSyncedChecker()))
	for _, d := range deltas {
		line += " " + describeDelta(d)
		s.apply(d)
	}
	s.lines = append(s.lines, line)
}

func describeDelta(d Delta) string {
	describe := func(obj any) string {
		switch obj := obj.(type) {
		case *v1.Pod:
			return obj.Name + "@" + obj.ResourceVersion + obj.Labels["values"]
		case DeletedFinalStateUnknown:
			if pod, ok := obj.Obj.(*v1.Pod); ok {
				return "tombstone " + obj.Key + " " + pod.ResourceVersion
			}
			return fmt.Sprintf("tombstone %s %T", obj.Key, obj.Obj)
		}
		return fmt.Sprint(obj)
	}
	if info, ok := d.Object.(ReplacedAllInfo); ok {
		text := "ReplacedAll@" + info.ResourceVersion
		for _, obj := range info.Objects {
			text += " " + describe(obj)
		}
		return text
	}
	return string(d.Type) + " " + describe(d.Object)
}

func (s *side) apply(d Delta) {
	switch d.Type {
	case Deleted:
		_ = s.known.Delete(d.Object)
	case ReplacedAll:
		_ = s.known.Replace(d.Object.(ReplacedAllInfo).Objects, "")
	case SyncAll, Bookmark:
	default:
		_ = s.known.Add(d.Object)
	}
}

var errProcessing = errors.New("processing failed")

// pop pops one entry. The queue must not be empty and open.
func (s *side) pop(fail bool) {
	var err error
	if fail {
		err = errProcessing
	}
	popped, got := s.queue.Pop(func(obj any, initial bool) error {
		s.note(obj.(Deltas), initial, "pop")
		return err
	})
	s.lines = append(s.lines, fmt.Sprintf("popped %d: %v", lenOf(popped), got))
}

func lenOf(popped any) int {
	deltas, _ := popped.(Deltas)
	return len(deltas)
}

func (s *side) popBatch() {
	err := s.queue.(QueueWithBatch).PopBatch(
		func(deltas []Delta, initial bool) error { s.note(deltas, initial, "batch"); return nil },
		func(obj any, initial bool) error { s.note(obj.(Deltas), initial, "single"); return nil })
	s.lines = append(s.lines, fmt.Sprint("batch: ", err))
}

// queueKind is one kind of queue, in client-go's implementation and ours.
type queueKind struct {
	name   string
	theirs func(known Store, transform TransformFunc) Queue
	ours   func(known Store, transform TransformFunc) Queue
	len    func(ours Queue) int
	// unordered is set if client-go queues a Replace's deletions in map order.
	unordered bool
}

func realOptions(atomic bool, known Store, transform TransformFunc) RealFIFOOptions {
	o := RealFIFOOptions{KeyFunction: keyOrError, Transformer: transform}
	if atomic {
		o.AtomicEvents, o.EmitDeltaTypeBookmark, o.UnlockWhileProcessing = true, true, true
	} else {
		o.KnownObjects = sortedKnown{known}
	}
	return o
}

func realKind(name string, atomic bool) queueKind {
	return queueKind{
		name:   name,
		theirs: func(k Store, t TransformFunc) Queue { return cache.NewRealFIFOWithOptions(realOptions(atomic, k, t)) },
		ours:   func(k Store, t TransformFunc) Queue { return NewRealFIFOWithOptions(realOptions(atomic, k, t)) },
		len:    func(q Queue) int { return q.(*RealFIFO).queue.Len() },
	}
}

func deltaKind(name string, replaced bool) queueKind {
	options := func(known Store, transform TransformFunc) DeltaFIFOOptions {
		return DeltaFIFOOptions{
			KeyFunction: keyOrError, KnownObjects: sortedKnown{known}, Transformer: transform, EmitDeltaTypeReplaced: replaced,
		}
	}
	return queueKind{
		name:      name,
		theirs:    func(k Store, t TransformFunc) Queue { return cache.NewDeltaFIFOWithOptions(options(k, t)) },
		ours:      func(k Store, t TransformFunc) Queue { return NewDeltaFIFOWithOptions(options(k, t)) },
		len:       func(q Queue) int { return q.(*DeltaFIFO).queue.Len() },
		unordered: true,
	}
}

// TestDifferentialQueues gives client-go's queues and ours the same operations and compares every answer (I40 to I61).
func TestDifferentialQueues(t *testing.T) {
	for _, kind := range []queueKind{
		realKind("inorder", false), realKind("atomic", true), deltaKind("delta", true), deltaKind("deltaSync", false),
	} {
		t.Run(kind.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) { compareQueues(rt, kind) })
		})
	}
}

func compareQueues(rt *rapid.T, kind queueKind) {
	var transform TransformFunc
	if rapid.Bool().Draw(rt, "transform") {
		transform = func(obj any) (any, error) {
			pod := obj.(*v1.Pod)
			if pod.ResourceVersion == "8" {
				return nil, errors.New("not this one")
			}
			pod = pod.DeepCopy()
			pod.Labels["values"] += "+"
			return pod, nil
		}
	}
	theirs := &side{known: cache.NewStore(keyOrError)}
	ours := &side{known: cache.NewStore(keyOrError)}
	theirs.queue, ours.queue = kind.theirs(theirs.known, transform), kind.ours(ours.known, transform)
	both := func(run func(s *side)) {
		run(theirs)
		run(ours)
	}
	kinds := []string{"add", "update", "delete", "tombstone", "replace", "resync", "bookmark", "pop", "pop", "pop", "popFail", "batch", "batch", "close"}
	for range rapid.IntRange(1, 40).Draw(rt, "n") {
		op := rapid.SampledFrom(kinds).Draw(rt, "op")
		pods := rapid.SliceOfN(podGen, 0, 4).Draw(rt, "pods")
		pod := podGen.Draw(rt, "pod")
		both(func(s *side) {
			s.run(op, pod, pods, kind.len(ours.queue) > 0 || ours.queue.(interface{ IsClosed() bool }).IsClosed())
		})
		if op == "replace" && kind.unordered {
			drainQueues(kind, theirs, ours)
		}
		compareSides(rt, op, theirs, ours)
	}
	both(func(s *side) { s.queue.Close() })
	drainQueues(kind, theirs, ours)
	both(func(s *side) { s.pop(false) }) // finds the queue closed and empty (I42)
	compareSides(rt, "drain", theirs, ours)
}

func (s *side) run(op string, pod *v1.Pod, pods []*v1.Pod, mayPop bool) {
	var err error
	switch op {
	case "add":
		err = s.queue.Add(pod)
	case "update":
		err = s.queue.Update(pod)
	case "delete":
		err = s.queue.Delete(pod)
	case "tombstone":
		err = s.queue.Delete(DeletedFinalStateUnknown{Key: pod.Namespace + "/" + pod.Name, Obj: pod})
	case "replace":
		list := make([]any, len(pods))
		for i := range pods {
			list[i] = pods[i]
		}
		err = s.queue.Replace(list, "rv")
	case "resync":
		err = s.queue.Resync()
	case "bookmark":
		if b, ok := s.queue.(ReflectorBookmarkStore); ok {
			err = b.Bookmark("rv")
		}
	case "close":
		if pod.ResourceVersion == "1" { // rarely
			s.queue.Close()
		}
	case "pop", "popFail":
		if mayPop {
			s.pop(op == "popFail")
		}
	case "batch":
		if _, ok := s.queue.(QueueWithBatch); ok && mayPop {
			s.popBatch()
		}
	}
	s.lines = append(s.lines, fmt.Sprintf("%s: error %v synced=%v,%v", op, err != nil, s.queue.HasSynced(), IsDone(s.queue.HasSyncedChecker())))
}

// drainQueues pops everything; where keys have no order, the results are compared sorted.
func drainQueues(kind queueKind, theirs, ours *side) {
	n := kind.len(ours.queue)
	for _, s := range []*side{theirs, ours} {
		from := len(s.lines)
		for range n {
			s.pop(false)
		}
		if kind.unordered {
			slices.Sort(s.lines[from:])
		}
	}
}

func compareSides(rt *rapid.T, op string, theirs, ours *side) {
	for i := range min(len(theirs.lines), len(ours.lines)) {
		if theirs.lines[i] != ours.lines[i] {
			rt.Fatalf("%s: client-go %s\nours      %s", op, theirs.lines[i], ours.lines[i])
		}
	}
	if len(theirs.lines) != len(ours.lines) {
		rt.Fatalf("%s: client-go has %d lines, ours %d", op, len(theirs.lines), len(ours.lines))
	}
	theirs.lines, ours.lines = theirs.lines[:0], ours.lines[:0]
}
