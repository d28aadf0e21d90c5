package wellbehaved

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameEndless is the name of the property that wants to know what is logged.
const NameEndless = "NoEndlessError"

// apart is how far the first and the last of what counts as repeated are apart, at least: what every informer of a program meets at one time is no repetition.
const apart = time.Minute

// Logged is an error that the program has logged.
type Logged struct {
	Step uint64
	At   time.Duration
	Text string
}

// Reconciles are the kinds of the records with which a test tells of its controllers' reconciles.
type Reconciles struct {
	Begin, End sim.Kind
	// Sends says that a reconcile has sent a request: N is its number, Detail its client.
	Sends sim.Kind
}

// noEndlessError checks that no reconcile goes on failing when all is done, which its requests need not show: one that fails before it sends any makes none. A test
// tells of reconciles, or the program logs their errors. An error that a refused request is the reason of is not judged, since the server's reason may be a good
// one; nor is one that says that something is not found, as long as the object itself is there: who waits for another may do it so. What never comes but within a
// second of a controller's being told something is a complaint of what it is told, which comes again with each list, as of a reconciler that gives up what is invalid until it changes, or of a
// handler: a retry comes by itself, too. Of the server's reasons to refuse,
// three are judged, and nobody need tell of them: a write that is stale for ever, one that never has the resourceVersion that it needs, and a create of what its sender has made itself.
func noEndlessError(o *Options) property.Property {
	return property.Property{
		Name:      NameEndless,
		Statement: "when nothing has changed from outside for long, no reconcile goes on failing by itself",
		Kinds:     append(o.Reconciles.kinds(), fakeapiserver.KindRequest, fakeapiserver.KindPage, fakeapiserver.KindFrame, fakeapiserver.KindWatchClosed, o.Restarts),
		New: func() property.Checker {
			f := &failures{o: o, conflicts: newConflicts(o), recreates: newRecreates(o), underWay: newUnderWay[reconciling](o.Reconciles), ways: map[way]*failing{}}
			return property.Checker{Record: f.record, End: f.end}
		},
	}
}

// failures follows how reconciles end.
type failures struct {
	underWay[reconciling]
	o         *Options
	conflicts conflicts
	recreates recreates
	ways      map[way]*failing
	order     []way           // of ways
	refused   []string        // what the server has said since the faults stopped
	said      []string        // the errors of reconciles, of those that have succeeded since, too
	heard     []time.Duration // when a controller has been told something since the faults stopped, the earliest first
	fine      []success       // since the faults stopped
}

// reconciling is a reconcile that has begun.
type reconciling struct {
	refused bool
	began   uint64 // its step
}

// success is a reconcile that has succeeded, and does not ask to be called again.
type success struct {
	object   string // its namespace and name
	from, to uint64 // its steps
}

// failing are the reconciles of an object, one after the other, that have failed.
type failing struct {
	ends []reports.Evidence // since the faults stopped
	last string             // the error
	own  bool               // the last one sent no request that was refused
}

func (f *failures) record(w property.World, r *sim.Record) *reports.Violation {
	f.follow(w, r)
	f.conflicts.record(w, r)
	f.recreates.record(w, r)
	switch r.Kind {
	case fakeapiserver.KindResponse:
		f.refuses(r)
	case fakeapiserver.KindRequest:
		if strings.HasPrefix(r.Detail, "watch") { // an informer has its list
			f.hears(r)
		}
	case fakeapiserver.KindFrame:
		if r.Detail != "BOOKMARK" {
			f.hears(r)
		}
	case f.o.Reconciles.Begin:
		f.busy[r.Actor].began = r.Step
	case f.o.Reconciles.End:
		f.ends(w, r)
	case f.o.Restarts:
		clear(f.ways) // its queues are new; whose controllers they are is not known
		f.order = f.order[:0]
	}
	return nil
}

// hears notes that a controller is told something.
func (f *failures) hears(r *sim.Record) {
	if _, calm := f.o.Calm(); calm && f.o.Role(r.Actor) == Controller {
		f.heard = append(f.heard, r.At)
	}
}

// refuses notes what the server has refused.
func (f *failures) refuses(r *sim.Record) {
	by := f.answered(r)
	code, why, _ := strings.Cut(r.Detail, ": ")
	if !strings.HasPrefix(code, "4") && !strings.HasPrefix(code, "5") {
		return
	}
	if by != nil {
		by.refused = true
	}
	if _, calm := f.o.Calm(); calm && why != "" && !slices.Contains(f.refused, why) {
		f.refused = append(f.refused, strings.Clone(why))
	}
}

