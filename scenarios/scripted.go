package scenarios

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/reports"
)

// scripted are the objects that commands have created and not deleted. What a client writes, over a connection that faults may hit, is left out, and
// after a restore nothing is known of any.
type scripted struct {
	exist   map[scriptedKey]bool
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
	switch {
	case s.unknown[at]:
	case err == nil && op == "create":
		if s.exist == nil {
			s.exist = map[scriptedKey]bool{}
		}
		s.exist[at] = true
	case err == nil && op == "delete":
		delete(s.exist, at)
	case op != "create" && s.exist[at] && apierrors.IsNotFound(err):
		return fmt.Sprintf("%s of %s, which was created, and not deleted since: %v", op, key, err)
	}
	return ""
}

// judges reports whether the fake server has refused a write that it has to accept. The run ends with that.
func (w *World) judges(op string, id store.ResourceID, key objectKey, err error) bool {
	wrong := w.scripted.wrote(op, id, key, err)
	if wrong == "" {
		return false
	}
	w.monitor.Report("ServerAgrees", &reports.Violation{Key: key.String(), Message: wrong})
	w.kernel.AbandonStep()
	return true
}
