package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
)

// A Divergence is the first difference between a run and the trace that it was to follow.
type Divergence struct {
	Step uint64        `json:"step"`
	At   time.Duration `json:"atNs"` // virtual time
	// Why says what differs in one line.
	Why string `json:"why"`
	// Choice is the step's choice, if both sides have the same one.
	Choice string `json:"choice,omitempty"`
	// Trace and Run are what each side has: its choice, unless that is the same, and its records.
	Trace []string `json:"trace,omitempty"`
	Run   []string `json:"run,omitempty"`
	// Possible are the choices that the run had, if the trace's was not among them.
	Possible []string `json:"possible,omitempty"`
}

// Diverge puts a difference from a trace into words. commands are the commands of the script, verdict that of the run, if it is
// over where the trace goes on, or of the trace, if that is over.
func Diverge(d *sim.DivergedError, commands []string, verdict string) *Divergence {
	v := &Divergence{Step: d.Step, Why: firstLine(d.Why)}
	trace, run := d.Trace, d.Run
	choice := func(s *sim.TraceStep) string { return ChoiceText(s, commands) }
	switch {
	case trace == nil && run == nil:
		return v
	case trace == nil:
		v.At = time.Duration(run.At)
		v.Run = append([]string{choice(run)}, recordTexts(run)...)
		v.Why = fmt.Sprintf("the trace ends before this step: its run %s; here the run goes on: %s", Ended(verdict), v.Run[0])
		return v
	case run == nil:
		v.At = time.Duration(trace.At)
		v.Trace = append([]string{choice(trace)}, recordTexts(trace)...)
		v.Why = fmt.Sprintf("here the run is over before this step: it %s; the trace goes on: %s", Ended(verdict), v.Trace[0])
		return v
	}
	v.At = time.Duration(trace.At)
	if trace.At != run.At {
		v.Why = fmt.Sprintf("here it is %v since the start, in the trace %v: another timer was due", time.Duration(run.At), time.Duration(trace.At))
		v.Trace, v.Run = []string{choice(trace)}, []string{choice(run)}
		return v
	}
	if !sameChoice(trace, run) {
		v.Trace, v.Run = append([]string{choice(trace)}, recordTexts(trace)...), append([]string{choice(run)}, recordTexts(run)...)
		for i := range d.Enabled {
			v.Possible = append(v.Possible, choice(&d.Enabled[i]))
		}
		v.Why = fmt.Sprintf("in the trace %s; here that is not possible: %s", v.Trace[0], impossible(trace, d.Enabled, commands))
		return v
	}
	v.Choice = choice(trace)
	v.Trace, v.Run = recordTexts(trace), recordTexts(run)
	for i := range min(len(v.Trace), len(v.Run)) {
		// Records that differ in what their text leaves out are told in full.
		switch a, b := &trace.Records[i], &run.Records[i]; {
		case a.Same(trace, b, run):
			v.Trace[i] = v.Run[i] // of a trace that is too old for notes, say
		case v.Trace[i] == v.Run[i]:
			v.Trace[i] += inFull(a)
			v.Run[i] += inFull(b)
		}
	}
	if _, t, r := split(v.Trace, v.Run); len(t)+len(r) > 0 {
		v.Why = recordsDiffer(t, r)
	}
	return v
}

func inFull(r *sim.TraceRecord) string {
	at := ""
	if r.At != nil {
		at = fmt.Sprintf(" t=%v", time.Duration(*r.At))
	}
	return fmt.Sprintf(" [%s n=%d%s]", rawText(r), r.N, at)
}

func sameChoice(a, b *sim.TraceStep) bool {
	return a.Actor == b.Actor && a.Kind == b.Kind && a.Target == b.Target && a.Seq == b.Seq
}

// split returns the number of texts that both sides begin with, and what each has between those and the ones that both end with.
func split(trace, run []string) (same int, t, r []string) {
	for same < min(len(trace), len(run)) && trace[same] == run[same] {
		same++
	}
	t, r = trace[same:], run[same:]
	for len(t) > 0 && len(r) > 0 && t[len(t)-1] == r[len(r)-1] {
		t, r = t[:len(t)-1], r[:len(r)-1]
	}
	return same, t, r
}

func recordsDiffer(t, r []string) string {
	switch {
	case len(t) == 0:
		return fmt.Sprintf("here %s%s; in the trace not", r[0], more(r))
	case len(r) == 0:
		return fmt.Sprintf("in the trace %s%s; here not", t[0], more(t))
	}
	return fmt.Sprintf("in the trace %s%s; here %s%s", t[0], more(t), r[0], more(r))
}

func more(texts []string) string {
	if len(texts) < 2 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", len(texts)-1)
}

// impossible says why a choice is not among those that are possible.
func impossible(s *sim.TraceStep, enabled []sim.TraceStep, commands []string) string {
	for i := range enabled {
		e := &enabled[i]
		switch {
		case e.Actor != s.Actor || e.Kind != s.Kind:
		case e.Target != s.Target:
			return ChoiceText(e, commands) + " instead"
		default:
			return fmt.Sprintf("it is, but as offer %d of %s, in the trace as its offer %d: something was offered or withdrawn before, of which there is no record",
				e.Seq, e.Actor, s.Seq)
		}
	}
	if why, ok := missing[s.Kind]; ok {
		return fmt.Sprintf(why, s.Actor)
	}
	return s.Actor + " does not offer it"
}