func (f *failures) ends(w property.World, r *sim.Record) {
	by, at := f.ended(r), wayOf(w, r)
	if why := unquoted(r.Detail); r.Detail != "ok" && !slices.Contains(f.said, why) {
		f.said = append(f.said, strings.Clone(why))
	}
	if _, calm := f.o.Calm(); !calm || f.o.Dead(r.Detail) {
		return
	}
	x := f.ways[at]
	if r.Detail != "ok" && f.o.Probing() {
		return // its writes are made to fail
	}
	if x == nil {
		x = &failing{}
		f.ways[at] = x
		f.order = append(f.order, at)
	}
	if r.Detail == "ok" {
		*x = failing{}
		if by != nil && r.N < 0 {
			f.fine = append(f.fine, success{at.key[strings.Index(at.key, " ")+1:], by.began, r.Step})
		}
		return
	}
	x.last, x.own = strings.Clone(r.Detail), by != nil && !by.refused
	x.ends = append(x.ends, reports.Because(r, "%s has reconciled %s: %s", at.controller, at.key, x.last))
}

// waits reports whether an error says that something else than the object itself is missing.
func (f *failures) waits(key, text string) bool {
	return strings.Contains(text, "not found") && !f.gone[key]
}

func (f *failures) end(w property.World) *reports.Violation {
	since, _ := f.o.Calm()
	for _, at := range f.order {
		x := f.ways[at]
		if x.own && endless(f.o, x.ends) && slices.ContainsFunc(x.ends, f.byItself) && !f.waits(at.key, x.last) && !f.o.excepted(NameEndless, at.controller, at.key) {
			return &reports.Violation{Key: at.key, Because: few(x.ends), Message: fmt.Sprintf(
				"%s still fails to reconcile %s: %s. It has failed %d times since the faults stopped at %v, has not succeeded in between, and no request of the last attempt was refused",
				at.controller, at.key, x.last, len(x.ends), span(since))}
		}
	}
	if v := f.logged(w, since); v != nil {
		return v
	}
	if v := f.recreates.end(w, since); v != nil {
		return v
	}
	return f.conflicts.end(w, since)
}

// endless reports whether something is repeated: until nothing has changed for long, and not all at one time.
func endless(o *Options, all []reports.Evidence) bool {
	observed, ok := o.Observed()
	return ok && len(all) > 1 && all[len(all)-1].At >= observed && all[len(all)-1].At-all[0].At >= apart
}

const (
	// soon is within what time of the first news a handler complains: one that is added when the cache has synced hears a little later.
	soon = time.Second
	// slowly is within what time of it a worker does once the run has writes take a second each: first it writes what else it has been told of.
	slowly = time.Minute
)

// byItself reports whether something has come while no controller was told anything.
func (f *failures) byItself(e reports.Evidence) bool {
	within := soon
	if observed, ok := f.o.Observed(); ok && e.At >= observed {
		within = slowly
	}
	n, _ := slices.BinarySearch(f.heard, e.At+1)
	return n == 0 || f.heard[n-1]+within < e.At
}

// reconcileID is how controller-runtime calls a reconcile, at random.
var reconcileID = regexp.MustCompile(` reconcileID="[^"]*"`)

// missingName finds the name of what is not found: quoted, as a server says it, or with its namespace.
var missingName = regexp.MustCompile(`("([^"]+)"|[^\s"]+/[^\s"]+) not found`)

// quotedText finds what a line quotes, such as names.
var quotedText = regexp.MustCompile(`"([^"]+)"`)

