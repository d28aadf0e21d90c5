package rest

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/render"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// versionMemo is what this server derives from one version of an object, kept as Memo.Value. It lives in the Store, so that it
// goes away with the version and, after a restore, comes back with it.
type versionMemo struct {
	encoded render.Encoded
	// persisted is the stored form of the object if it differs from how it reads (patch.Result.Persisted), otherwise nil.
	persisted runtime.Object
}

// memoOfVersion returns the versionMemo in m, creating it if needed.
func memoOfVersion(m *store.Memo) *versionMemo {
	v, ok := m.Value.(*versionMemo)
	if !ok {
		v = &versionMemo{}
		m.Value = v
	}
	return v
}

// persisted returns the persisted form of a live object, nil if that is the object itself.
func (s *Server) persisted(id store.ResourceID, live runtime.Object) runtime.Object {
	if live == nil {
		return nil
	}
	m := accessor(live)
	if memo := s.cluster.Store().MemoOf(id, m.GetNamespace(), m.GetName(), live); memo != nil {
		if v, ok := memo.Value.(*versionMemo); ok {
			return v.persisted
		}
	}
	return nil
}

// setPersisted records the persisted form of an object just stored, nil if that is the object itself.
func (s *Server) setPersisted(id store.ResourceID, stored, persisted runtime.Object) {
	if persisted == nil || types.WithoutMeta(stored) {
		return
	}
	m := accessor(stored)
	if memo := s.cluster.Store().MemoOf(id, m.GetNamespace(), m.GetName(), stored); memo != nil {
		memoOfVersion(memo).persisted = persisted
	}
}
