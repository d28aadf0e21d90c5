package timeline

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
)

// Involved returns the objects that a failure is about, those that the violation names, or else those that were
// touched last.
func (t *Timeline) Involved() []*Object {
	of := reports.Involved{Message: t.Conclusion.Failure}
	if v := t.Conclusion.Violation; v != nil {
		of = reports.Involved{Key: v.Key, Message: v.Message}
	}
	all := slices.Clone(t.Objects)
	slices.SortStableFunc(all, func(x, y *Object) int {
		return cmp.Or(cmp.Compare(mentions(of.Message, x.Key), mentions(of.Message, y.Key)), cmp.Compare(y.last().Step, x.last().Step))
	})
	keys, by := make([]string, len(all)), map[string]*Object{}
	for i, o := range all {
		keys[i], by[o.Key] = o.Key, o
	}
	var some []*Object
	for _, key := range of.Among(keys) {
		some = append(some, by[key])
	}
	return some
}

// mentions ranks an object by how often a message names it, which compares what is with what should be: what is named once is in only one
// of them. What it does not name comes last.
func mentions(message, key string) int {
	_, object, _ := strings.Cut(key, " ")
	n := 0
	for rest := message; object != ""; n++ {
		i := strings.Index(rest, object)
		if i < 0 {
			break
		}
		rest = rest[i+len(object):]
	}
	if n == 0 {
		return len(message)
	}
	return n
}

func (o *Object) last() *Version { return &o.Versions[len(o.Versions)-1] }

// Named reports whether the failure names an object.
func (t *Timeline) Named() bool {
	v := t.Conclusion.Violation
	return v != nil && t.Object(v.Key) != nil || len(t.Involved()) < len(t.Objects)
}

// event is a line of a story in the making.
type event struct {
	reports.Line
	like   string // those that are alike may be told together
	client string
	core   bool // it is about the object, and never left out for others
}

// Story tells in up to [reports.MaxStory] lines what happened to an object up to a step (0 for the end), with the faults, lists and watches
// that explain it; with nil, those and the last writes of the objects that were touched last, so that a story ends where the run does. What
// happened again and again is one line.
func (t *Timeline) Story(of *Object, upTo uint64) []reports.Line {
	if upTo == 0 {
		upTo = uint64(len(t.Steps))
	}
	var all []event
	about := t.speaksOf()
	for i := range t.Faults {
		f := &t.Faults[i]
		if client, ok := strings.CutPrefix(f.Victim, "conn/"); ok && !about(client) {
			continue
		}
		if of != nil && (!hearing(f.Name) || strings.HasPrefix(f.Victim, "conn/") && !t.Wants(strings.TrimPrefix(f.Victim, "conn/"), of)) {
			continue
		}
		all = append(all, event{Line: line(f.Step, f.At, f.Victim, "FAULT "+f.Name), like: "fault " + f.Name + f.Victim})
	}
	for _, q := range t.Requests {
		if !about(q.Client) {
			continue
		}
		if of == nil || strings.HasPrefix(of.Key, q.Resource+" ") || q.Resource == "" {
			all = append(all, q.events(of, upTo)...)
		}
	}
	for i := range t.Bands {
		if b := &t.Bands[i]; strings.HasPrefix(b.Text, "held") || strings.HasPrefix(b.Text, "the process is down") {
			all = append(all, event{Line: line(uint64(b.From+1), t.Steps[b.From].At, t.Lanes[b.Lane].Name, b.Text)})
		}
	}
	all = append(all, t.reconcileEvents(of, upTo)...)
	if of != nil {
		all = append(all, t.versionEvents(of)...)
	} else {
		all = append(all, t.lastWrites()...)
	}
	all = slices.DeleteFunc(all, func(e event) bool { return e.Step > upTo || e.Step == 0 })
	slices.SortStableFunc(all, func(x, y event) int { return cmp.Compare(x.Step, y.Step) })
	if of == nil {
		for i := range all {
			if strings.HasSuffix(all[i].like, "watch opens") || strings.HasSuffix(all[i].like, "list") {
				all[i].like = ""
			}
		}
	}
	all = t.folded(all)
	if of != nil && t.Named() && t.Breaks() {
		all = append(all, t.missing(of, upTo)...)
	}
	return shortened(all, reports.MaxStory)
}

