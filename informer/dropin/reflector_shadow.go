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

// reflector is who a watch error handler is told has failed: a client-go Reflector, as the handler's type asks for, with the
// loop's name, type description and last resourceVersion. It is made when it is first needed.
func (l *reflectorLoop) reflector() *Reflector {
	if l.shadow == nil {
		l.shadow = newShadow(l.o.name, l.core.TypeDescription())
	}
	l.shadow.follow(l.core.LastSyncResourceVersion())
	return l.shadow.reflector
}

// shadow is a Reflector that does nothing but look like one. Its last resourceVersion cannot be set from here, so it is shown
// each as the result of an empty list.
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
	// It lists, finds rv, wants to watch, and fails with errShadow. A logger that discards, because to a log it never happened.
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

// noStore is what a shadow or a puppet writes to: nothing is to be done with it.
type noStore struct{}

func (noStore) Add(any) error               { return nil }
func (noStore) Update(any) error            { return nil }
func (noStore) Delete(any) error            { return nil }
func (noStore) Replace([]any, string) error { return nil }
func (noStore) Resync() error               { return nil }
