package library

import (
	"context"

	"k8s.io/client-go/tools/cache"
)

// mark is a part that has synced once its channel is closed.
type mark chan struct{}

// Name implements cache.DoneChecker.
func (mark) Name() string { return "mark" }

// Done implements cache.DoneChecker.
func (m mark) Done() <-chan struct{} { return m }

// syncs wait for several caches, of which some have synced, and are stopped.
func syncs(c *check) {
	var marks []cache.DoneChecker
	var funcs []cache.InformerSynced
	all := true
	for range 1 + c.IntN(5) {
		m, synced := make(mark), c.IntN(3) > 0
		if synced {
			close(m)
		}
		c.is("IsDone", synced, cache.IsDone(m))
		all = all && synced
		marks = append(marks, m)
		funcs = append(funcs, func() bool { return synced })
	}
	ctx, cancel := context.WithCancel(context.Background())
	for _, call := range []struct {
		name string
		f    func() bool
	}{
		{"WaitForCacheSync", func() bool { return cache.WaitForCacheSync(ctx.Done(), funcs...) }},
		{"WaitFor", func() bool { return cache.WaitFor(ctx, "", marks...) }},
		{"WaitFor with a name", func() bool { return cache.WaitFor(ctx, "c", marks...) }},
	} {
		synced := false
		ctx, cancel = context.WithCancel(context.Background())
		before, after := c.waits(func() { synced = call.f() }, cancel)
		c.is(call.name+" waits", !all, before)
		c.is(call.name+" waits although it is stopped", false, after)
		if !after {
			c.is(call.name, all, synced)
		}
	}
	synced := false
	_, after := c.waits(func() { synced = cache.WaitFor(context.Background(), "", marks...) }, func() {
		for _, m := range marks {
			if !cache.IsDone(m) {
				close(m.(mark))
			}
		}
	})
	c.is("WaitFor waits although all have synced", false, after)
	c.is("WaitFor of what has synced meanwhile", true, after || synced)
	if all {
		c.is("WaitFor of what was done when its context ended", true, cache.WaitFor(ctx, "", marks...))
	}
	c.is("WaitFor of nothing, and WaitForCacheSync", [2]bool{true, true}, [2]bool{cache.WaitFor(ctx, ""), cache.WaitForCacheSync(ctx.Done())})
}
