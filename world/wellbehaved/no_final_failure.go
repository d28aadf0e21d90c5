package wellbehaved

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	kinds "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameFinal is the name of the property that judges what statuses say once the controllers were restarted.
const NameFinal = "NoFinalFailure"

// noFinalFailure checks that no controller takes a failure that passes for one that lasts: that its status still says, in the words of the answer, that a request has failed, long after the faults have stopped, and when the
// controller, which was restarted, has looked at the object anew. Whoever would try again has done so by then, and says what has become of it. When that has been judged, the run has gets fail for a while, for NoMistakenAbsence,
// and what statuses say of these is judged once more.
func noFinalFailure(o *Options) property.Property {
	return property.Property{
		Name:      NameFinal,
		Statement: "no status says for good that a request has failed for a reason that passes",
		Kinds:     []sim.Kind{fakeapiserver.KindResponse, fakeapiserver.KindCommit},
		New: func() property.Checker {
			s := &finalFailures{o: o, told: map[kinds.UID]time.Duration{}}
			s.forget()
			o.Says(func() bool { return s.reads && len(s.said) > 0 })
			return property.Checker{Record: s.record, End: s.end}
		},
	}
}

// finalFailures follows the messages in which a status has the words of an answer.
type finalFailures struct {
	o      *Options
	failed map[sentWords]reports.Evidence // the last answer of these words
	order  []sentWords                    // of failed
	said   map[kinds.UID]map[string]saying
	told   map[kinds.UID]time.Duration // when somebody has last changed of an object what may tell a controller to leave it alone
	judged bool                        // what was said before the run does things to controllers
	reads  bool                        // only what is said of the gets that the run has fail is followed now
}

// sentWords are those of an answer that a client got to requests of a path.
type sentWords struct {
	client      sim.ActorID
	words, path string
}

// saying is a message that has them, and who has written it.
type saying struct {
	by              write
	text            string
	failed, written reports.Evidence
}

func (s *finalFailures) record(w property.World, r *sim.Record) *reports.Violation {
	if s.o.Probing() {
		if !s.judged {
			if v := s.end(w); v != nil {
				return v
			}
			s.judged = true
		}
		client, _ := s.o.Blinded()
		if client != "" && !s.reads {
			s.forget()
			s.reads = true
		}
		if !s.reads || r.Kind == fakeapiserver.KindResponse && clientName(w, r.Actor) != client {
			return nil
		}
	}
	switch r.Kind {
	case fakeapiserver.KindResponse:
		s.answered(w, r)
	case fakeapiserver.KindCommit:
		s.committed(w, r)
	}
	return nil
}

// answered notes an answer that another attempt may not get.
func (s *finalFailures) answered(w property.World, r *sim.Record) {
	if !passes(r.Detail) || s.o.Role(r.Actor) != Controller || s.o.Dead(r.Detail) {
		return
	}
	q, words := s.o.Sent(r.Actor, r.N), wordsOf(r.Detail)
	if q == nil || words == "" || s.reads && q.Method != http.MethodGet {
		return
	}
	path, _, _ := strings.Cut(q.Path, "?")
	at := sentWords{r.Actor, words, path}
	if _, is := s.failed[at]; !is {
		s.order = append(s.order, at)
	}
	s.failed[at] = reports.Because(r, "%s sends %s %s, which fails: %s", clientName(w, r.Actor), q.Method, q.Path, r.Detail)
}

// forget forgets what has failed, and what was said of it.
func (s *finalFailures) forget() {
	s.failed, s.order, s.said = map[sentWords]reports.Evidence{}, nil, map[kinds.UID]map[string]saying{}
}

// wordsOf returns what an answer says, without its code and its reason; "" if anybody might say so.
func wordsOf(answer string) string {
	words := answer
	if _, message, coded := strings.Cut(answer, ": "); coded && answer[0] >= '0' && answer[0] <= '9' {
		words = message
	}
	if !strings.Contains(words, " ") || strings.HasPrefix(words, "context ") {
		return ""
	}
	return unquoted(words)
}

