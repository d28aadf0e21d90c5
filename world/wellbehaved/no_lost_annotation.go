package wellbehaved

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameAnnotation is the name of the property for which the run puts something into the metadata of objects.
const NameAnnotation = "NoLostAnnotation"

// Note is the key of the annotation, and of the label, that the run puts there. Nobody can have a reason to take it away but that it is not his.
const Note = "informersim.dev/note"

// noLostAnnotation checks that who writes an object does not take away what is not his in its metadata. Whoever wants no annotations but his own takes one away as soon as he sees it; who lets it be, looks at the object, and takes it away
// only when there is another reason to write, has sent the object that he would make in place of the one that is there, changed.
func noLostAnnotation(o *Options) property.Property {
	return property.Property{
		Name:      NameAnnotation,
		Statement: "no controller takes away what others have put into an object's labels or annotations when it writes something else",
		Kinds:     []sim.Kind{fakeapiserver.KindCommit},
		New: func() property.Checker {
			s := &notices{o: o, noted: map[string]*noted{}}
			return property.Checker{Record: s.record}
		},
	}
}

// notices follows the objects in whose metadata the run has put something.
type notices struct {
	o     *Options
	noted map[string]*noted // by key
}

// noted is an object with a note.
type noted struct {
	put, undone reports.Evidence
	was         []change // what had been undone of it; nil before
}

func (s *notices) record(w property.World, r *sim.Record) *reports.Violation {
	if !s.o.Probing() {
		return nil
	}
	if r.Detail != "MODIFIED" {
		delete(s.noted, r.Key) // another one begins without
		return nil
	}
	x, n, lost := s.o.writeOf(w), s.noted[r.Key], lostNotes(r)
	switch {
	case x.role == Outside && len(notesOf(meta(r.Obj))) > len(notesOf(meta(r.Old))):
		s.noted[strings.Clone(r.Key)] = &noted{put: reports.Because(r, "somebody has put the %s into %s (RV %d)", strings.Join(notesOf(meta(r.Obj)), " and the "), r.Key, r.RV)}
	case n == nil:
	case x.role == Outside && len(lost) > 0:
		delete(s.noted, r.Key)
	case x.role == Outside:
		n.was, n.undone = changes(r.Obj, r.Old), reports.Because(r, "somebody undoes what had been written of %s (RV %d)", r.Key, r.RV)
	case len(lost) > 0:
		delete(s.noted, r.Key)
		return s.taken(r, &x, n, lost)
	}
	return nil
}

// notesOf returns which notes an object has.
func notesOf(m metav1.Object) (all []string) {
	if m == nil {
		return nil
	}
	if _, is := m.GetAnnotations()[Note]; is {
		all = append(all, "annotation "+Note)
	}
	if _, is := m.GetLabels()[Note]; is {
		all = append(all, "label "+Note)
	}
	return all
}

// lostNotes returns the notes that a change takes away.
func lostNotes(r *sim.Record) []string {
	left := notesOf(meta(r.Obj))
	return slices.DeleteFunc(notesOf(meta(r.Old)), func(note string) bool { return slices.Contains(left, note) })
}

// taken judges a write that takes notes away: with it, a controller has to set again what was undone.
func (s *notices) taken(r *sim.Record, x *write, n *noted, lost []string) *reports.Violation {
	if x.role != Controller || x.request == nil || s.o.excepted(NameAnnotation, x.name, r.Key) {
		return nil
	}
	for _, c := range changes(r.Old, r.Obj) {
		if !slices.Contains(n.was, c) {
			continue
		}
		return &reports.Violation{
			Key: strings.Clone(r.Key),
			Message: fmt.Sprintf(
				"%s sets %s of %s to %s again, and takes the %s away with it, which somebody else had put there %v before. Until then it had let that be, when it was put there and when its informers had listed anew. It sends the object, or the map, that it would make, in place of the one that is there: so the labels, annotations, finalizers and owners of others are lost. An update is to change a DeepCopy of what was read, where it differs; a patch or an apply says only what is to change",
				x.name, c.field, r.Key, shown(c.value), strings.Join(lost, " and the "), span(r.At-n.put.At)),
			Because: []reports.Evidence{n.put, n.undone, x.sends(), reports.Because(r, "%s is %s, without it (RV %d)", r.Key, r.Detail, r.RV)},
		}
	}
	return nil
}
