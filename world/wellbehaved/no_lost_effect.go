package wellbehaved

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameEffect is the name of the property for which what the test has made is deleted and made anew while what controllers do about that fails.
const NameEffect = "NoLostEffect"

// Hasty is how long an object is there that somebody deletes just after he has made it, while controllers' writes of it fail.
const Hasty = Outage / 2

// What the run does to an object.
const (
	TriggerGone = "gone"
	TriggerMade = "made"
)

// Trial is what the run does to an object of the test's.
type Trial struct {
	N       int    // the how manieth it is in the run; 0 for none
	Key     string // the object, as in records
	Trigger string
	Failing bool   // what controllers do about it fails for Outage
	Hasty   bool   // it goes just after it was made, while controllers' writes of it fail
	Lost    bool   // an answer to a create that controllers send for it is lost, and no write fails
	Lagging string // or rather, while their watches of this resource tell nothing; "" for that
}

// Trials is what the run asks the property.
type Trials interface {
	// Effects returns what controllers have done each time that nothing failed.
	Effects(trigger string) []Effect
	// Misses reports whether some of that is lacking now. If Final, it is lacking for good.
	Misses(w property.World, final bool) bool
}

// Effect is an object that a controller makes or deletes, and how the others are called that stand for it.
type Effect struct {
	Client  string
	Key     string
	pattern string // its key, with "*" for what is drawn or the uid of the object that it is for
	done    reports.Evidence
}

// id is the same each time.
func (e *Effect) id() string {
	return e.Client + "\x00" + e.pattern
}

// noLostEffect checks that what a controller does about an object when nothing fails it does, too, when its writes fail for a while, or an answer is lost, and that its status comes to say the same. What that is is shown twice. It need not be done soon: what is lacking for good counts, when the
// informers have listed anew and the controllers were restarted.
func noLostEffect(o *Options) property.Property {
	return property.Property{
		Name:      NameEffect,
		Statement: "what a controller does about an object when nothing fails, it does, too, when its writes fail for a while",
		Kinds:     []sim.Kind{fakeapiserver.KindRequest, fakeapiserver.KindResponse, fakeapiserver.KindPage, fakeapiserver.KindCommit, fakeapiserver.KindFault},
		New: func() property.Checker {
			s := &effects{o: o, made: map[string]bool{}, pages: newPages()}
			o.Tries(s)
			return property.Checker{Record: s.record, End: func(property.World) *reports.Violation { return s.found }}
		},
	}
}

// effects follows what controllers do in trials.
type effects struct {
	o     *Options
	made  map[string]bool // what controllers have made, by key
	seen  map[string][]map[string]*Effect
	key   string // the object of all trials so far
	uid   string
	says  map[string]string   // what the object's status says now
	said  []map[string]string // and said when it had been made and nothing had failed
	by    string              // the controller that has said so
	mixed bool                // others say it, too
	now   *trial
	pages pages
	found *reports.Violation
}

// trial is one that is under way.
type trial struct {
	Trial
	did    map[string]*Effect // what controllers have done, by id
	born   map[string]bool    // what they have made since its object was, by key
	begins reports.Evidence
	failed *reports.Evidence

	wrong   map[string]string // what its status said at first in place of what it says if nothing fails
	delayed *reports.Evidence // a watch was
	late    string            // whose
}

