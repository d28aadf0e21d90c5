package timeline

import (
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/sim"
)

// builder makes a timeline, record by record.
type builder struct {
	t        *Timeline
	commands []*script.Command // of the script in the header; nil if it has none
	texts    []string          // of those

	lanes     map[string]int // by name
	parts     map[Part]int
	informers map[string]*informer
	pools     map[string]string // by a pool of workers, the informer that it belongs to
	bare      map[string]bool   // pools of reconcilers of which a Go test tells
	busy      map[string]int    // by worker, the index of its reconcile
	clients   map[string]*client
	objects   map[string]*Object
	open      map[string]int // by what it is about, the index of the band that has not ended

	resources map[uint32]string // by the number that a choice of a replica has for it

	now      *Step
	target   uint32   // of its choice
	admitted *Request // the one that reaches the server with it, nil for none
	index    int      // of now
}

func newBuilder(h sim.Header) *builder {
	b := &builder{
		t:     &Timeline{Header: h},
		lanes: map[string]int{}, parts: map[Part]int{}, informers: map[string]*informer{}, pools: map[string]string{}, bare: map[string]bool{}, busy: map[string]int{},
		clients: map[string]*client{}, objects: map[string]*Object{}, open: map[string]int{}, resources: map[uint32]string{},
	}
	r := &b.t.Run
	r.Scenario, r.Subject, r.Engine, r.Strategy, r.Seed = h.Scenario, h.Subject, h.Engine, h.Strategy, h.Seed
	r.Mix, r.ShrunkFrom = mixName(h.Mix), h.Options["shrunkFrom"]
	if f, err := script.Parse(h.Scenario, []byte(h.Script)); err == nil {
		b.commands = f.Commands()
		for _, c := range b.commands {
			bare := *c
			bare.Comment = ""
			b.texts = append(b.texts, bare.String())
		}
	}
	return b
}

// step takes in a step.
func (b *builder) step(s *sim.TraceStep) {
	b.index = len(b.t.Steps)
	b.t.Steps = append(b.t.Steps, Step{At: time.Duration(s.At), Lane: -1, Choice: reports.ChoiceText(s, b.texts)})
	b.now, b.target, b.admitted = &b.t.Steps[b.index], s.Target, nil
	if c := b.clients[s.Actor]; c != nil && s.Kind == "admit" {
		b.admitted = c.requests[int64(s.Target)]
	}
	if s.Actor != "clock" {
		b.now.Lane = b.laneOf(s.Actor)
	}
	if s.Kind == "command" {
		b.command(int(s.Target))
	}
	for i := range s.Records {
		r := &s.Records[i]
		b.now.Texts = append(b.now.Texts, reports.RecordText(r))
		at := s.At
		if r.At != nil {
			at = *r.At
		}
		b.t.Run.Virtual = time.Duration(at)
		b.record(r, time.Duration(at), s.Actor)
	}
	if s.Kind == "pop" {
		b.popped(s.Actor)
	}
	b.t.Run.Virtual = max(b.t.Run.Virtual, b.now.At)
	b.t.Run.Steps = uint64(b.index + 1)
	if len(b.now.Marks) == 0 && b.now.Lane >= 0 {
		b.mark(b.now.Lane, ShapeEvent)
	}
}

// record takes in a record of the current step; by is the actor whose choice it was.
func (b *builder) record(r *sim.TraceRecord, at time.Duration, by string) {
	switch r.Kind {
	case "commit":
		b.commit(r, at, by)
	case "apply":
		b.applied(r)
	case "compacted", "restored":
		b.mark(b.laneOf(r.Actor), ShapeEvent)
		if r.Kind == "restored" {
			b.restored(r.RV)
		}
	case "fault":
		b.fault(r, at)
	case "request", "response", "page", "frame", "watch-closed":
		b.network(r, at)
	case "replace", "tombstone", "indexer", "synced", "resync", "backoff", "stopped", "restarted", "notify", "handler":
		b.informerRecord(r)
	case "workers", "enqueue", "ready", "reconcile", "reconciled":
		b.work(r, at)
	case "sends":
		b.sends(r)
	case "process":
		b.process(r, at)
	default:
		b.mark(b.laneOf(r.Actor), ShapeEvent)
	}
}

