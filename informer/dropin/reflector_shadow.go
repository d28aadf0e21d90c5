package dropin

import (
	"context"
	"errors"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// reflector returns the Reflector to pass to a watch error handler: a client-go Reflector, as the handler's type requires,
// with the loop's name, type description and last resourceVersion. It is created on first use.
func (l *reflectorLoop) reflector() *Reflector {
	if l.shadow == nil {
		l.shadow = newShadow(l.o.name, l.core.TypeDescription())
	}
	l.shadow.follow(l.core.LastSyncResourceVersion())
	return l.shadow.reflector
}

// shadow is a Reflector for display only. Its last resourceVersion cannot be set directly, so each is passed to it as the
// result of an empty list.
type shadow struct {
	reflector *Reflector
	rv        string
}

func newShadow(name, typeDescription string) *shadow {
	s := &shadow{}
	logger := logr.Discard()
	s.reflector = cache.NewReflectorWithOptions(s, nil, noStore{},
		ReflectorOptions{Name: name, TypeDescription: typeDescription, Logger: &logger})
	return s
}

func (s *shadow) follow(rv string) {
	if s.rv == rv {
		return
	}
	s.rv = rv
	// It lists, finds rv, tries to watch, and fails with errShadow. The logger discards this, as nothing has happened.
	_ = s.reflector.ListAndWatchWithContext(klog.NewContext(context.Background(), logr.Discard()))
}

var errShadow = errors.New("a shadow does not watch")

// IsWatchListSemanticsUnSupported keeps the shadow from streaming lists.
func (s *shadow) IsWatchListSemanticsUnSupported() bool { return true }

// List implements ListerWatcher.
func (s *shadow) List(metav1.ListOptions) (runtime.Object, error) { return emptyList(s.rv), nil }

// Watch implements ListerWatcher.
func (s *shadow) Watch(metav1.ListOptions) (watch.Interface, error) { return nil, errShadow }

func emptyList(rv string) runtime.Object {
	return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: rv}}
}

// noStore is the store of a shadow or a puppet: it ignores all writes.
type noStore struct{}

func (noStore) Add(any) error               { return nil }
func (noStore) Update(any) error            { return nil }
func (noStore) Delete(any) error            { return nil }
func (noStore) Replace([]any, string) error { return nil }
func (noStore) Resync() error               { return nil }
