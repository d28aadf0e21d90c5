package scenarios

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// An informer command may leave open which queue the informer has, whether it tries a streaming list, how long its pages are, how
// often it resyncs, and which replica serves it. A transcript takes defaults: delta, off, the reflector's own pages, no resync,
// replica 0. An exploration draws what is open from its seed, for each informer, and plays the script with the drawn arguments
// written out. So the trace's header has them, and a replay draws nothing.

// Configured returns the scenario with everything that its informer commands leave open drawn from the seed and written out. A
// queue is drawn among those that all these kinds of subjects have, and streaming lists only if all have them. Run does this itself for an exploration; call it to give several
// subjects, or a transcript, the configurations of a seed.
func (s *Scenario) Configured(seed uint64, kinds ...subjects.Kind) (*Scenario, error) {
	c, err := s.configured(seed, kinds...)
	if err != nil {
		return nil, err
	}
	return FromScript(c.file)
}

// configured is Configured, but its commands stand for those of s: positions and outputs are the same.
func (s *Scenario) configured(seed uint64, kinds ...subjects.Kind) (*Scenario, error) {
	queues := subjects.CommonQueues(kinds...)
	lacks := func(f subjects.Feature) bool {
		return slices.ContainsFunc(kinds, func(k subjects.Kind) bool { _, lacking := k.Lacks[f]; return lacking })
	}
	streams, transforms := !lacks(subjects.StreamingLists), !lacks(subjects.StreamTransforms)
	var reader script.ArgReader
	written := map[*script.Command]*script.Command{}
	cmds := slices.Clone(s.cmds)
	for n, c := range cmds {
		inf, ok := c.Command.(*informerCmd)
		if !ok {
			continue
		}
		args := s.drawn(inf, seed, queues, streams && (transforms || inf.spec.Transform.FailLabel == ""))
		if len(args) == 0 {
			continue
		}
		full := *c.syntax
		full.Args = slices.Concat(full.Args, args)
		cmd, err := parseCommand(&full, &reader)
		if err != nil {
			return nil, fmt.Errorf("the drawn configuration of informer %s: %w", inf.spec.Name, err)
		}
		written[c.syntax], cmds[n].Command = &full, cmd
	}
	if len(written) == 0 {
		return s, nil
	}
	file := &script.File{Name: s.file.Name, Nodes: slices.Clone(s.file.Nodes)}
	for n, node := range file.Nodes {
		if c, ok := node.(*script.Command); ok && written[c] != nil {
			file.Nodes[n] = written[c]
		}
	}
	return &Scenario{Name: s.Name, file: file, cmds: cmds, extent: s.extent}, nil
}

// drawn returns the arguments that an informer command leaves open, drawn from the seed. Every number is drawn, wanted or not: an
// argument that is given changes no other.
func (s *Scenario) drawn(c *informerCmd, seed uint64, queues []subjects.Queue, streams bool) []script.Arg {
	src := sim.NewStream(seed, "configuration/"+c.spec.Name)
	var args []script.Arg
	open := func(key string, value any) {
		if !c.given[key] {
			args = append(args, Key(key, value))
		}
	}
	if n := src.Uint64(); len(queues) > 0 {
		open("queue", queues[n%uint64(len(queues))])
	}
	watchList := src.IntN(2) == 1
	// A streaming list makes no list request, so a fault that the script orders for one would never come.
	open("watch-list", onOff(watchList && streams && !s.extent.listFaults[c.spec.Name]))
	open("page", oneOf(src, s.extent.pages(1+int64(src.IntN(3)))))
	open("resync", oneOf(src, s.extent.resyncs()))
	replica := src.IntN(2 * s.extent.replicas)
	switch {
	case s.extent.replicas == 1:
	case replica < s.extent.replicas:
		open("replica", strconv.Itoa(replica))
	default:
		open("replica", "choice")
	}
	return args
}

func oneOf[T any](src *sim.Stream, values []T) T { return values[src.IntN(len(values))] }

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// extent is what decides which configurations of a scenario make sense.
type extent struct {
	replicas   int
	objects    int           // that the script creates, at most
	time       time.Duration // that may pass
	listFaults map[string]bool
}

func extentOf(cmds []parsedCommand) extent {
	e := extent{replicas: 1, time: ConvergenceTimeout, listFaults: map[string]bool{}}
	for _, c := range cmds {
		switch c := c.Command.(type) {
		case *clusterCmd:
			e.replicas = c.replicas
		case *writeCmd:
			if c.op == "create" {
				e.objects += len(c.keys)
			}
		case advanceCmd:
			if e.time += c.d; e.time < 0 {
				e.time = math.MaxInt64
			}
		case *faultCmd:
			if strings.HasPrefix(c.name, "list-") {
				e.listFaults[c.target] = true
			}
		}
	}
	return e
}

const (
	// maxPages is the number of pages that a list may have because of a drawn page size.
	maxPages = 20
	// maxResynced is the number of objects that an informer may resync in a run because of a drawn period.
	maxResynced = 100_000
)

// pages are the page sizes to draw from: half of the time none, so that the reflector follows its own rules (I5); client-go's 500,
// which makes it page every list; and a small one.
func (e *extent) pages(small int64) []int64 {
	return []int64{0, 0, 500, max(small, int64(e.objects/maxPages))}
}

// resyncs are the resync periods to draw from: half of the time none, otherwise one of the two shortest that do not make resyncs most
// of the run. They are no multiples of what servers and scripts wait for, because what happens at one instant has no order.
func (e *extent) resyncs() []time.Duration {
	fit := slices.DeleteFunc([]time.Duration{2137 * time.Millisecond, 30171 * time.Millisecond, 601303 * time.Millisecond}, func(p time.Duration) bool {
		return int64(e.time/p)*int64(e.objects) > maxResynced
	})
	return slices.Concat([]time.Duration{0, 0}, fit[:min(2, len(fit))])
}

// Configurations returns the configurations of the informers, in the order of the script, as a run has them.
func (s *Scenario) Configurations(takesDefaults bool) []reports.Configuration {
	var all []reports.Configuration
	for _, c := range s.cmds {
		if inf, ok := c.Command.(*informerCmd); ok {
			all = append(all, inf.configuration(takesDefaults, s.extent.replicas))
		}
	}
	return all
}