// command takes in a command of the script: holds are bands.
func (b *builder) command(n int) {
	if n >= len(b.commands) {
		for _, what := range sortedKeys(b.open) {
			if target, ok := strings.CutPrefix(what, "hold "); ok {
				b.endBand(what)
				b.drop(b.part(b.laneOf("script"), PartHeld), target)
			}
		}
		return
	}
	c := b.commands[n]
	if c.Name != "hold" && c.Name != "release" {
		return
	}
	for _, a := range c.Args {
		if a.Key != "" {
			continue
		}
		held := b.part(b.laneOf("script"), PartHeld)
		if c.Name == "release" {
			b.endBand("hold " + a.Value)
			b.drop(held, a.Value)
			continue
		}
		b.beginBand("hold "+a.Value, b.heldLane(a.Value), "held by the script", false)
		b.set(held, a.Value, 0, "held")
	}
}

// heldLane returns the lane that a hold of the script is about: of an informer, its queue.
func (b *builder) heldLane(target string) int {
	if i, ok := b.informers[target]; ok {
		return i.queue
	}
	if n, ok := b.lanes[target]; ok {
		return n
	}
	if n, ok := b.lanes["conn/"+target]; ok {
		return n
	}
	return b.laneOf("script")
}

// mark puts a mark on a lane, once per shape.
func (b *builder) mark(lane int, shape Shape) {
	for _, m := range b.now.Marks {
		if m.Lane == lane && (m.Shape == shape || shape == ShapeEvent) {
			return
		}
	}
	b.now.Marks = append(b.now.Marks, Mark{lane, shape})
}

func (b *builder) arrow(from, fromLane, toLane int) {
	b.now.Arrows = append(b.now.Arrows, Arrow{From: from, FromLane: fromLane, ToLane: toLane})
}

// about notes an object that the step is about.
func (b *builder) about(key string) {
	for _, k := range b.now.Keys {
		if k == key {
			return
		}
	}
	b.now.Keys = append(b.now.Keys, key)
}

func (b *builder) set(part int, key string, rv int64, note string) {
	b.now.Effects = append(b.now.Effects, Effect{Part: part, Key: key, RV: rv, Note: note})
}

func (b *builder) drop(part int, key string) {
	b.now.Effects = append(b.now.Effects, Effect{Part: part, Key: key, Gone: true})
}

func (b *builder) beginBand(what string, lane int, text string, fault bool) {
	if _, ok := b.open[what]; !ok {
		b.open[what] = len(b.t.Bands)
		b.t.Bands = append(b.t.Bands, Band{Lane: lane, From: b.index, To: -1, Text: text, Fault: fault})
	}
}

func (b *builder) endBand(what string) {
	if n, ok := b.open[what]; ok {
		b.t.Bands[n].To = b.index
		delete(b.open, what)
	}
}

// finish closes what is open at the end of the trace, and puts the lanes into their order.
func (b *builder) finish() {
	t := b.t
	for i := range t.Bands {
		if t.Bands[i].To < 0 {
			t.Bands[i].To = max(len(t.Steps)-1, 0)
		}
	}
	b.followed()
	b.lost()
	b.sortLanes()
	c, r := t.Conclusion, &t.Run
	r.Violation, r.Failure, r.Expected, r.Mismatches, r.Statement, r.Checked = c.Violation, c.Failure, c.Expected, c.Mismatches, c.Statement, c.Checked
	r.Converging, r.Unjudged, r.Mutated = c.ConvergingNs, c.Unjudged, c.Mutated
	if r.ShrunkFrom == "" {
		r.ShrunkFrom = c.ShrunkFrom
	}
	r.Transcript = t.Header.Strategy == "fifo" && len(t.Header.Mix) == 0
	r.APIOnly = len(b.informers) == 0
	for _, p := range c.Checked {
		r.Properties = append(r.Properties, p.Name)
	}
}
