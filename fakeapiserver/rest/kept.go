package rest

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// objectKey names a stored object.
type objectKey struct {
	resource        store.ResourceID
	namespace, name string
}

// keptForm is what a real store would have in its bytes for an object that is read as something else: patch.Result.Kept. It
// holds for one version of the object.
type keptForm struct {
	resourceVersion string
	object          runtime.Object
}

// keptOf is the kept form of a live object, nil if there is none.
func (s *Server) keptOf(id store.ResourceID, live runtime.Object) runtime.Object {
	if live == nil || len(s.kept) == 0 {
		return nil
	}
	m := accessor(live)
	form := s.kept[objectKey{id, m.GetNamespace(), m.GetName()}]
	if form.resourceVersion != m.GetResourceVersion() {
		return nil
	}
	return form.object
}

// keep notes the kept form of an object that has been stored, nil for none.
func (s *Server) keep(id store.ResourceID, stored, kept runtime.Object) {
	if kept == nil && len(s.kept) == 0 || types.WithoutMeta(stored) {
		return
	}
	m := accessor(stored)
	key := objectKey{id, m.GetNamespace(), m.GetName()}
	if kept == nil {
		delete(s.kept, key)
		return
	}
	s.kept[key] = keptForm{m.GetResourceVersion(), kept}
}