// logged judges the errors that were logged since the faults stopped. What a reconcile that the test tells of has logged is that reconcile's.
func (f *failures) logged(w property.World, since time.Duration) *reports.Violation {
	errs := f.o.Errors()
	if len(errs) == 0 {
		return nil
	}
	times := map[string][]reports.Evidence{}
	var order []string
	live := map[string]bool{} // by how a line may call them
	for _, s := range inOrder(w) {
		live[s.obj.GetName()] = true
		live[s.key[strings.Index(s.key, " ")+1:]] = true
	}
	for _, l := range errs {
		text := reconcileID.ReplaceAllString(l.Text, "")
		if text != l.Text && f.succeeded(l) {
			continue
		}
		if f.told(text) || f.explained(text, live) || f.exceptedText(text) {
			continue
		}
		if times[text] == nil {
			order = append(order, text)
		}
		times[text] = append(times[text], reports.Evidence{Step: l.Step, At: l.At, Text: "it logs " + shownText(text)})
	}
	slices.SortStableFunc(order, strings.Compare) // goroutines log in no order
	for _, text := range order {
		if all := times[text]; endless(f.o, all) && slices.ContainsFunc(all, f.byItself) {
			return &reports.Violation{Because: few(all), Message: fmt.Sprintf(
				"the program logs the same error again and again, %d times since the faults stopped at %v, and no request was refused for that reason: %s", len(all), span(since), shownText(text))}
		}
	}
	return nil
}

// succeeded reports whether the reconcile that has logged something has succeeded, by controller-runtime's own word: it has complained of what it has found, and does not go on.
func (f *failures) succeeded(l Logged) bool {
	return slices.ContainsFunc(f.fine, func(s success) bool {
		name := s.object[strings.LastIndex(s.object, "/")+1:]
		return s.from <= l.Step && l.Step <= s.to && strings.Contains(l.Text, `"`+name+`"`)
	})
}

// told reports whether a reconcile that the test has told of ended with the error that is logged. Whether it goes on failing is known from that, and not from how
// often somebody logs it: what is outside of the cluster may fail now and then, for as long as it likes.
func (f *failures) told(text string) bool {
	plain := unquoted(text)
	return slices.ContainsFunc(f.said, func(why string) bool { return strings.Contains(plain, why) })
}

// ofEvents finds what client-go's broadcasters say of an Event that they could not write, which they have tried for two minutes, one after the other, long after it happened.
var ofEvents = regexp.MustCompile(`^E (event|event_broadcaster)\.go:\d+\] "?(Unable to (write|construct|record) event|Server rejected event)`)

// explained reports whether what is logged is no mistake of the program's own: the server has refused something with these words, an informer has lost its watch, it is about an Event, or something is
// missing that is not the object that the line is about: if it names one that is there, it is about that.
func (f *failures) explained(text string, live map[string]bool) bool {
	if strings.HasPrefix(text, "E reflector.go:") || strings.HasPrefix(text, "E leaderelection.go:") || ofEvents.MatchString(text) {
		return true
	}
	plain := unquoted(text)
	if slices.ContainsFunc(f.refused, func(why string) bool { return strings.Contains(plain, unquoted(why)) }) {
		return true
	}
	if !strings.Contains(plain, "not found") {
		return false
	}
	m := missingName.FindString(plain)
	if m == "" {
		return true
	}
	missing := strings.Trim(strings.TrimSuffix(m, " not found"), `"`)
	about := strings.Replace(plain, m, "", 1) // what else the line says: of whom it is
	for _, q := range quotedText.FindAllStringSubmatch(about, -1) {
		if live[q[1]] {
			return true
		}
	}
	for key := range f.gone { // order: one of them suffices
		_, object, _ := strings.Cut(key, " ")
		if name := object[strings.LastIndex(object, "/")+1:]; (missing == name || missing == object) && strings.Contains(about, object) {
			return false
		}
	}
	return true
}

// exceptedText reports whether what is logged is excepted: by an object, if it names that, or by the client of the only process.
func (f *failures) exceptedText(text string) bool {
	return slices.ContainsFunc(f.o.Except[NameEndless], func(e Exception) bool {
		plural, object, named := strings.Cut(e.Object, " ")
		if !named {
			object = plural
		}
		return (e.Client == "" || e.Client == f.o.Only()) && strings.Contains(text, object)
	})
}

// unquoted takes the backslashes out of a text: a logger quotes an error, and what is quoted in that again.
func unquoted(text string) string { return strings.ReplaceAll(text, `\`, "") }

// few are the first and the last of what was repeated.
func few(all []reports.Evidence) []reports.Evidence {
	const most = 4
	if n := len(all); n > most {
		return append(slices.Clone(all[:most/2]), all[n-most/2:]...)
	}
	return all
}

// shownText shortens what was logged.
func shownText(text string) string {
	const most = 240
	text, _, _ = strings.Cut(text, "\n")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
