package library

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"time"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// detects is client-go's switch of the mutation detector. It is set from the environment when a process starts, which is too early for a check of both.
//
//go:linkname detects k8s.io/client-go/tools/cache.mutationDetectionEnabled
var detects bool

// withDetector makes something while the mutation detector is on.
func withDetector[T any](make func() T) T {
	defer func(before bool) { detects = before }(detects)
	detects = true
	return quietly(make)
}

// comparer is a detector that can be told to compare at once.
type comparer interface {
	cache.MutationDetector
	CompareObjects()
}

// altered reports whether a call of a detector finds that an object was changed. It then prints the object, and panics.
func (c *check) altered(call func()) (found bool) {
	defer func(stdout *os.File) { os.Stdout = stdout }(os.Stdout)
	os.Stdout = nil // what is printed to no file is lost
	c.returns("a round of a mutation detector", func() {
		defer func() { found = recover() != nil }()
		call()
	})
	return found
}

// field returns a field of what a constructor has made, which nobody else can set.
func field[T any](of any, name string) *T {
	v := reflect.ValueOf(of)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil
	}
	f := v.Elem().FieldByName(name)
	if !f.IsValid() || f.Type() != reflect.TypeFor[T]() {
		return nil
	}
	return (*T)(unsafe.Pointer(f.UnsafeAddr()))
}

// detectors find a change of an object that was handed to them, as long as they keep it: until it has been retained for a while, and that has been
// replaced by what came later.
func detectors(c *check) {
	off := cache.NewCacheMutationDetector("off")
	_, compares := off.(comparer)
	c.is("whether a mutation detector compares that was not switched on", false, compares)
	made := withDetector(func() cache.MutationDetector { return cache.NewCacheMutationDetector("on") })
	on, compares := made.(comparer)
	c.is("whether a mutation detector compares that was switched on", true, compares)
	if !compares {
		return
	}
	over := make(chan struct{})
	close(over)
	round := func() { on.Run(over) } // one round, since it is over when it looks
	retain := field[time.Duration](on, "retainDuration")
	if retain != nil {
		c.is("for how long a mutation detector looks at an object", 2*time.Minute, *retain)
	}
	obj, other := object("ns1/a", 1), object("ns1/b", 2)
	on.AddObject(cache.DeletedFinalStateUnknown{Key: "ns1/a", Obj: obj})
	on.AddObject("no object")
	on.AddObject(obj)
	rounds := 1 + c.IntN(2)
	for range rounds {
		c.is("whether a mutation detector finds a change of what nobody has changed", false, c.altered(round))
	}
	if retain != nil && c.IntN(2) == 0 {
		before := *retain
		*retain = -1 // what was compared before is retained
		fresh := object("ns2/a", 3)
		on.AddObject(fresh)
		c.is("whether a mutation detector finds a change of what it retains, and nobody has changed", false, c.altered(round))
		*retain = before
		fresh.Labels = map[string]string{"changed": "yes"}
		c.is("whether a mutation detector finds the change of what came when it began to retain the others", true, c.altered(on.CompareObjects))
		fresh.Labels = nil
	}
	on.AddObject(other)
	changed := []*metav1.PartialObjectMetadata{obj, other}[c.IntN(2)]
	changed.Labels = map[string]string{"changed": "yes"}
	call, f := "CompareObjects", on.CompareObjects
	if c.IntN(2) == 0 {
		call, f = "Run", round
	}
	c.is(fmt.Sprintf("whether %s of a mutation detector finds the change of %s after %d rounds", call, text(changed), rounds), true, c.altered(f))
	c.is("whether it finds the same change again", true, c.altered(on.CompareObjects))
	changed.Labels = nil
	c.is("whether it finds a change that was taken back", false, c.altered(on.CompareObjects))
	if retain == nil {
		return
	}
	*retain = -1
	for range 3 { // the first may be the first of all, which forgets nothing
		c.altered(round)
	}
	changed.Labels = map[string]string{"changed": "late"}
	c.is("whether a mutation detector finds a change of what it retains no more", false, c.altered(on.CompareObjects))
	c.rotates()
	c.informs()
}

// rotates has a mutation detector retain what it has seen as soon as that is due, and not before, and forget it when it retains what came later. It looks
// at no object of a tombstone.
func (c *check) rotates() {
	on, compares := withDetector(func() cache.MutationDetector { return cache.NewCacheMutationDetector("on") }).(comparer)
	if !compares {
		return
	}
	since := field[time.Time](on, "lastRotated")
	if since == nil {
		return
	}
	over := make(chan struct{})
	close(over)
	obj, buried := object("ns1/a", 1), object("ns1/b", 1)
	on.AddObject(obj)
	on.AddObject(cache.DeletedFinalStateUnknown{Key: "ns1/b", Obj: buried})
	buried.Labels = map[string]string{"changed": "yes"}
	for _, rotation := range []struct {
		after time.Duration
		holds bool
	}{{2 * time.Minute, true}, {2*time.Minute + 1, true}, {2 * time.Minute, true}, {2*time.Minute + 1, false}} {
		*since = time.Now().Add(-rotation.after)
		c.is("whether a mutation detector finds a change of what nobody has changed, or of an object in a tombstone", false, c.altered(func() { on.Run(over) }))
		ago := rotation.after
		if ago > 2*time.Minute {
			ago = 0
		}
		c.is(fmt.Sprintf("how long ago a mutation detector last retained something that looks %v after it did", rotation.after), ago, time.Since(*since))
		obj.Labels = map[string]string{"changed": "yes"}
		c.is(fmt.Sprintf("whether a mutation detector finds a change %v after it last retained something", rotation.after), rotation.holds, c.altered(on.CompareObjects))
		obj.Labels = nil
	}
}

// informs runs an informer with a mutation detector, which has to be handed each object that goes to the store.
func (c *check) informs() {
	from := newSource(object("ns1/a", 1), object("ns1/b", 2))
	inf := withDetector(func() cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(from, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	})
	ctx, cancel := context.WithCancel(context.Background())
	go inf.RunWithContext(ctx)
	c.quiesce()
	from.watch.Modify(object("ns1/b", 6))
	from.watch.Add(object("c", 7))
	c.quiesce()
	held := field[cache.MutationDetector](inf, "cacheMutationDetector")
	if held == nil {
		cancel()
		return
	}
	on, compares := (*held).(comparer)
	c.is("whether the mutation detector of an informer was switched on", true, compares)
	if since := field[time.Time](*held, "lastRotated"); since != nil {
		c.is("whether the mutation detector of an informer runs", true, !since.IsZero())
	}
	for _, key := range []string{"ns1/a", "ns1/b", "c"} {
		obj, exists, err := inf.GetStore().GetByKey(key)
		c.no("GetByKey", err)
		o, ok := obj.(*metav1.PartialObjectMetadata)
		if !exists || !ok || !compares {
			continue
		}
		o.Labels = map[string]string{"changed": "yes"}
		c.is("whether the mutation detector of an informer finds the change of "+text(o), true, c.altered(on.CompareObjects))
		o.Labels = nil
	}
	cancel()
	c.quiesce()
}
