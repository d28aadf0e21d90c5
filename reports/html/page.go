package html

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/timeline"
)

// page is what page.html shows.
type page struct {
	Title      string
	Passed     bool
	Word       string // PASS, FAIL, or what else the run did
	Sentence   string
	Long       bool     // the sentence is
	More       []string // what else the message says
	Statement  string
	Where      string
	Facts      []fact
	Because    []step
	Story      []step
	Twin       *twin
	Commands   []string
	ShrunkFrom string
	Mutation   string
	Cut        string   // what of the run is not in the diagram
	Ended      string   // why the trace has no end of its own, of a run whose verdict is known even so
	Begun      []string // what had not ended then
	Advice     string
	Objects    []table
	Fewer      string // which objects are left out of the tables
	Faults     []step
	FaultSum   string
	InForce    []string
	Down       []string
	Unattended []string
	Requests   []request
	FewerAsked string
	Checked    []reports.Checked
	Unjudged   []reports.Unjudged
	Broken     string // the property
	Script     string
	HasSteps   bool
	Mismatches []reports.Mismatch

	Style      template.CSS
	Code       template.JS
	ScriptHash string
	Data       template.JS
}

type fact struct{ Name, Text string }

// step is a line that leads to a step of the diagram.
type step struct {
	N     uint64
	At    string
	Actor string
	Text  string
}

type request struct {
	timeline.Request
	Sent, Answered string
}

// The most lines of a list.
const (
	maxFaults   = 100
	maxRequests = 200
	maxScript   = 40_000 // bytes
)

func pageOf(t *timeline.Timeline, c choice, tight bool) *page {
	r := &t.Run
	p := &page{Passed: t.Passed(), HasSteps: len(t.Steps) > 0, Ended: t.Broken, Mismatches: r.Mismatches, InForce: t.Conclusion.InForce, Down: t.Conclusion.Down, Unattended: t.Conclusion.Unattended}
	p.verdict(t)
	p.facts(t)
	for _, e := range t.Because() {
		p.Because = append(p.Because, step{N: e.Step, At: clock(e.At), Text: e.Text})
	}
	var of *timeline.Object
	upTo := uint64(0)
	if all := t.Involved(); len(all) > 0 && (t.Named() || len(t.Objects) == 1) {
		of = all[0]
	}
	if r.Violation != nil {
		upTo = r.Violation.Step
	}
	for _, l := range t.Story(of, upTo) {
		p.Story = append(p.Story, step{l.Step, clock(l.At), l.Actor, l.Text})
	}
	p.Twin = twinOf(t.Conclusion.Twin)
	p.Commands, p.ShrunkFrom, p.Mutation = t.Commands(), r.ShrunkFrom, r.Mutation()
	if c.kept < len(t.Steps) {
		p.Cut = fmt.Sprintf("This run has %d steps; %d of them are in the diagram: %s. The rest is left out to keep this file small, and shown as gaps; the trace has all of it.",
			len(t.Steps), c.kept, whatIsKept(t))
	}
	p.tables(t, tight)
	p.lists(t, tight)
	return p
}

func whatIsKept(t *timeline.Timeline) string {
	if t.Conclusion.Violation != nil {
		return "those before the violation, its evidence, the last ones about its objects, the last faults and lists, and the first steps"
	}
	return "the last ones, the last about the objects named, the last faults and lists, and the first steps"
}

func (p *page) verdict(t *timeline.Timeline) {
	r, v := &t.Run, t.Conclusion.Violation
	switch {
	case v != nil:
		p.Word, p.Broken, p.Statement = "FAIL", v.Property, r.Statement
		if p.Passed {
			p.Word = "PASS, as expected"
		}
		p.Sentence, p.More = firstParagraph(v.Message)
		p.Where = fmt.Sprintf("breaks %s at step %d, after %s", v.Property, v.Step, clock(v.At))
	case t.Ending() != nil:
		e := t.Ending()
		p.Word, p.Sentence, p.Ended = e.Word, e.Sentence+".", ""
		if r.Failure != "" {
			var more []string
			p.Sentence, more = firstParagraph(r.Failure)
			p.More = append([]string{e.Sentence + "."}, more...)
		}
		if e.Begun != "" {
			p.Begun = append(p.Begun, fmt.Sprintf("step %d, which is not in the trace: %s", len(t.Steps)+1, e.Begun))
		}
		p.Begun = append(p.Begun, e.InFlight...)
		p.Advice = e.Advice
	case r.Failure != "":
		p.Word = "FAIL"
		p.Sentence, p.More = firstParagraph(r.Failure)
	case p.Passed && len(t.Conclusion.Checked) > 0:
		p.Word, p.Sentence = "PASS", fmt.Sprintf("All %d properties held after every step.", len(t.Conclusion.Checked))
	case p.Passed:
		p.Word, p.Sentence = "PASS", "The run passed."
	case t.End.Verdict == "mismatch":
		p.Word, p.Sentence = "FAIL", "The transcript is not as expected."
	case t.End.Verdict == "held":
		p.Word, p.Sentence = "FAIL", fmt.Sprintf("The scenario should break %s, but it held.", r.Expected)
	default:
		p.Word, p.Sentence = "FAIL", "The run "+reports.Ended(t.End.Verdict)+". The trace does not say more: its program wrote no account of its end."
		p.Broken = t.End.Verdict
	}
	p.Long = len(p.Sentence) > 220
	p.Title = p.Word + " · " + r.Scenario + " · seed " + fmt.Sprint(r.Seed)
}