func (s *effects) record(w property.World, r *sim.Record) *reports.Violation {
	if s.found != nil {
		return s.found
	}
	s.turn()
	s.pages.record(w, r)
	switch r.Kind {
	case fakeapiserver.KindResponse:
		if s.now == nil || !s.now.Failing || s.now.failed != nil || !strings.HasPrefix(r.Detail, "5") && !(s.now.Lost && broken(r)) {
			return nil
		}
		if q := s.o.Sent(r.Actor, r.N); q != nil && q.Method != http.MethodGet && s.o.Role(r.Actor) == Controller {
			e := reports.Because(r, "%s sends %s %s, which fails: %s", clientName(w, r.Actor), q.Method, q.Path, r.Detail)
			if s.now.Lost {
				e = reports.Because(r, "%s sends %s %s, which the server carries out, and whose answer is lost: %s", clientName(w, r.Actor), q.Method, q.Path, r.Detail)
			}
			s.now.failed = &e
		}
	case fakeapiserver.KindFault:
		if s.now != nil && s.now.Lagging != "" && s.now.delayed == nil && r.Detail == string(fault.WatchDelay) {
			by := strings.TrimPrefix(r.Key, "conn/")
			e := reports.Because(r, "%s is told nothing more of %s for %v", by, s.now.Lagging, time.Duration(Outage))
			s.now.delayed, s.now.late = &e, by
		}
	case fakeapiserver.KindCommit:
		s.committed(r, s.o.writeOf(w))
	}
	return nil
}

// turn takes up the trial that the run makes now.
func (s *effects) turn() {
	t := s.o.Trial()
	if s.now != nil && s.now.N == t.N {
		return
	}
	born := map[string]bool{}
	if x := s.now; x != nil {
		if !x.Failing {
			s.seen[x.Trigger] = append(s.seen[x.Trigger], x.did)
			if x.Trigger == TriggerMade {
				s.said = append(s.said, s.says)
			}
		}
		if x.Key == t.Key && t.Trigger != TriggerMade && !t.Hasty {
			born = x.born
		}
	}
	s.now = nil
	if t.N == 0 {
		return
	}
	if t.Key != s.key || s.seen == nil {
		s.key, s.seen = t.Key, map[string][]map[string]*Effect{}
		s.said, s.by, s.mixed = nil, "", false
	}
	s.now = &trial{Trial: t, did: map[string]*Effect{}, born: born}
}

func (s *effects) committed(r *sim.Record, x write) {
	m := meta(r.Obj)
	if m == nil || Bookkeeping(r.Key) {
		return
	}
	if r.Detail == "ADDED" {
		if s.made[r.Key] = x.role == Controller; !s.made[r.Key] {
			delete(s.made, r.Key)
		}
	}
	t := s.now
	if t == nil {
		return
	}
	if r.Key == t.Key {
		s.tells(r, &x)
		if x.role == Outside && (r.Detail != "MODIFIED" || deleted(r.Obj)) {
			s.uid = string(m.GetUID())
			t.begins = reports.Because(r, "somebody has %s %s (RV %d)", doing(r), r.Key, r.RV)
		}
		return
	}
	if x.role != Controller || x.request == nil || s.o.excepted(NameEffect, x.name, r.Key) {
		return
	}
	key := strings.Clone(r.Key)
	e := Effect{Client: x.name, Key: key, pattern: s.patternOf(r)}
	switch {
	case r.Detail == "ADDED":
		t.born[key] = true
		if t.Trigger == TriggerMade {
			e.done = reports.Because(r, "%s makes %s (RV %d)", x.name, key, r.RV)
			t.did[e.id()] = &e
		}
	case t.Trigger == TriggerGone:
		if x.request.Method == http.MethodDelete && s.made[key] && (r.Detail == "DELETED" || deleted(r.Obj) && !deleted(r.Old)) {
			e.done = reports.Because(r, "%s deletes %s (RV %d)", x.name, key, r.RV)
			t.did[e.id()] = &e
		}
	}
}

// broken reports whether the connection broke before there was an answer: whatever is one begins with its code.
func broken(r *sim.Record) bool {
	return r.Detail != "" && r.Detail != "ok" && (r.Detail[0] < '0' || r.Detail[0] > '9')
}

// doing says what somebody has done to an object.
func doing(r *sim.Record) string {
	if r.Detail == "ADDED" {
		return "made"
	}
	return "deleted"
}

// patternOf returns how an object is called each time.
func (s *effects) patternOf(r *sim.Record) string {
	key, m := r.Key, meta(r.Obj)
	if g := m.GetGenerateName(); g != "" && strings.HasPrefix(m.GetName(), g) {
		key = strings.TrimSuffix(key, m.GetName()) + g + "*"
	}
	if s.uid != "" {
		key = strings.ReplaceAll(key, s.uid, "*")
	}
	return strings.Clone(key)
}

