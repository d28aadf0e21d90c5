package scenarios

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/reports"
)

// scripted are the objects that commands have created and not deleted, or deleted and not created again. What a client writes, over a connection that faults may hit, is left out, and
// after a restore nothing is known of any.
type scripted struct {
	exist   map[scriptedKey]bool // false for one that was deleted
	unknown map[scriptedKey]bool // written by clients
}

type scriptedKey struct {
	resource store.ResourceID
	key      objectKey
}

// byClient notes that a client writes an object.
func (s *scripted) byClient(id store.ResourceID, key objectKey) {
	if s.unknown == nil {
		s.unknown = map[scriptedKey]bool{}
	}
	s.unknown[scriptedKey{id, key}] = true
}

// restored forgets what is there: it is what was there once.
func (s *scripted) restored() { clear(s.exist) }

// wrote notes a write that was committed, or was not, and says what is wrong with its error, "" for nothing: an object that was created, and not deleted since, is there.
func (s *scripted) wrote(op string, id store.ResourceID, key objectKey, err error) (wrong string) {
	at := scriptedKey{id, key}
	there, known := s.exist[at]
	switch {
	case apierrors.IsBadRequest(err):
		return fmt.Sprintf("%s of %s: %v", op, key, err) // the command was checked when it was read
	case s.unknown[at] || err == nil && op == "update":
	case err == nil:
		if s.exist == nil {
			s.exist = map[scriptedKey]bool{}
		}
		s.exist[at] = op == "create"
	case op != "create" && there && apierrors.IsNotFound(err):
		return fmt.Sprintf("%s of %s, which was created, and not deleted since: %v", op, key, err)
	case op == "create" && known && !there && apierrors.IsAlreadyExists(err):
		return fmt.Sprintf("%s of %s, which was deleted, and not created since: %v", op, key, err)
	}
	return ""
}

// judges reports whether the fake server has refused a write that it has to accept. The run ends with that.
func (w *World) judges(op string, id store.ResourceID, key objectKey, err error) bool {
	wrong := w.scripted.wrote(op, id, key, err)
	if wrong == "" {
		return false
	}
	w.refusedWrongly(key.String(), wrong)
	return true
}

// refusedWrongly ends the run, after this step, with what the fake server has refused although it must not.
func (w *World) refusedWrongly(key, wrong string) {
	w.monitor.Report("ServerAgrees", &reports.Violation{Key: key, Message: wrong})
}
