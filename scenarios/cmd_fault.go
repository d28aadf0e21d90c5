package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/script"
)

// fault injects a fault: at once if the watch or request that it needs is in flight, else on the next one that it fits. The target
// is an informer or writer (its connection), replica/N or cluster; the kind is written WHERE=WHAT. A payload adds fields of
// fault.Fault: which requests or objects it affects, what it waits for, its probability.
//
//	fault i1 watch=410
//	fault i1 list=429 retry-after=3s count=2
//	fault w1 write=lost
//	fault replica/1 replica=lag for=10s
//	fault cluster leader=loss for=5s
//	fault i1 watch=eof {"after": {"event": "frame", "key": "default/a", "count": 2}}
var faultSpec = spec{
	name:  "fault",
	usage: "fault TARGET watch|watch-open|list|write|replica|leader=KIND [count=N] [for=DURATION] [retry-after=DURATION] [{more}]",
	doc:   "injects a fault into the connection of an informer or writer, into a replica, or into the cluster",
	parse: func(r *script.ArgReader) Command {
		c := &faultCmd{target: r.Next("target").Value}
		for _, where := range faultPlaces {
			a, ok := r.Key(where)
			if !ok {
				continue
			}
			name := where + "-" + a.Value
			kind, err := fault.ParseKind(name)
			switch {
			case err != nil:
				hint := "use one of " + strings.Join(faultsAt(where), ", ")
				if near := script.Suggest(a.Value, faultsAt(where)); near != "" {
					hint = "did you mean " + where + "=" + near + "?"
				}
				r.Fail(script.Errorf(a.Pos, hint, "fault: unknown fault %s=%s", where, a.Value))
			case c.name != "":
				r.Fail(script.Errorf(a.Pos, "write one command per fault", "fault: more than one fault"))
			}
			c.name, c.fault.Kind, c.at = name, kind, a.Pos
		}
		if c.name == "" && !r.Failed() {
			a, _ := r.Key("watch")
			r.Fail(script.Errorf(a.Pos, "write it like watch=410", "fault: no fault is given"))
		}
		c.fault.Count = r.Int("count", 1, 1, 1_000_000)
		c.fault.Duration = r.SignedDuration("for", 0)
		if a, _ := r.Key("for"); c.fault.Duration > maxDuration || c.fault.Duration < -maxDuration {
			r.Fail(outside(a, "-%s to %s", maxDuration, maxDuration))
		}
		c.fault.RetryAfter = upTo(r, "retry-after", maxRetryAfter)
		c.payload = r.Payload()
		return c
	},
}

var faultPlaces = []string{"watch", "watch-open", "list", "write", "replica", "leader"}

// faultsAt lists the faults of a place, without the place's name.
func faultsAt(where string) []string {
	var names []string
	for _, k := range fault.Kinds() {
		name := string(k)
		rest, ok := strings.CutPrefix(name, where+"-")
		if ok && !(where == "watch" && strings.HasPrefix(rest, "open-")) {
			names = append(names, rest)
		}
	}
	return names
}

type faultCmd struct {
	target  string
	name    string
	at      script.Pos // of the kind
	fault   fault.Fault
	payload json.RawMessage
}

func (c *faultCmd) faultKinds() []string { return []string{c.name} }

func (c *faultCmd) declare(d *declarations, s *script.Command) error {
	if c.payload != nil && !d.loose {
		if err := checkPayload(s, "", nil, d.fields); err != nil {
			return err
		}
	}
	if err := c.applyPayload(); err != nil {
		return script.Errorf(s.PayloadPos, `write it like {"after": {"event": "frame", "count": 3}}`, "%v", err)
	}
	if err := c.fault.Validate(); err != nil {
		return script.Errorf(s.Pos, "", "%v", err)
	}
	if c.fault.From > maxDuration || c.fault.Until > maxDuration {
		return script.Errorf(s.PayloadPos, "use 8760h or less", "fault: from and until are out of range")
	}
	switch {
	case strings.HasPrefix(c.name, "replica-"):
		return needReplica(d, s, c.target)
	case strings.HasPrefix(c.name, "leader-"):
		d.started = true
		if c.target != "cluster" {
			return script.Errorf(s.Pos, "write it like fault cluster leader=loss", "fault: %q has no leader", c.target)
		}
		return nil
	}
	if err := d.need(s, c.target, "informer", "writer"); err != nil || d.loose {
		return err
	}
	return c.fits(d)
}