func (s *finalFailures) committed(w property.World, r *sim.Record) {
	m := meta(r.Obj)
	if m == nil || Bookkeeping(r.Key) {
		return
	}
	uid, x := m.GetUID(), s.o.writeOf(w)
	switch {
	case r.Detail == "DELETED":
		delete(s.said, uid)
		delete(s.told, uid)
		return
	case r.Detail == "MODIFIED" && x.role == Outside && slices.ContainsFunc(changes(r.Old, r.Obj), pauses):
		s.told[uid] = r.At
	}
	if len(s.order) == 0 {
		return
	}
	now := complaints(r.Obj)
	before := s.said[uid]
	maps.DeleteFunc(before, func(field string, said saying) bool { return now[field] != said.text })
	if before != nil && len(before) == 0 {
		delete(s.said, uid)
	}
	if x.role != Controller {
		return
	}
	for field, text := range now { // order: each by itself
		if _, is := before[field]; is {
			continue
		}
		failed, is := s.of(x.client, text)
		if !is {
			continue
		}
		if s.said[uid] == nil {
			s.said[uid] = map[string]saying{}
		}
		s.said[uid][field] = saying{x, text, failed, reports.Because(r, "%s writes %s of %s: %q (RV %d)", x.name, field, r.Key, text, r.RV)}
	}
}

// of returns the answer that a message tells of: the last one in its words, of those to requests whose path it has, too, if there are any.
func (s *finalFailures) of(client sim.ActorID, text string) (last reports.Evidence, is bool) {
	text, named := unquoted(text), false
	for _, at := range s.order {
		if at.client != client || !strings.Contains(text, at.words) {
			continue
		}
		e, names := s.failed[at], strings.Contains(text, at.path+`"`) || strings.Contains(text, at.path+"?")
		if !is || names && !named || names == named && e.Step > last.Step {
			last, named, is = e, names, true
		}
	}
	return last, is
}

// complaints returns the messages of a status, and of those of its conditions that may be of something wrong, by field.
func complaints(obj any) map[string]string {
	status, _ := content(obj)["status"].(map[string]any)
	var all map[string]string
	add := func(field string, message any) {
		if text, _ := message.(string); text != "" {
			if all == nil {
				all = map[string]string{}
			}
			all[field] = text
		}
	}
	add("status.message", status["message"])
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		c, _ := c.(map[string]any)
		of, _ := c["type"].(string)
		if is, _ := c["status"].(string); is != wellWith(of) {
			add("status.conditions["+of+"].message", c["message"])
		}
	}
	return all
}

// wellWith returns the status of a condition with which nothing is wrong, by its type: what it has to tell then is of the past.
func wellWith(of string) string {
	for _, bad := range []string{"Degraded", "Error", "Fail", "Stalled"} {
		if strings.Contains(of, bad) {
			return "False"
		}
	}
	return "True"
}

func (s *finalFailures) end(w property.World) *reports.Violation {
	since, ok := s.o.Observed()
	if !ok || s.judged && !s.reads || s.o.Restarted() == 0 {
		return nil
	}
	for _, at := range inOrder(w) {
		said := s.said[at.obj.GetUID()]
		for _, field := range slices.Sorted(maps.Keys(said)) {
			x := said[field]
			if x.written.At > since-settled && !s.reads || deleted(at.obj) || !s.o.Runs(x.by.client) || s.lasts(&x) || s.paused(at.obj.GetUID(), &x) || s.o.excepted(NameFinal, x.by.name, at.key) {
				continue
			}
			return &reports.Violation{Key: at.key, Because: []reports.Evidence{x.failed, x.written}, Message: fmt.Sprintf(
				"%s says of %s, for good, that a request has failed, though for a reason that passes: %s is %q. That was %v before the end, and it has not tried again, not even when it was restarted. Return such an error, or put the key back (AddRateLimited); only what the server refuses (4xx, but for 409 and 429) fails each time",
				x.by.name, at.key, field, x.text, span(w.Kernel().Elapsed()-x.written.At))}
		}
	}
	return nil
}

// lasts reports whether the request has failed in the same words since, although there are no faults any more: a disruption budget, or the server of a webhook, answers so for as long as it likes.
func (s *finalFailures) lasts(x *saying) bool {
	calm, _ := s.o.Calm()
	last, is := s.of(x.by.client, x.text)
	return is && last.At > calm+settled && !s.reads
}

// pauses reports whether a change may tell a controller to leave an object alone: of a label, of an annotation, or of what is true or false.
func pauses(c change) bool {
	return strings.HasPrefix(c.field, "metadata.labels.") || strings.HasPrefix(c.field, "metadata.annotations.") || c.value == "true" || c.value == "false"
}

// paused reports whether that may have happened since the request has failed, or shortly before, when its sender did not know it yet.
func (s *finalFailures) paused(uid kinds.UID, x *saying) bool {
	told, is := s.told[uid]
	return is && told >= x.failed.At-settled
}