// missing are the places that an object's newest version has not got to, if the trace ends with that step.
func (t *Timeline) missing(of *Object, upTo uint64) []event {
	if upTo < uint64(len(t.Steps)) {
		return nil
	}
	const most = 4
	for _, s := range of.last().Stages {
		if s.Step == upTo {
			return nil // it is on its way
		}
	}
	x := t.explained(of)
	var all []event
	for i, e := range x.missing[:min(len(x.missing), most)] {
		text := strings.TrimPrefix(strings.TrimPrefix(e.Text, "the "), x.who[i]+" ")
		all = append(all, event{Line: line(e.Step, e.At, x.who[i], text), core: true})
	}
	return all
}

// Object returns the object of that key, with or without its resource; nil if there is none.
func (t *Timeline) Object(key string) *Object {
	for _, o := range t.Objects {
		if _, object, _ := strings.Cut(o.Key, " "); key != "" && (o.Key == key || object == key) {
			return o
		}
	}
	return nil
}

// speaksOf returns a function that reports whether the verdict is about a client: if it names some, it is not about the others.
func (t *Timeline) speaksOf() func(client string) bool {
	named := map[string]bool{}
	if v := t.Conclusion.Violation; v != nil {
		clients := map[string]string{} // by the words that name them
		for _, l := range t.Lanes {
			if l.Owner != "" {
				clients[l.Name], clients[l.Owner] = l.Owner, l.Owner
			}
		}
		for word := range strings.FieldsFuncSeq(v.Message, func(r rune) bool { return strings.ContainsRune(" ,;:\n", r) }) {
			if owner, ok := clients[word]; ok {
				named[owner] = true
			}
		}
	}
	return func(client string) bool { return len(named) == 0 || named[client] }
}

func line(step uint64, at time.Duration, actor, text string) reports.Line {
	return reports.Line{Step: step, At: at, Actor: actor, Text: text}
}

var fromRevision = regexp.MustCompile(`rv="(\d*)"`)

// from says from which revision a watch was opened, or which one a list asked for.
func (q *Request) from() string {
	if m := fromRevision.FindStringSubmatch(q.What); m != nil {
		return " from rv=" + cmp.Or(m[1], `""`)
	}
	return ""
}

// code shortens an answer to what two of a kind have in common.
func code(answer string) string {
	word, _, _ := strings.Cut(answer, ":")
	return word
}

// events are what there is to say of a list or a watch.
func (q *Request) events(of *Object, upTo uint64) []event {
	actor := "conn/" + q.Client
	watch, list := q.watch(), strings.HasPrefix(q.What, "list")
	switch {
	case !watch && !list:
		if q.Failed && (of == nil || strings.HasSuffix(of.Key, " "+q.What[strings.LastIndex(q.What, " ")+1:])) {
			return []event{{Line: line(q.AnswerStep, q.AnswerAt, actor, fmt.Sprintf("request %d, %s of %s, fails: %s", q.N, q.What, q.Resource, q.Answer)), like: actor + q.What + code(q.Answer), client: q.Client}}
		}
		return nil
	case (q.AnswerStep == 0 || q.AnswerStep > upTo) && q.Step == upTo:
		return nil // nothing could have come of it
	case q.AnswerStep == 0 || q.AnswerStep > upTo:
		return []event{{Line: line(q.Step, q.At, actor, fmt.Sprintf("request %d (%s) is not answered", q.N, q.What)), like: actor + "unanswered", client: q.Client}}
	case q.Failed && watch:
		return []event{{Line: line(q.AnswerStep, q.AnswerAt, actor, fmt.Sprintf("watch %d%s is refused: %s", q.N, q.from(), q.Answer)),
			like: actor + "watch refused " + code(q.Answer), client: q.Client}}
	case q.Failed:
		return []event{{Line: line(q.AnswerStep, q.AnswerAt, actor, fmt.Sprintf("list %d fails: %s", q.N, q.Answer)), like: actor + "list fails " + code(q.Answer), client: q.Client}}
	case list:
		return []event{{Line: line(q.AnswerStep, q.AnswerAt, actor, fmt.Sprintf("list %d is answered: %s", q.N, strings.TrimPrefix(q.Answer, "200 OK, "))), client: q.Client, like: actor + "list"}}
	}
	all := []event{{Line: line(q.AnswerStep, q.AnswerAt, actor, fmt.Sprintf("watch %d opens%s", q.N, q.from())), like: actor + "watch opens", client: q.Client}}
	if q.EndedStep > 0 && !renewed(q.Ended) {
		all = append(all, event{Line: line(q.EndedStep, q.EndedAt, actor, fmt.Sprintf("watch %d, opened%s, ends: %s", q.N, q.from(), q.Ended)), like: actor + "watch ends " + code(q.Ended), client: q.Client})
	}
	return all
}

