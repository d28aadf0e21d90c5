package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/informersim/informersim/reports"
)

// Because is why the run failed: the proof that the violation brings, or, where it brings none, the way of the newest version of the object
// involved up to where it got lost.
func (t *Timeline) Because() []reports.Evidence {
	if v := t.Conclusion.Violation; v != nil && len(v.Because) > 0 {
		return v.Because
	}
	if !t.Breaks() || !t.Named() {
		return nil
	}
	if all := t.Involved(); len(all) > 0 {
		return t.Explain(all[0])
	}
	return nil
}

// Explain tells the way of an object's newest version: who has it, who does not, and which ends of watches and faults lie between. It is in
// the order of steps; what never happened stands at the end.
func (t *Timeline) Explain(o *Object) []reports.Evidence {
	x := t.explained(o)
	return append(x.chain, x.missing...)
}

func (t *Timeline) explained(o *Object) *explainer {
	v := o.last()
	x := &explainer{t: t, v: v, key: o.Key}
	x.resource, _, _ = strings.Cut(o.Key, " ")
	x.by()
	x.say(v.Step, "%s of %s at rv=%d", v.What, o.Key, v.RV)
	for n, l := range t.Lanes {
		switch l.Role {
		case RoleReplica:
			x.arrival(n, PartApplied, "%s applies it", "%s never applied it")
		case RoleConn:
			if t.Wants(l.Owner, o) {
				x.delivery(n, l.Owner)
			}
		case RoleIndexer:
			if t.Wants(l.Owner, o) {
				x.arrival(n, PartIndexer, "the %s has it", "the %s never got it")
			}
		case RoleHandler:
			if t.Wants(l.Owner, o) {
				x.arrival(n, PartTold, "%s is told", "%s was never told")
			}
		case RoleWorkQueue:
			if t.Wants(l.Owner, o) {
				x.reconciles(l.Name)
			}
		}
	}
	x.told()
	x.faults()
	slices.SortStableFunc(x.chain, func(a, b reports.Evidence) int { return cmp.Compare(a.Step, b.Step) })
	return x
}

// explainer gathers evidence.
type explainer struct {
	t              *Timeline
	v              *Version
	key, resource  string
	chain, missing []reports.Evidence
	who            []string // by index of missing
	deaf           []string // clients that were not sent the version as an event
	until          uint64   // the step at which the last of them knew of it
}

func (x *explainer) say(step uint64, format string, args ...any) {
	e := reports.Evidence{Step: step, Text: fmt.Sprintf(format, args...)}
	if n := int(step) - 1; n >= 0 && n < len(x.t.Steps) {
		e.At = x.t.Steps[n].At
	}
	x.chain = append(x.chain, e)
}

// never notes what had not happened by the end.
func (x *explainer) never(name, text string) {
	last := uint64(len(x.t.Steps))
	e := reports.Evidence{Step: last, Text: text}
	if last > 0 {
		e.At = x.t.Steps[last-1].At
	}
	x.missing, x.who = append(x.missing, e), append(x.who, name)
}

func (x *explainer) arrival(lane int, kind PartKind, here, not string) {
	name := x.t.Lanes[lane].Name
	if s := x.v.Stage(lane, kind); s != nil {
		x.say(s.Step, here, name)
		return
	}
	if has := x.t.stillHas(lane, kind, x.key); has != "" || !x.v.Deleted() && !x.left(x.t.Lanes[lane].Owner) {
		x.never(name, fmt.Sprintf(not, name)+has)
	}
}

// left reports whether the version is one that a client no longer selects, and it has been told so.
func (x *explainer) left(owner string) bool {
	for n, l := range x.t.Lanes {
		if l.Role == RoleConn && l.Owner == owner {
			if s := x.v.Stage(n, PartDelivered); s != nil && s.Left {
				return true
			}
		}
	}
	return false
}