// firstParagraph splits a message after its first line.
func firstParagraph(text string) (first string, more []string) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	const most = 60
	if len(lines) > most {
		lines = append(lines[:most], fmt.Sprintf("(%d more lines)", len(lines)-most))
	}
	return lines[0], lines[1:]
}

func (p *page) facts(t *timeline.Timeline) {
	r := &t.Run
	add := func(name, text string) {
		if text != "" {
			p.Facts = append(p.Facts, fact{name, text})
		}
	}
	add("scenario", r.Scenario)
	add("subject", r.Subject)
	add("strategy", r.Strategy)
	add("seed", fmt.Sprint(r.Seed))
	add("fault mix", r.Mix)
	length := fmt.Sprintf("%s, %s of virtual time", reports.Counted(len(t.Steps), "step"), clock(r.Virtual))
	if r.Converging > 0 {
		length += ", " + clock(r.Converging) + " of it after the faults"
	}
	add("length", length)
	add("faults", reports.Counted(r.FaultTotal(), "fault"))
	traffic := fmt.Sprintf("%s, %s, %s", reports.Counted(r.Commits, "write"), reports.Counted(r.Requests, "request"), reports.Counted(r.Frames, "watch event"))
	if !r.APIOnly {
		traffic += ", " + reports.Counted(r.Notifications, "notification")
	}
	if r.Reconciles > 0 {
		traffic += ", " + reports.Counted(r.Reconciles, "reconcile")
	}
	add("traffic", traffic)
	if build := t.Header.Versions; len(build) > 0 {
		add("written by", reports.Build(build))
	}
	if t.End != nil {
		add("hash", t.End.Hash)
	}
}

func (p *page) lists(t *timeline.Timeline, tight bool) {
	most := maxRequests
	if tight {
		most /= 4
	}
	faults := t.Faults
	if n := len(faults) - min(maxFaults, most); n > 0 {
		faults = faults[n:]
		p.FaultSum = fmt.Sprintf("The last %d of %d. ", len(faults), len(t.Faults))
	}
	for _, f := range t.Run.Faults {
		p.FaultSum += fmt.Sprintf("%s ×%d, ", f.Name, f.Count)
	}
	p.FaultSum = strings.TrimSuffix(p.FaultSum, ", ")
	for _, f := range faults {
		p.Faults = append(p.Faults, step{f.Step, clock(f.At), f.Victim, f.Name})
	}
	asked := slices.Clone(t.Requests)
	if len(asked) > most {
		p.FewerAsked = fmt.Sprintf("The last %d of %d.", most, len(asked))
		asked = asked[len(asked)-most:]
	}
	for _, q := range asked {
		x := request{Request: *q, Sent: clock(q.At)}
		if q.AnswerStep > 0 {
			x.Answered = clock(q.AnswerAt)
		}
		p.Requests = append(p.Requests, x)
	}
	p.Checked, p.Unjudged = t.Conclusion.Checked, t.Conclusion.Unjudged
	p.Script = t.Header.Script
	limit := maxScript
	if tight {
		limit /= 10
	}
	if len(p.Script) > limit {
		p.Script = strings.ToValidUTF8(p.Script[:limit], "") + "\n… (the rest is left out; the trace has all of it)"
	}
}

// clock formats a virtual time: of one beyond an hour nobody asks for milliseconds.
func clock(d time.Duration) string {
	if d < time.Hour {
		return reports.Rounded(d)
	}
	return d.Round(time.Second).String()
}

// involved returns the keys of the objects that the run is about; none if it names none and has many.
func involved(t *timeline.Timeline) map[string]bool {
	keys := map[string]bool{}
	if !t.Named() && len(t.Objects) > maxTables {
		return keys
	}
	for _, o := range t.Involved() {
		keys[o.Key] = true
	}
	return keys
}