// Effects implements Trials.
func (s *effects) Effects(trigger string) (all []Effect) {
	s.turn()
	seen := s.seen[trigger]
	if s.now != nil && !s.now.Failing && s.now.Trigger == trigger {
		seen = append(slices.Clone(seen), s.now.did)
	}
	if len(seen) == 0 {
		return nil
	}
	last := seen[len(seen)-1]
	for _, id := range slices.Sorted(maps.Keys(last)) {
		if !slices.ContainsFunc(seen, func(did map[string]*Effect) bool { return did[id] == nil }) {
			all = append(all, *last[id])
		}
	}
	return all
}

// Misses implements Trials.
func (s *effects) Misses(w property.World, final bool) bool {
	s.turn()
	t := s.now
	if t == nil || !t.Failing || t.begins.Text == "" || t.Lost && t.failed == nil {
		return false
	}
	for _, e := range s.Effects(t.Trigger) {
		if t.Lagging != "" && (t.late != e.Client || t.Lagging != pluralOf(e.Key)) {
			continue
		}
		if key := s.missing(w, &e); key != "" {
			if final {
				s.found = s.violation(w, &e, key)
			}
			return true
		}
	}
	if t.wrong == nil {
		t.wrong = s.misstates()
	}
	for _, field := range slices.Sorted(maps.Keys(t.wrong)) {
		if s.says[field] != t.wrong[field] {
			continue
		}
		if final {
			s.found = s.misstatement(w, field)
		}
		return true
	}
	return false
}

// tells notes what the status of the object says now.
func (s *effects) tells(r *sim.Record, x *write) {
	before := s.says
	s.says = nil
	if r.Detail != "DELETED" {
		s.says = verdicts(r.Obj)
	}
	switch {
	case r.Detail != "MODIFIED" || maps.Equal(before, s.says):
	case x.role == Controller && x.request != nil && (s.by == "" || s.by == x.name):
		s.by = x.name
	default:
		s.mixed = true
	}
}

// misstates returns what the object's status says that it does not if nothing fails.
func (s *effects) misstates() map[string]string {
	wrong := map[string]string{}
	if t := s.now; t.Trigger != TriggerMade || t.failed == nil || len(s.said) < 2 || s.by == "" || s.mixed || s.o.excepted(NameEffect, s.by, t.Key) {
		return wrong
	}
	for field, good := range s.said[0] { // order: each by itself
		now, is := s.says[field]
		if is && now != good && !slices.ContainsFunc(s.said, func(said map[string]string) bool { return said[field] != good }) {
			wrong[field] = now
		}
	}
	return wrong
}

// verdicts returns what a status says of its object in words that are few: its phase or state, and which conditions are true or false.
func verdicts(obj any) map[string]string {
	status, _ := content(obj)["status"].(map[string]any)
	said := map[string]string{}
	for _, name := range []string{"phase", "state"} {
		if word, is := status[name].(string); is && word != "" {
			said["status."+name] = text(word)
		}
	}
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		c, _ := c.(map[string]any)
		kind, _ := c["type"].(string)
		if is, _ := c["status"].(string); is == "True" || is == "False" {
			said["the condition "+kind] = text(is)
		}
	}
	return said
}

func (s *effects) misstatement(w property.World, field string) *reports.Violation {
	t := s.now
	how := fmt.Sprintf("its writes of what it makes for that failed for %v", time.Duration(Outage))
	if t.Lost {
		how = "the answer to a create that it sent for that was lost"
	}
	return &reports.Violation{Key: t.Key, Because: []reports.Evidence{t.begins, *t.failed}, Message: fmt.Sprintf(
		"%s leaves %s of %s at %s, where %s was made and %s. If nothing fails it comes to say %s, each time; its informers have listed anew since then, and it was restarted, %v after that. It takes a failure that passes for one that lasts, or what it has made itself for somebody else's",
		s.by, field, t.Key, s.says[field], t.Key, how, s.said[0][field], span(w.Kernel().Elapsed()-t.begins.At))}
}