// delivery says how a client learned of the version, or what kept it from that.
func (x *explainer) delivery(lane int, owner string) {
	name := x.t.Lanes[lane].Name
	s := x.v.Stage(lane, PartDelivered)
	if s != nil && s.Left {
		x.say(s.Step, "%s is sent DELETED, as it no longer selects it", name)
		return
	}
	if s != nil && s.How == "" {
		x.say(s.Step, "%s is sent it", name)
		return
	}
	x.deaf = append(x.deaf, name)
	until := uint64(len(x.t.Steps))
	if s != nil {
		x.say(s.Step, "%s learns of it by a list", name)
		until = s.Step
	}
	x.until = max(x.until, until)
	var refused []*Request
	for _, q := range x.t.Requests {
		switch {
		case q.Client != owner || q.Resource != x.resource || q.Step > until || q.AnswerStep > until || !q.watch() && !strings.HasPrefix(q.What, "list"):
		case q.EndedStep > 0 && q.AnswerStep < x.v.Step && x.t.lastWatch(q, x.v.Step):
			x.say(q.EndedStep, "%s: watch %d, opened%s, ends: %s", name, q.N, q.from(), q.Ended)
		case q.Failed && q.AnswerStep >= x.v.Step:
			refused = append(refused, q)
		}
	}
	x.refused(name, refused)
	if s == nil {
		x.never(name, name+" was never sent it, as an event or in a list")
	}
}

// lastWatch reports whether a watch that had ended by a step was the last one of its client then.
func (t *Timeline) lastWatch(w *Request, step uint64) bool {
	for _, q := range t.Requests {
		if q.Client == w.Client && q.Resource == w.Resource && q.watch() && q.AnswerStep > w.EndedStep && q.AnswerStep < step && !q.Failed {
			return false
		}
	}
	return true
}

// refused tells of requests that failed, equal ones once.
func (x *explainer) refused(name string, all []*Request) {
	groups := map[string][]*Request{}
	for _, q := range all {
		verb, _, _ := strings.Cut(q.What, " ")
		like := verb + " " + code(q.Answer)
		groups[like] = append(groups[like], q)
	}
	for _, like := range sortedKeys(groups) {
		g := groups[like]
		verb, _, _ := strings.Cut(like, " ")
		if len(g) == 1 {
			x.say(g[0].AnswerStep, "%s: %s %d%s fails: %s", name, verb, g[0].N, g[0].from(), g[0].Answer)
			continue
		}
		x.say(g[0].AnswerStep, "%s: %d × %s%s fails, until step %d: %s", name, len(g), verb, g[0].from(), g[len(g)-1].AnswerStep, g[0].Answer)
	}
}

// hearing reports whether a fault may keep a client from learning of a write.
func hearing(name string) bool {
	for _, prefix := range []string{"watch", "list", "replica", "compact", "crash", "restore"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// faults adds the faults that hit whoever missed the version, from the time of its write on.
func (x *explainer) faults() {
	const most = 3
	said := 0
	for _, f := range slices.Backward(x.t.Faults) {
		if f.Step+200 < x.v.Step || f.Step > x.until || !hearing(f.Name) || !slices.Contains(x.deaf, f.Victim) && !strings.HasPrefix(f.Victim, "replica/") && f.Victim != "" {
			continue
		}
		if said++; said > most {
			return
		}
		x.say(f.Step, "the fault %s hits %s", f.Name, f.Victim)
	}
}

// Wants reports whether a client follows the resource of an object.
func (t *Timeline) Wants(owner string, o *Object) bool {
	resource, _, _ := strings.Cut(o.Key, " ")
	return slices.Contains(t.Follows(owner), resource)
}

// Follows returns the resources that a client follows, sorted: those that it watches, or would if its list were answered. An informer follows
// what it lists; another client that lists and does not watch has looked once, and what it has seen does not become stale.
func (t *Timeline) Follows(owner string) []string { return t.follows[owner] }

// followed finds what each client follows.
func (b *builder) followed() {
	t := b.t
	t.follows = map[string][]string{}
	for _, q := range t.Requests {
		informer := b.informers[q.Client] != nil
		if q.watch() || strings.HasPrefix(q.What, "list") && (informer || q.Failed || q.AnswerStep == 0) {
			t.follows[q.Client] = append(t.follows[q.Client], q.Resource)
		}
	}
	for client, resources := range t.follows { // order: each by itself
		slices.Sort(resources)
		t.follows[client] = slices.Compact(resources)
	}
}

// stillHas says what a part has of an object at the end, "" for nothing.
func (t *Timeline) stillHas(lane int, kind PartKind, key string) string {
	at := t.State(uint64(len(t.Steps)))
	for n, p := range t.Parts {
		if p.Lane == lane && p.Kind == kind {
			for _, i := range at[n] {
				if i.Key == key {
					return fmt.Sprintf(": what it has is rv=%d", i.RV)
				}
			}
		}
	}
	return ""
}
