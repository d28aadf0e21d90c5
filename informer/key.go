package informer

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// errNoMeta is the cause of a cache.KeyError for an object without metadata.
var errNoMeta = errors.New("object has no meta: it implements neither metav1.Object nor metav1.ObjectMetaAccessor")

// MetaNamespaceKey returns namespace/name, or the name alone for an object without a namespace. Like client-go's
// DeletionHandlingMetaNamespaceKeyFunc it returns the key of a cache.DeletedFinalStateUnknown or a cache.ExplicitKey
// unchanged. It is the default KeyFunc throughout this package.
func MetaNamespaceKey(obj any) (string, error) {
	switch t := obj.(type) {
	case metav1.Object:
		return joinKey(t), nil
	case cache.DeletedFinalStateUnknown:
		return t.Key, nil
	case cache.ExplicitKey:
		return string(t), nil
	}
	m := metaOf(obj)
	if m == nil {
		return "", errNoMeta
	}
	return joinKey(m), nil
}

func joinKey(m metav1.Object) string {
	if ns := m.GetNamespace(); ns != "" {
		return ns + "/" + m.GetName()
	}
	return m.GetName()
}

// metaOf is meta.Accessor without the error: it returns nil when obj has no metadata.
func metaOf(obj any) metav1.Object {
	switch t := obj.(type) {
	case metav1.Object:
		return t
	case metav1.ObjectMetaAccessor:
		return t.GetObjectMeta()
	}
	return nil
}

// queueKey extends a key function to what a queue also holds: cache.Deltas and cache.Delta (keyed by the newest object) and
// tombstones (which carry their own key).
func queueKey(keyFunc cache.KeyFunc, obj any) (string, error) {
	switch t := obj.(type) {
	case cache.Deltas:
		if len(t) == 0 {
			return "", cache.KeyError{Obj: obj, Err: cache.ErrZeroLengthDeltasObject}
		}
		return queueKey(keyFunc, t[len(t)-1].Object)
	case cache.Delta:
		return queueKey(keyFunc, t.Object)
	case cache.DeletedFinalStateUnknown:
		return t.Key, nil
	}
	key, err := keyFunc(obj)
	if err != nil {
		return "", cache.KeyError{Obj: obj, Err: err}
	}
	return key, nil
}

func errWrongInfo(t cache.DeltaType, want string, got any) error {
	return fmt.Errorf("delta of type %s carries a %T, want a %s", t, got, want)
}
