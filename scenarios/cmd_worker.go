package scenarios

import (
	"fmt"
	"time"

	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/subjects"
)

// worker starts the workers of a controller: a handler of that name adds the key of every notification to a rate limited work
// queue, and the workers reconcile the keys once the handler has synced. base= and max= replace the default limiter by an
// exponential one. panic=crash does not recover panics. With get=block an idle worker waits in the queue's Get, as a real one does.
//
//	worker c1 i1 count=2
//	worker c1 i1 count=2 get=block
//	worker c1 i1 base=10ms max=5s retries=5
var workerSpec = spec{
	name:  "worker",
	usage: "worker NAME INFORMER [count=N] [base=DURATION max=DURATION] [retries=N] [panic=retry|crash] [get=try|block] [resync=DURATION]",
	doc:   "starts workers that reconcile an informer's keys from a rate limited work queue, which a handler of the same name fills",
	parse: func(r *script.ArgReader) Command {
		c := &workerCmd{informer: "", spec: subjects.WorkersSpec{Name: r.Next("name").Value}}
		c.informer = r.Next("informer").Value
		c.spec.Count = r.Int("count", 1, 1, 64)
		c.spec.Retries = r.Int("retries", 0, 1, 1000)
		c.spec.Crash = r.OneOf("panic", "retry", "retry", "crash") == "crash"
		c.spec.Waits = r.OneOf("get", "try", "try", "block") == "block"
		c.spec.Resync = period(r, "resync", 0)
		c.limiter(r)
		return c
	},
}

// maxDelay is the longest delay of a limiter, that of the default one (I99): the world must still be able to heal.
const maxDelay = 1000 * time.Second

type workerCmd struct {
	informer string
	spec     subjects.WorkersSpec
}

func (c *workerCmd) limiter(r *script.ArgReader) {
	base, hasBase := r.Key("base")
	longest, hasMax := r.Key("max")
	c.spec.Base = r.Duration("base", 0)
	c.spec.Max = r.Duration("max", 0)
	switch {
	case r.Failed() || !hasBase && !hasMax:
	case !hasBase || !hasMax:
		r.Fail(script.Errorf(base.Pos, "write it like base=5ms max=10s", "worker: an exponential limiter needs both base= and max="))
	case c.spec.Base < leastDelay:
		r.Fail(outside(base, "%s or more", leastDelay))
	case c.spec.Max < c.spec.Base || c.spec.Max > maxDelay:
		r.Fail(script.Errorf(longest.Pos, fmt.Sprintf("use a duration from base= to %v", maxDelay), "worker: max=%s is out of range", longest.Value))
	}
}

func (c *workerCmd) declare(d *declarations, s *script.Command) error {
	if err := d.need(s, c.informer, "informer"); err != nil {
		return err
	}
	return d.add(s, c.spec.Name, "worker")
}

func (c *workerCmd) run(w *World) error {
	inf := w.informers[c.informer]
	ws, err := inf.AddWorkers(c.spec)
	if err != nil {
		return fmt.Errorf("worker %s: %w", c.spec.Name, err)
	}
	w.handlers[c.spec.Name] = inf
	w.workers[c.spec.Name] = ws
	w.workerOrd = append(w.workerOrd, ws)
	return nil
}
