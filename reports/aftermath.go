package reports

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
)

// The most lines of each part of an aftermath.
const (
	maxFaults   = 12
	maxObjects  = 8
	maxDeeds    = 12
	maxRefusals = 8
)

// Involved says which objects a failure is about: those with this key, or else those that the message names, each with those named after
// it; or else those that were touched last.
type Involved struct {
	Key     string // "default/a", or "pods default/a"
	Message string
	Told    uint64 // the step with which the story begins; 0 if there is none

	// Own are the clients of the test's body, as actors, if it failed: what they met may be why.
	Own []string
}

// Aftermath tells from a trace what a story's last lines rarely show: which faults were injected, the last that was done to each object
// involved, and which requests failed. The caller knows what is still in force.
func Aftermath(r *sim.TraceReader, of Involved, inForce []string) ([]Section, error) {
	a := aftermath{objects: map[string]*touched{}, requests: map[request]asked{}, senders: map[request]string{}, refusals: map[string]*refusal{}, deeds: map[string]*tail{}, met: map[string]*met{}, failing: map[string]*failing{}}
	var end time.Duration
	var err error
	for {
		var s *sim.TraceStep
		if s, err = r.Next(); err != nil {
			break
		}
		end = time.Duration(s.At)
		for i := range s.Records {
			a.record(s, &s.Records[i])
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	var sections []Section
	for _, s := range []Section{a.metSection(of.Own), a.faultSection(inForce), a.objectSection(of), a.deedSection(of), a.refusalSection(), a.putOffSection(end)} {
		if len(s.Lines) > 0 {
			sections = append(sections, s)
		}
	}
	return sections, err
}

// aftermath gathers what the sections need.
type aftermath struct {
	faults   []Line
	objects  map[string]*touched // by "pods default/a"
	requests map[request]asked   // in flight
	senders  map[request]string  // the reconcile that sent it, if that is known
	refusals map[string]*refusal // by actor, request and answer
	deeds    map[string]*tail    // what was done to an object, asked for and told, by "pods default/a"
	listings []listing           // by client and resource, in the order of the first one
	met      map[string]*met     // by client
	failing  map[string]*failing // by controller and object
}

type request struct {
	actor string
	n     int64
}

// asked is what a request asks for.
type asked struct {
	resource string
	object   string // as a key, "" if it names none
	text     string
	list     bool
}

// touched is the last that was done to an object.
type touched struct {
	commit Line
	rv     int64
	made   Line       // its creation, the last one
	since  int64      // the revision of the first write
	seen   []sighting // by client, in the order of their first sight
}

type sighting struct {
	client string
	rv     int64
	line   Line
}

// listing is the last list of a resource that a client was given.
type listing struct {
	client, resource string
	rv               int64
	line             Line
}

// refusal is a request that failed, maybe often.
type refusal struct {
	first, last Line
	times       int
}

func (a *aftermath) record(s *sim.TraceStep, r *sim.TraceRecord) {
	at := s.At
	if r.At != nil {
		at = *r.At
	}
	line := Line{Step: s.Step, At: time.Duration(at), Actor: r.Actor}
	switch r.Kind {
	case "fault":
		line.Text = fmt.Sprintf("%s hits %s", r.Detail, r.Key)
		a.faults = append(a.faults, line)
		a.struck(r.Key, r.Detail)
	case "reconcile":
		a.reconciling(r.Actor, r.Key, "", line)
	case "reconciled":
		a.reconciling(r.Actor, r.Key, r.Detail, line)
	case "process":
		clear(a.failing) // its queues are new; whose controllers they are is not known
		if r.Detail == "crashed" {
			line.Text = "crash of " + r.Actor
			a.faults = append(a.faults, line)
		}
	case "commit":
		o := a.object(r.Key)
		line.Text = fmt.Sprintf("%s by %s", r.Detail, s.Actor)
		if by := a.senders[request{s.Actor, int64(s.Target)}]; by != "" && s.Kind == "admit" {
			line.Text += ", sent by " + by
		}
		if o.since == 0 {
			o.since = r.RV
		}
		if o.commit, o.rv = line, r.RV; r.Detail == "ADDED" {
			o.made = line
		}
		a.deed(r.Key, r, line)
	case "frame":
		if r.Key != "" {
			a.seen(r, line)
			a.deed(r.Key, r, line)
		}
	case "request":
		q := asked{resource: r.Key, object: askedOf(r), text: strings.TrimSpace(r.Key + " " + Asked(r)), list: strings.HasPrefix(r.Detail, "list")}
		a.requests[request{r.Actor, r.N}] = q
		a.deed(q.object, r, line)
	case "sends":
		a.senders[request{"conn/" + r.Detail, r.N}] = r.Actor + " for " + r.Key
	case "response":
		if !strings.HasPrefix(r.Detail, "2") && r.Detail != "ok" {
			a.refused(request{r.Actor, r.N}, line, r.Detail)
			a.deed(a.requests[request{r.Actor, r.N}].object, r, line)
		} else {
			a.answered(r.Actor, nil)
		}
		delete(a.requests, request{r.Actor, r.N})
	case "page":
		var n int64
		if _, err := fmt.Sscanf(r.Detail, "request=%d", &n); err == nil {
			if _, why, failed := strings.Cut(r.Detail, " 404 "); failed {
				a.refused(request{r.Actor, n}, line, "404 "+why)
			} else {
				a.answered(r.Actor, nil)
				a.listed(request{r.Actor, n}, r.RV, line)
			}
			delete(a.requests, request{r.Actor, n})
		}
	}
}

func (a *aftermath) object(key string) *touched {
	o := a.objects[key]
	if o == nil {
		o = &touched{}
		a.objects[key] = o
	}
	return o
}

// askedOf is the object that a request names, "" if it names none.
func askedOf(r *sim.TraceRecord) string {
	path := r.Detail
	if !strings.HasPrefix(r.Note, "/") { // a subresource is part of its object
		path = Asked(r)
	}
	words := strings.Fields(path)
	if len(words) < 2 || words[0] == "list" || words[0] == "watch" || strings.HasSuffix(path, "/") || strings.HasSuffix(path, "*") {
		return ""
	}
	return r.Key + " " + words[len(words)-1]
}

// deed notes what was done to an object, in the story's words.
func (a *aftermath) deed(key string, r *sim.TraceRecord, line Line) {
	if key == "" {
		return
	}
	var told bool
	if line.Text, told = tell(r, " of "+r.Key); !told {
		line.Text = rawText(r)
	}
	if a.deeds[key] == nil {
		a.deeds[key] = &tail{n: maxDeeds}
	}
	a.deeds[key].add(line)
}

func (a *aftermath) seen(r *sim.TraceRecord, line Line) {
	o := a.object(r.Key)
	i := slices.IndexFunc(o.seen, func(s sighting) bool { return s.client == r.Actor })
	if i < 0 {
		i = len(o.seen)
		o.seen = append(o.seen, sighting{client: r.Actor})
	}
	line.Text = r.Detail
	o.seen[i].rv, o.seen[i].line = r.RV, line
}

// listed notes the answer to a list.
func (a *aftermath) listed(q request, rv int64, line Line) {
	asked := a.requests[q]
	if !asked.list {
		return
	}
	i := slices.IndexFunc(a.listings, func(l listing) bool { return l.client == q.actor && l.resource == asked.resource })
	if i < 0 {
		i = len(a.listings)
		a.listings = append(a.listings, listing{client: q.actor, resource: asked.resource})
	}
	a.listings[i].rv, a.listings[i].line = rv, line
}

// learned says how clients learned of an object last: from their watches, and from lists after that, which have what no watch told. A list from before the
// object tells nothing of it.
func (a *aftermath) learned(key string, o *touched) (lines []string) {
	told := map[string]uint64{}
	for _, v := range o.seen {
		behind := ""
		if v.rv < o.rv {
			behind = fmt.Sprintf(" (rv=%d)", v.rv)
		}
		told[v.client] = v.line.Step
		lines = append(lines, fmt.Sprintf("%s was sent %s at step %d (%s)%s", PlainLine(v.client), PlainLine(v.line.Text), v.line.Step, Rounded(v.line.At), behind))
	}
	resource, _, _ := strings.Cut(key, " ")
	for _, l := range a.listings {
		if l.resource == resource && l.rv >= o.since && l.line.Step > told[l.client] {
			lines = append(lines, fmt.Sprintf("%s listed %s at step %d (%s), rv=%d", PlainLine(l.client), PlainLine(resource), l.line.Step, Rounded(l.line.At), l.rv))
		}
	}
	return lines
}

func (a *aftermath) refused(q request, line Line, answer string) {
	line.Text = fmt.Sprintf("%s: %s", a.requests[q].text, answer)
	a.answered(q.actor, &line)
	if fallsBack(answer) {
		return
	}
	key := q.actor + "\x00" + line.Text
	f := a.refusals[key]
	if f == nil {
		f = &refusal{first: line}
		a.refusals[key] = f
	}
	f.last = line
	f.times++
}

// fallsBack reports whether an answer is that of a server without streaming lists to each informer that asks for one, which then lists: the run's header says it
// once, and among the requests that failed it would hide those that matter.
func fallsBack(answer string) bool {
	return strings.HasPrefix(answer, "422 Invalid: ") && strings.Contains(answer, "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")
}

// faultSection lists the last faults.
func (a *aftermath) faultSection(inForce []string) Section {
	s := Section{Title: "faults"}
	if n := len(a.faults) - maxFaults; n > 0 {
		s.Lines = append(s.Lines, fmt.Sprintf("(%d earlier ones)", n))
		a.faults = a.faults[n:]
	}
	for _, f := range a.faults {
		s.Lines = append(s.Lines, fmt.Sprintf("step %-5d %9s  %s", f.Step, Rounded(f.At), PlainLine(f.Text)))
	}
	switch {
	case len(inForce) > 0:
		for _, f := range inForce {
			s.Lines = append(s.Lines, "still in force: "+PlainLine(f))
		}
	case len(s.Lines) > 0:
		s.Lines = append(s.Lines, "none is in force any more")
	}
	return s
}

// objectSection says of each object involved who wrote it last, who created it, and who has learned of the last.
func (a *aftermath) objectSection(of Involved) Section {
	keys := a.involved(of)
	s := Section{Title: "the last of each object"}
	if len(keys) > maxObjects {
		s.Title += fmt.Sprintf(" (%d of %d)", maxObjects, len(keys))
		keys = keys[:maxObjects]
	}
	for _, key := range keys {
		o := a.objects[key]
		text := PlainLine(key) + ": "
		if o.rv == 0 {
			text += "never written in this run"
		} else {
			text += fmt.Sprintf("%s at step %d (%s), rv=%d", PlainLine(o.commit.Text), o.commit.Step, Rounded(o.commit.At), o.rv)
			if o.made != (Line{}) && o.made != o.commit {
				text += fmt.Sprintf("; %s at step %d (%s)", PlainLine(o.made.Text), o.made.Step, Rounded(o.made.At))
			}
		}
		for _, line := range a.learned(key, o) {
			text += "\n" + line
		}
		s.Lines = append(s.Lines, text)
	}
	return s
}

// deedSection tells what happened last to the objects that the failure names, where the story's last lines are about others.
func (a *aftermath) deedSection(of Involved) Section {
	keys := of.Among(slices.Sorted(maps.Keys(a.deeds)))
	if len(keys) == len(a.deeds) {
		return Section{} // it names none
	}
	var all []Line
	for _, key := range keys {
		all = append(all, a.deeds[key].lines...)
	}
	slices.SortStableFunc(all, func(x, y Line) int { return cmp.Compare(x.Step, y.Step) })
	if len(all) > maxDeeds {
		all = all[len(all)-maxDeeds:]
	}
	s := Section{Title: "what happened to " + PlainLine(strings.Join(keys, ", "))}
	if len(keys) > 2 {
		s.Title = "what happened to these objects"
	}
	if len(all) == 0 || all[0].Step >= of.Told {
		return Section{}
	}
	for _, l := range all {
		s.Lines = append(s.Lines, l.String())
	}
	return s
}

// involved returns the keys of the objects involved, the last written first.
func (a *aftermath) involved(of Involved) []string {
	var all []string
	for key := range a.objects { // order: sorted below
		all = append(all, key)
	}
	slices.SortFunc(all, func(x, y string) int {
		return cmp.Or(cmp.Compare(a.objects[y].commit.Step, a.objects[x].commit.Step), strings.Compare(x, y))
	})
	return of.Among(all)
}

// Among returns the keys of those objects, in their order; all if the failure names none of them.
func (of Involved) Among(all []string) []string {
	for _, matches := range []func(key string) bool{
		func(key string) bool { return of.Key != "" && (key == of.Key || objectOf(key) == of.Key) },
		func(key string) bool { return names(of.Message, objectOf(key)) },
		func(key string) bool {
			_, name, namespaced := strings.Cut(objectOf(key), "/")
			const shortest = 2 // "a" is a word of its own
			return namespaced && len(name) >= shortest && names(of.Message, name)
		},
	} {
		if some := slices.DeleteFunc(slices.Clone(all), func(key string) bool { return !matches(key) }); len(some) > 0 {
			return slices.DeleteFunc(all, func(key string) bool {
				return !slices.ContainsFunc(some, func(named string) bool { return key == named || namedAfter(key, named) })
			})
		}
	}
	return all
}

// namedAfter reports whether an object has another's name as the beginning of its own, as what a controller makes for it often has.
func namedAfter(key, other string) bool { return strings.HasPrefix(objectOf(key), objectOf(other)+"-") }

// names reports whether a text has the name as a word of its own.
func names(text, name string) bool {
	for from := 0; name != ""; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		begin := from + i
		end := begin + len(name)
		if (begin == 0 || !inName(text[begin-1])) && (end == len(text) || !inName(text[end])) {
			return true
		}
		from = begin + 1
	}
	return false
}

func inName(c byte) bool {
	return c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// refusalSection lists the requests that failed, the last ones, equal ones once.
func (a *aftermath) refusalSection() Section {
	var all []*refusal
	for _, f := range a.refusals { // order: sorted below
		all = append(all, f)
	}
	slices.SortFunc(all, func(x, y *refusal) int {
		return cmp.Or(cmp.Compare(x.last.Step, y.last.Step), strings.Compare(x.last.Actor, y.last.Actor), strings.Compare(x.last.Text, y.last.Text))
	})
	s := Section{Title: "requests that failed"}
	if n := len(all) - maxRefusals; n > 0 {
		s.Lines = append(s.Lines, fmt.Sprintf("(%d others earlier)", n))
		all = all[n:]
	}
	for _, f := range all {
		text := f.last.String()
		if f.times > 1 {
			text += fmt.Sprintf(" (×%d, since step %d)", f.times, f.first.Step)
		}
		s.Lines = append(s.Lines, text)
	}
	return s
}
