package builtin

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/warning"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// session is one write: what Kubernetes' code sees of the cluster, and what it wants to be written.
type session struct {
	write *types.Write
	kind  *kind
	live  runtime.Object // the written object's state, in its storage version; changes as it is written

	object metav1.Object // what a client wants to create, nil for other writes
	claims int           // claimVolumes of what a client wants to write

	stored   runtime.Object // what is to be stored, nil if nothing is
	written  runtime.Object // what etcd would get, if that is not what will be read
	created  bool
	deleted  bool
	deleting *int64 // the grace period that a DELETE asks for
	warnings []string
	earlier  []runtime.Object // what was stored before stored
	effects  []types.Effect   // on other objects

	collection bool // a collection is deleted

	own    allocated  // for this write
	before *allocated // before it, once somebody has asked
}

func newSession(k *kind, w *types.Write) *session {
	return &session{write: w, kind: k, live: w.Live, own: newAllocated()}
}

// sessionKey finds the session in a context.
type sessionKey struct{}

func sessionOf(ctx context.Context) *session {
	s, _ := ctx.Value(sessionKey{}).(*session)
	return s
}

// AddWarning implements warning.Recorder. Like a kube-apiserver's, it drops what it has had before.
func (s *session) AddWarning(_, text string) {
	if text != "" && !slices.Contains(s.warnings, text) {
		s.warnings = append(s.warnings, text)
	}
}

// context returns the context of a request, as the handlers of a kube-apiserver make it.
func (s *session) context(verb string) context.Context {
	w, r := s.write, s.kind.resource
	ctx := context.WithValue(context.Background(), sessionKey{}, s)
	who := w.User
	if who.Name == "" {
		who = types.Administrator()
	}
	ctx = request.WithUser(ctx, &user.DefaultInfo{Name: who.Name, UID: who.UID, Groups: who.Groups, Extra: who.Extra})
	ctx = request.WithNamespace(ctx, w.Namespace)
	ctx = request.WithRequestInfo(ctx, &request.RequestInfo{
		IsResourceRequest: true, Verb: verb, APIPrefix: prefix(r.Group), APIGroup: r.Group, APIVersion: r.Version, Namespace: w.Namespace,
		Resource: r.Plural, Subresource: w.Subresource, Name: w.Name,
	})
	return warning.WithWarningRecorder(ctx, s)
}

func prefix(group string) string {
	if group == "" {
		return "api"
	}
	return "apis"
}

// names reports whether the write names an object of a store.
func (s *session) names(gr schema.GroupResource, namespace, name string) bool {
	r := s.kind.resource
	if !r.Namespaced {
		namespace = s.write.Namespace
	}
	return r.StoreResource() == gr && s.write.Name == name && s.write.Namespace == namespace
}

// creates reports whether an object to be created is the one that the write is about: a POST names none.
func (s *session) creates(gr schema.GroupResource, namespace, name string) bool {
	return s.kind.resource.StoreResource() == gr && (s.write.Name == "" || s.names(gr, namespace, name))
}

// other returns the state of an object that the write does not name, nil if there is none.
func (s *session) other(gr schema.GroupResource, namespace, name string) runtime.Object {
	for _, e := range s.effects {
		m, err := meta.Accessor(e.Stored)
		if err == nil && e.Resource == gr && m.GetNamespace() == namespace && m.GetName() == name {
			return e.Stored
		}
	}
	if s.write.Get == nil {
		return nil
	}
	return s.write.Get(gr, namespace, name)
}

// writtenBefore returns what etcd would have of an object, nil if that is what is read.
func (s *session) writtenBefore(b *backend, key string) runtime.Object {
	namespace, name := b.split(key)
	switch {
	case !s.names(b.resource, namespace, name):
		return nil
	case s.stored != nil:
		return s.written
	}
	return s.write.Persisted
}

// update takes the new state of an object.
func (s *session) update(b *backend, key string, stored, written runtime.Object) {
	namespace, name := b.split(key)
	if !s.names(b.resource, namespace, name) {
		s.effects = append(s.effects, types.Effect{Resource: b.resource, Stored: stored})
		return
	}
	if s.stored != nil {
		s.earlier = append(s.earlier, s.stored)
	}
	s.live, s.stored, s.written = stored, stored, written
}