// stageWords say what an arrival is.
var stageWords = map[PartKind]string{PartDelivered: "is sent", PartIndexer: "has", PartTold: "is told"}

// versionEvents are the writes of an object and where each got to.
func (t *Timeline) versionEvents(of *Object) []event {
	var all []event
	const most = 4 // of one version there are several lines
	for i := max(0, len(of.Versions)-most); i < len(of.Versions); i++ {
		v := &of.Versions[i]
		write := line(v.Step, v.At, "cluster", fmt.Sprintf("commits %s of %s at rv=%d", v.What, of.Key, v.RV))
		if v.Request != nil {
			write.Actor, write.Text = v.Request.By.Worker, v.deed(of.Key)
		}
		all = append(all, event{Line: write, core: true})
		for _, s := range v.Stages {
			word, ok := stageWords[s.Kind]
			if !ok {
				continue
			}
			text := fmt.Sprintf("%s %s at rv=%d", word, v.What, v.RV)
			if v.Deleted() && s.Kind == PartIndexer {
				text = "no longer has it"
			}
			if s.Left {
				text = fmt.Sprintf("is sent DELETED at rv=%d, as it no longer selects it", v.RV)
			}
			if s.How != "" {
				text = fmt.Sprintf("learns of %s at rv=%d by a %s", v.What, v.RV, s.How)
			}
			all = append(all, event{Line: line(s.Step, s.At, t.Lanes[s.Lane].Name, text), core: s.How == ""})
		}
	}
	return all
}

// lastWrites are what happened last, of a run whose verdict names no object. A list or a watch that worked is told for itself then: the last
// one may be the one that matters.
func (t *Timeline) lastWrites() []event {
	const most = 3
	var all []event
	for _, o := range t.Involved()[:min(most, len(t.Objects))] {
		for _, e := range t.versionEvents(o) {
			e.core = false
			if !strings.Contains(e.Text, o.Key) {
				e.Text += ": " + o.Key
			}
			all = append(all, e)
		}
	}
	return all
}

// foldFrom is how often something has to happen to be told in one line.
const foldFrom = 3

// folded tells what happened again and again in one line, at its first time.
func (t *Timeline) folded(all []event) []event {
	runs := map[string][]event{}
	for _, e := range all {
		if e.like != "" {
			runs[e.like] = append(runs[e.like], e)
		}
	}
	var lines []event
	for _, e := range all {
		run := runs[e.like]
		switch {
		case len(run) < foldFrom:
			lines = append(lines, e)
		case run[0].Step == e.Step && run[0].Text == e.Text:
			e.Text = fmt.Sprintf("%d × %s (the first; until step %d)%s", len(run), e.Text, run[len(run)-1].Step, t.unanswered(run))
			lines = append(lines, e)
		}
	}
	return lines
}

// unanswered says that a client whose watches fail again and again was never answered by a list meanwhile.
func (t *Timeline) unanswered(run []event) string {
	if !strings.Contains(run[0].like, "watch") || strings.Contains(run[0].like, "watch opens") || run[0].client == "" {
		return ""
	}
	for _, q := range t.Requests {
		if q.Client == run[0].client && strings.HasPrefix(q.What, "list") && !q.Failed && q.AnswerStep >= run[0].Step {
			return ""
		}
	}
	return ", never answered by a list"
}

// shortened leaves out the oldest lines that are not about the object, then the oldest.
func shortened(all []event, n int) []reports.Line {
	surplus := len(all) - n
	all = slices.DeleteFunc(all, func(e event) bool { // from the oldest on, once
		if surplus <= 0 || e.core {
			return false
		}
		surplus--
		return true
	})
	if len(all) > n {
		all = all[len(all)-n:]
	}
	lines := make([]reports.Line, len(all))
	for i, e := range all {
		lines[i] = e.Line
	}
	return lines
}
