package rest

import (
	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// A CustomResourceDefinition may have so many properties or rules that a write of it takes seconds. Steps are made one after the
// other, so everyone else would wait. A driver that runs in real time therefore offers Options.Background, and what is slow and pure
// is computed there. Without it, as in a simulation, the same code runs inside the step.

// background is the writer for work outside of steps. It shares nothing with that of the steps, since both cache what they build.
// Only such work uses it, one piece after the other.
type background struct {
	writer    *patch.Writer
	resources map[*types.Resource]*types.Resource
}

// Background runs work, and then a function inside a step: at once, or after work has run outside of the step while others go on.
func (s *Server) Background(work, then func()) {
	if s.run == nil {
		work()
		then()
		return
	}
	s.run(work, then)
}

// HasBackground reports whether Background lets others go on.
func (s *Server) HasBackground() bool { return s.run != nil }

// Writer returns the Writer for work that was given to Background, and the resource to write with it.
func (s *Server) Writer(r *types.Resource) (*patch.Writer, *types.Resource) {
	if s.run == nil || r.Apart == nil {
		return s.writer, r
	}
	b := &s.background
	if b.writer == nil {
		b.writer, b.resources = patch.NewWriter(), map[*types.Resource]*types.Resource{}
	}
	if b.resources[r] == nil {
		b.resources[r] = r.Apart()
	}
	return b.writer, b.resources[r]
}

// write carries out a plan at the replica. The result of a slow one has been computed before the replica gets the request; it counts if the object is still the one that it was computed from.
func (c *call) write(make func() (*plan, error)) (cancel func()) {
	if cancel, ok := c.admitted(make); ok {
		return cancel
	}
	if c.server.run == nil || c.resource.Slow == nil || !c.resource.Slow(c.request.Body, c.live()) {
		return c.atReplica(func() { c.carryOut(make, nil) })
	}
	p, err := make()
	if err != nil {
		return c.atReplica(func() { c.fail(err) })
	}
	early := &computed{live: p.live()}
	request := c.writeRequest(early.live)
	request.Admit = nil // it reads the state, and what is slow has no namespace
	return c.later(func() {
		defer func() { early.panicked = recover() }()
		var writer *patch.Writer
		writer, request.Resource = c.server.Writer(c.resource)
		early.result, early.err = p.compute(writer, request, early.live)
	}, func() (cancel func()) {
		return c.atReplica(func() { c.carryOut(make, early) })
	})
}

// later gives work to Background, and then goes on, unless the client has gone away.
func (c *call) later(work func(), then func() (cancel func())) (cancel func()) {
	gone, undo := false, func() {}
	c.server.Background(work, func() {
		if !gone {
			undo = then()
		}
	})
	return func() {
		gone = true
		undo()
	}
}