// fits returns an error if the target never does what the fault would hit.
func (c *faultCmd) fits(d *declarations) error {
	is, does, needs, hint := d.names[c.target], "only writes", "informer", "declare one with informer NAME RESOURCE"
	writes := strings.HasPrefix(c.name, "write-")
	if writes == (is == "writer") {
		return nil
	}
	if writes {
		does, needs, hint = "never writes", "writer", "declare one with writer NAME, and write with by=NAME"
	}
	if all := d.all(needs); len(all) > 0 {
		hint = "declared: " + strings.Join(all, ", ")
	}
	where, _, _ := strings.Cut(c.name, "-")
	return script.Errorf(c.at, hint, "fault: %q is %s, which %s: a %s fault is for %s", c.target, withArticle(is), does, where, withArticle(needs))
}

// applyPayload adds the payload's fields to the fault.
func (c *faultCmd) applyPayload() error {
	if c.payload == nil {
		return nil
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(c.payload, &fields); err != nil {
		return err
	}
	for _, taken := range []string{"kind", "target", "count", "duration", "retryAfter"} {
		if _, given := fields[taken]; given {
			return fmt.Errorf("fault: the payload has a %s, which belongs in the command", taken)
		}
	}
	setDefault(fields, "kind", c.name)
	data, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	f, err := fault.Parse(data)
	if err != nil {
		return err
	}
	f.Count, f.Duration, f.RetryAfter = c.fault.Count, c.fault.Duration, c.fault.RetryAfter
	c.fault = f
	return nil
}

// needReplica checks a target of the form replica/N.
func needReplica(d *declarations, s *script.Command, target string) error {
	var n int
	if _, err := fmt.Sscanf(target, "replica/%d", &n); err != nil || fmt.Sprintf("replica/%d", n) != target || n < 0 || n >= max(d.replicas, 1) {
		return script.Errorf(s.Pos, fmt.Sprintf("replicas are replica/0 to replica/%d", max(d.replicas, 1)-1), "%s: %q is not a replica", s.Name, target)
	}
	return nil
}

func (c *faultCmd) run(w *World) error {
	if err := w.ensureCluster(); err != nil {
		return err
	}
	f := c.fault
	if f.Target = c.target; f.Target == "cluster" {
		f.Target = ""
	}
	switch err := w.cluster.Inject(f); {
	case err != nil && w.informers[f.Target] != nil && f.Replica == "" && f.Resource == "" && f.After == nil:
		w.refusedWrongly("", fmt.Sprintf("fault of %s, which has started: %v", f.Target, err))
	case err != nil:
		return fmt.Errorf("fault %s %s: %w", c.target, c.name, err)
	}
	return nil
}

// missed are the ordered faults of kinds that have hit nothing in a transcript that was played to its end. In an exploration, another seed may
// show what they do.
func (w *World) missed() (all []reports.Missed) {
	if !w.transcript || !w.script.healing {
		return nil
	}
	for _, c := range w.scenario.cmds {
		f, ok := c.Command.(*faultCmd)
		if ok && !slices.ContainsFunc(w.result.Faults, func(n reports.FaultCount) bool { return n.Name == f.name }) {
			all = append(all, reports.Missed{At: c.syntax.Pos.String(), Command: c.syntax.String()})
		}
	}
	return all
}

// hold keeps a part from stepping until release: the queue of an informer (its pops), a handler, workers (they take no more keys),
// a replica (it applies nothing), or a connection (nothing is delivered).
//
//	hold i1
//	hold h1
//	hold replica/1
//	hold conn/i1
var holdSpec = spec{
	name:  "hold",
	usage: "hold INFORMER|HANDLER|WORKER|replica/N|conn/NAME",
	doc:   "keeps an informer's queue, a handler, workers, a replica or a connection from stepping",
	parse: func(r *script.ArgReader) Command { return &holdCmd{target: r.Next("target").Value, hold: true} },
}

// release ends a hold.
//
//	release h1
var releaseSpec = spec{
	name:  "release",
	usage: "release INFORMER|HANDLER|WORKER|replica/N|conn/NAME",
	doc:   "ends a hold",
	parse: func(r *script.ArgReader) Command { return &holdCmd{target: r.Next("target").Value} },
}

type holdCmd struct {
	target string
	hold   bool
}

func (c *holdCmd) faultKinds() []string {
	if c.hold {
		return []string{"hold"}
	}
	return nil
}

func (c *holdCmd) declare(d *declarations, s *script.Command) error {
	if strings.HasPrefix(c.target, "replica/") {
		return needReplica(d, s, c.target)
	}
	if name, ok := strings.CutPrefix(c.target, "conn/"); ok {
		return d.need(s, name, "informer", "writer")
	}
	return d.need(s, c.target, "informer", "handler", "worker")
}

func (c *holdCmd) run(w *World) error {
	if strings.Contains(c.target, "/") {
		return w.cluster.SetHeld(c.target, c.hold)
	}
	if ws := w.workers[c.target]; ws != nil {
		if c.hold {
			ws.Hold()
		} else {
			ws.Release()
		}
		return nil
	}
	inf, part := w.informers[c.target], "queue"
	if inf == nil {
		inf, part = w.handlers[c.target], c.target
	}
	if c.hold {
		return inf.Hold(part)
	}
	return inf.Release(part)
}

// compact compacts the store up to a revision, the current one without rv=.
//
//	compact rv=100
var compactSpec = spec{
	name:  "compact",
	usage: "compact [rv=N] [cache=keep]",
	doc:   "drops all versions older than a revision, the current one by default; cache=keep leaves the replicas' caches alone",
	parse: func(r *script.ArgReader) Command {
		return &compactCmd{rv: r.Int64("rv", 0, 1, 1<<60), keep: r.OneOf("cache", "", "keep") == "keep"}
	},
}

type compactCmd struct {
	rv   int64
	keep bool
}

func (c *compactCmd) faultKinds() []string { return []string{string(fault.Compact)} }

func (c *compactCmd) declare(d *declarations, s *script.Command) error {
	d.started = true
	return nil
}

func (c *compactCmd) run(w *World) error {
	if err := w.ensureCluster(); err != nil {
		return err
	}
	rv := c.rv
	if rv == 0 {
		rv = w.cluster.Store().Revision()
	}
	if rv <= w.cluster.Store().Compacted() {
		return nil // a fault has done it, or the store is empty
	}
	compact := w.cluster.Compact
	if c.keep {
		compact = w.cluster.CompactStore
	}
	if err := compact(rv); err != nil {
		return fmt.Errorf("compact: %w", err)
	}
	return nil
}

// restore restores the store to an older revision, as from a backup of etcd. Later writes are gone, and their revisions are reused
// (k107457) unless bump= raises the revision, as the documented procedure does. If the revision has been compacted, the oldest one
// left takes its place.
//
//	restore rv=10
//	restore rv=10 bump=1000
var restoreSpec = spec{
	name:  "restore",
	usage: "restore rv=N [bump=N]",
	doc:   "restores the store to an older revision; bump= then raises the revision and marks all older ones as compacted",
	parse: func(r *script.ArgReader) Command {
		r.Require("rv")
		return &restoreCmd{rv: r.Int64("rv", 0, 1, 1<<60), bump: r.Int64("bump", 0, 0, 1<<40)}
	},
}

type restoreCmd struct{ rv, bump int64 }

func (c *restoreCmd) faultKinds() []string {
	if c.bump > 0 {
		return []string{string(fault.RestoreBumped)}
	}
	return []string{string(fault.Restore)}
}

func (c *restoreCmd) declare(d *declarations, _ *script.Command) error {
	d.started = true
	return nil
}

func (c *restoreCmd) run(w *World) error {
	if err := w.ensureCluster(); err != nil {
		return err
	}
	if err := w.cluster.Restore(max(c.rv, w.cluster.Store().Compacted()), c.bump); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}