// missing returns what an effect should have been on, if it has not been there since the trial began; "" if it has.
func (s *effects) missing(w property.World, e *Effect) string {
	t := s.now
	for _, f := range t.did { // order: whether there is one
		if f.pattern == e.pattern {
			return ""
		}
	}
	if t.Trigger == TriggerGone {
		for _, o := range inOrder(w) {
			if t.born[o.key] && o.obj.GetDeletionTimestamp() == nil && s.patternOf(&sim.Record{Key: o.key, Obj: o.obj}) == e.pattern {
				return o.key
			}
		}
		return ""
	}
	for _, o := range inOrder(w) {
		if s.patternOf(&sim.Record{Key: o.key, Obj: o.obj}) == e.pattern {
			return ""
		}
	}
	return e.Key
}

func (s *effects) violation(w property.World, e *Effect, key string) *reports.Violation {
	t := s.now
	since := span(w.Kernel().Elapsed() - t.begins.At)
	also := fmt.Sprintf("its informers have listed anew since then, and it was restarted, %v after that", since)
	message := ""
	switch {
	case t.Lagging != "":
		message = fmt.Sprintf("%s is left: %s, for which %s makes it, and which takes it along otherwise, was deleted %v after it was made, while %s's watch of %s told nothing for %v; %s. What its cache does not have yet it takes for what is not there, and lets go of %s: whoever cleans up deletes without a look at the cache, or asks the API",
			key, t.Key, e.Client, time.Duration(Hasty), e.Client, t.Lagging, time.Duration(Outage), also, t.Key)
	case t.Hasty:
		message = fmt.Sprintf("%s is left: %s, for which %s makes it, and which takes it along otherwise, was deleted %v after it was made, while %s's writes of it failed; %s. It makes it before the finalizer is there that is to remove it", key, t.Key, e.Client, time.Duration(Hasty), e.Client, also)
	case t.Trigger == TriggerGone:
		message = fmt.Sprintf("%s is left: %s is gone, and %s deletes it then if nothing fails. Here its deletes failed for %v; %s. It lets go of %s, by a finalizer that it removes or since it takes its end for done, before it has cleaned up, or drops the error", key, t.Key, e.Client, time.Duration(Outage), also, t.Key)
	case t.Lost:
		message = fmt.Sprintf("%s does not make %s when %s is made and the answer to a create that it sends for that is lost, although the server has carried it out. If nothing fails it does, each time; %s. That there is already what it makes (AlreadyExists) it takes for the end of its work, or it drops the error", e.Client, key, t.Key, also)
	default:
		message = fmt.Sprintf("%s does not make %s when %s is made and its writes of that fail for %v. If nothing fails it does, each time; %s. What it takes for done, such as a status, an annotation or a finalizer that it looks at, it has written before it was done, or it drops the error", e.Client, key, t.Key, time.Duration(Outage), also)
	}
	v := &reports.Violation{Key: key, Message: message, Because: []reports.Evidence{e.done, t.begins}}
	if cut := s.pages.cut[paged{e.Client, pluralOf(key)}]; cut != nil && t.Trigger == TriggerGone && cut.Step >= t.begins.Step {
		v.Message = fmt.Sprintf("%s is left: %s is gone, and %s deletes it then, as a rule. Here it has listed %s in pages, and has not asked for what comes after the first one (continue); %s. What was not on its page it has left, and let go of %s",
			key, t.Key, e.Client, pluralOf(key), also, t.Key)
		v.Because = append(v.Because, *cut)
		return v
	}
	if t.delayed != nil {
		v.Because = []reports.Evidence{e.done, *t.delayed, t.begins}
	}
	if t.failed != nil {
		v.Because = append(v.Because, *t.failed)
	}
	return v
}