// missing says, by kind of choice, what an actor lacks that does not offer it.
var missing = map[string]string{
	"pop":     "the queue of %s is empty",
	"handle":  "there is no notification for %s",
	"return":  "no call of %s is under way",
	"wake":    "no timer of %s has fired",
	"admit":   "no request of %s is on its way to the server",
	"respond": "no answer is on its way to %s",
	"deliver": "there is no frame for %s",
	"apply":   "%s has applied all events, or is held",
	"take":    "no key is ready for %s",
	"finish":  "%s reconciles nothing",
	"advance": "the %s stands still: no timer is set, or time may not pass",
	"command": "the %s waits for its last command",
	"start":   "the %s restarts no informer",
}

// ChoiceText says what a step does. commands are those of the script.
func ChoiceText(s *sim.TraceStep, commands []string) string {
	switch s.Kind {
	case "command":
		switch n := int(s.Target); {
		case n < len(commands):
			return fmt.Sprintf("the script runs %q", commands[n])
		case n == len(commands) && n > 0:
			return "the script is over, and all faults end"
		}
		return fmt.Sprintf("the script runs command %d", s.Target+1)
	case "start":
		return "the script starts the informer again"
	case "advance":
		return "time passes until the next timer"
	case "body":
		return "the test's body goes on"
	case "pop":
		return s.Actor + " pops its queue"
	case "handle":
		return s.Actor + " handles a notification"
	case "return":
		return "a call of " + s.Actor + " returns"
	case "wake":
		return "a timer of " + s.Actor + " fires"
	case "apply":
		return s.Actor + " applies an event"
	case "init":
		return s.Actor + " initialises a watch cache"
	case "admit":
		return fmt.Sprintf("request %d of %s reaches its replica", s.Target, s.Actor)
	case "respond":
		return fmt.Sprintf("the answer to request %d reaches %s", s.Target, s.Actor)
	case "deliver":
		return fmt.Sprintf("a frame of watch %d reaches %s", s.Target, s.Actor)
	case "take":
		return s.Actor + " takes a key"
	case "finish":
		return "a reconcile of " + s.Actor + " returns"
	}
	if kind, ok := sim.KindByName(s.Kind); ok && kind.Class() == sim.ClassFault {
		return fmt.Sprintf("the fault %s hits %s", s.Kind, s.Actor)
	}
	return fmt.Sprintf("%s does %s (target %d)", s.Actor, s.Kind, s.Target)
}

func recordTexts(s *sim.TraceStep) []string {
	texts := make([]string, len(s.Records))
	for i := range s.Records {
		texts[i] = RecordText(&s.Records[i])
	}
	return texts
}

// RecordText says what a record reports.
func RecordText(r *sim.TraceRecord) string {
	at := revision(r)
	switch r.Kind {
	case "commit":
		return fmt.Sprintf("the %s commits %s of %s%s", r.Actor, r.Detail, r.Key, at)
	case "apply":
		return fmt.Sprintf("%s applies %s of %s%s", r.Actor, r.Detail, r.Key, at)
	case "request":
		return fmt.Sprintf("%s sends request %d for %s: %s", r.Actor, r.N, r.Key, Asked(r))
	case "response":
		return fmt.Sprintf("request %d of %s is answered: %s", r.N, r.Actor, r.Detail)
	case "page":
		return fmt.Sprintf("%s gets a list of %d objects%s (%s)", r.Actor, r.N, at, r.Detail)
	case "frame":
		return WithNote(strings.TrimSpace(fmt.Sprintf("watch %d of %s delivers %s %s", r.N, r.Actor, r.Detail, r.Key))+at, r)
	case "watch-closed":
		return fmt.Sprintf("watch %d of %s ends: %s", r.N, r.Actor, r.Detail)
	case "fault":
		return fmt.Sprintf("the fault %s hits %s", r.Detail, r.Key)
	case "replace":
		text := fmt.Sprintf("%s replaces its queue's content with a list of %d objects%s", r.Actor, r.N, at)
		if r.Detail != "" {
			text += " (" + r.Detail + ")"
		}
		return text
	case "tombstone":
		return fmt.Sprintf("%s queues a tombstone for %s, which is not in the list%s", r.Actor, objectOf(r.Key), at)
	case "indexer":
		return fmt.Sprintf("the Indexer of %s changes: %s %s%s", r.Actor, r.Detail, r.Key, at)
	case "notify":
		old := ""
		if r.N != 0 {
			old = fmt.Sprintf(" (before: rv=%d)", r.N)
		}
		return fmt.Sprintf("%s is notified: %s %s%s%s", r.Actor, r.Detail, r.Key, at, old)
	case "synced":
		return r.Actor + " has synced"
	case "restarted":
		return r.Actor + " is started again"
	case "resync":
		return fmt.Sprintf("%s resyncs %d objects", r.Actor, r.N)
	case "backoff":
		return fmt.Sprintf("%s backs off for %v: %s", r.Actor, time.Duration(r.N), r.Detail)
	case "enqueue":
		return fmt.Sprintf("%s adds %s to its queue", r.Actor, r.Key)
	case "reconcile":
		return fmt.Sprintf("%s begins to reconcile %s%s", r.Actor, r.Key, at)
	case "reconciled":
		return r.Actor + " " + reconciledText(r)
	case "sends":
		return fmt.Sprintf("%s sends it for %s", r.Actor, r.Key)
	}
	text := r.Actor + ": " + rawText(r)
	if r.N != 0 && r.Kind != "response" {
		text += fmt.Sprintf(" n=%d", r.N)
	}
	return text
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
