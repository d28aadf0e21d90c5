package library

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/subjects"
)

// checks are those of all parts.
var checks = [Parts]struct {
	part string
	run  func(*check)
}{
	{"ExpirationCache", expirationCache},
	{"UndeltaStore", undeltaStore},
	{"MutationCache", mutationCache},
	{"Heap", heaps},
	{"FIFO", fifos},
	{"AsyncTracker and Lazy", trackers},
	{"RetryWithDeadline", retries},
	{"the work queue's limiters", limiters},
	{"names and keys", names},
	{"NewStore and its typed readers", stores},
	{"ParallelizeUntil", parallel},
	{"the work queue", drains},
	{"NewInformer", plainInformers},
	{"a handler that is added late", lateHandlers},
	{"a handler that is busy", busyHandlers},
	{"a handler that has to wait for the store", waitingHandlers},
	{"RealFIFO", inOrderQueues},
	{"ThreadSafeStore", transactions},
	{"the work queue's waiters", waiters},
	{"the registration of an informer that has not started", registrations},
	{"the delaying queue", delayingQueues},
	{"who waits for caches", syncs},
	{"the names of informers", informerNames},
	{"a ListWatch, and its client", listWatches},
	{"NewReflector", reflectors},
	{"a controller with a function of its own", controllers},
	{"a queue that is processing an object", busyQueues},
	{"the store's transactions and indexers", batches},
	{"the metrics of a work queue", queueMetrics},
	{"the metrics of an informer", informerMetrics},
	{"a pager", pages},
	{"the mutation detector", detectors},
	{"a reflector that streams its lists", streams},
	{"a reflector with which not all goes well", troubled},
	{"what checks streaming lists", consistency},
	{"an informer that cannot list or watch", failing},
	{"the tools of watches", watchTools},
	{"an informer of what has no key", keyless},
	{"memory", memory},
}

// Parts is how many there are: so many turns in a row are about each of them once.
const Parts = 39

// check is one round of calls of a part.
type check struct {
	*rand.Rand
	minor int // the release of client-go
	part  string
	// quiesce waits until all goroutines of the bubble rest.
	quiesce func()
	wrong   []subjects.Outcome
	exempt  []subjects.Outcome // what upstream is known to do
	right   subjects.History
}

// Part names the part that a turn is about.
func Part(turn uint64) string { return checks[turn%Parts].part }

// Check makes the round of calls that has the number turn, and returns what was not as the model of a minor release says, such as 37. It is called inside a bubble,
// whose quiesce it is given.
func Check(turn uint64, minor int, quiesce func()) []subjects.Outcome {
	c := &check{Rand: rand.New(rand.NewPCG(turn, 0)), minor: minor, part: Part(turn), quiesce: quiesce}
	func() {
		defer func() {
			if r := recover(); r != nil {
				c.is("a call of the round", "returns", fmt.Sprintf("panics: %v, in %s", r, subjects.Panicking()[0]))
			}
		}()
		checks[turn%Parts].run(c)
	}()
	return append(c.wrong, c.exempt...)
}

// is notes what came of a call if that is not what the model says. Only the first is kept: what follows it may follow from it.
func (c *check) is(call string, want, got any) {
	switch {
	case len(c.wrong) > 0:
	case reflect.DeepEqual(want, got):
		c.right.Add(call, got)
	default:
		c.wrong = append(c.wrong, subjects.Outcome{Call: c.part + ": " + call, Want: fmt.Sprint(want), Got: fmt.Sprint(got), Before: c.right.Texts()})
	}
}

// except notes what came of a call under the bug that upstream is known to have there, if it is not what the model says. What follows is looked at
// all the same.
func (c *check) except(bug, call string, want, got any) {
	if len(c.wrong) > 0 || reflect.DeepEqual(want, got) {
		return
	}
	c.exempt = append(c.exempt, subjects.Outcome{
		Call: c.part + ": " + call, Want: fmt.Sprint(want), Got: fmt.Sprint(got), Exempt: bug, Before: c.right.Texts(),
	})
}

// no notes an error.
func (c *check) no(call string, err error) { c.is(call, "", message(err)) }

// refused notes that there was no error.
func (c *check) refused(call string, err error) { c.is(call+" has an error", true, err != nil) }

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// running runs something that is to be stopped. It has ended once the channel is closed.
func running(run func(context.Context)) (stop context.CancelFunc, ended <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		run(ctx)
	}()
	return cancel, over
}

// waits reports whether f has not returned once all goroutines rest, and after then, too.
func (c *check) waits(f, then func()) (before, after bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	running := func() bool {
		c.quiesce()
		select {
		case <-done:
			return false
		default:
			return true
		}
	}
	before = running()
	then()
	return before, running()
}

// comes waits for what has to happen by itself. No time passes while anything can, so that a moment is enough to tell that it does not.
func (c *check) comes(what string, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-time.After(time.Nanosecond):
		c.is(what, "it comes", "it does not")
		return false
	}
}

// returns makes a call that a defect may keep from returning, and reports whether it has. A panic of the call is the caller's.
func (c *check) returns(call string, f func()) bool {
	done, broken := make(chan struct{}), any(nil)
	go func() {
		defer close(done)
		defer func() { broken = recover() }()
		f()
	}()
	if !c.comes("the end of "+call, done) {
		return false
	}
	if broken != nil {
		panic(broken)
	}
	return true
}

// keys are those of the objects that checks are about.
var keys = []string{"ns1/a", "ns1/b", "ns2/a", "c"}

// object is one, at a revision.
func object(key string, revision int) *metav1.PartialObjectMetadata {
	namespace, name := split(key)
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: fmt.Sprint(revision)}}
}

// split is the model of how keys are made.
func split(key string) (namespace, name string) {
	for n := range key {
		if key[n] == '/' {
			return key[:n], key[n+1:]
		}
	}
	return "", key
}

// any of the keys.
func (c *check) key() string { return keys[c.IntN(len(keys))] }

// texts describes objects by their keys and revisions, sorted.
func texts[T any](objs []T) []string {
	all := make([]string, len(objs))
	for n, obj := range objs {
		all[n] = text(any(obj))
	}
	slices.Sort(all)
	return all
}

// text describes an object by its key and revision.
func text(obj any) string {
	o, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok || o == nil {
		return fmt.Sprintf("%T", obj)
	}
	if o.Namespace == "" {
		return o.Name + "@" + o.ResourceVersion
	}
	return o.Namespace + "/" + o.Name + "@" + o.ResourceVersion
}

// model is what a store should hold.
type model map[string]*metav1.PartialObjectMetadata

func (m model) objects() []*metav1.PartialObjectMetadata {
	var all []*metav1.PartialObjectMetadata
	for _, key := range keys {
		if obj := m[key]; obj != nil {
			all = append(all, obj)
		}
	}
	return all
}

func (m model) texts() []string { return texts(m.objects()) }

func (m model) keys() []string {
	all := []string{}
	for _, key := range keys {
		if m[key] != nil {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all
}

// inside compares a period with a field of what a call has made, where it has that. It takes time until a period shows, and none passes here.
func (c *check) inside(what string, want time.Duration, of any, fields ...string) {
	v := held(reflect.ValueOf(of))
	for _, name := range fields {
		if v.Kind() == reflect.Struct {
			v = held(v.FieldByName(name))
		}
	}
	if v.IsValid() && v.Kind() == reflect.Int64 {
		c.is(what, want, time.Duration(v.Int()))
	}
}

// held returns what a pointer points to, or an interface holds.
func held(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// byName goes through a map in the order of its keys: which of two things is wrong first must not depend on anything else.
func byName[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}
