package rest

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/render"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// versionMemo is the Value of the memos of this server's cluster: what the server derives from one version of an object. It
// lies in the Store, so that it goes and, with a restore, comes back with the version.
type versionMemo struct {
	encoded render.Encoded
	// persisted is what a real store would have in its bytes if that reads as something else (patch.Result.Persisted), nil
	// otherwise.
	persisted runtime.Object
}

// memoOfVersion is the memo's value, which it makes if there is none.
func memoOfVersion(m *store.Memo) *versionMemo {
	v, ok := m.Value.(*versionMemo)
	if !ok {
		v = &versionMemo{}
		m.Value = v
	}
	return v
}

// persisted is the persisted form of a live object, nil if that is the object itself.
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

// setPersisted notes the persisted form of an object that has just been stored, nil if that is the object itself.
func (s *Server) setPersisted(id store.ResourceID, stored, persisted runtime.Object) {
	if persisted == nil || types.WithoutMeta(stored) {
		return
	}
	m := accessor(stored)
	if memo := s.cluster.Store().MemoOf(id, m.GetNamespace(), m.GetName(), stored); memo != nil {
		memoOfVersion(memo).persisted = persisted
	}
}
