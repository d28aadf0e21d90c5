package library

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// names hold the functions that make keys, and take them apart, against each other.
func names(c *check) {
	key := c.key()
	namespace, name := split(key)
	obj := object(key, 1)
	want := cache.ObjectName{Namespace: namespace, Name: name}
	tombstone := cache.DeletedFinalStateUnknown{Key: key, Obj: []any{nil, obj, object("ns3/other", 1)}[c.IntN(3)]}

	ns, n, err := cache.SplitMetaNamespaceKey(key)
	c.no("SplitMetaNamespaceKey", err)
	c.is("SplitMetaNamespaceKey of "+key, [2]string{namespace, name}, [2]string{ns, n})
	for key, want := range byName(map[string][2]string{"/x": {"", "x"}, "a/": {"a", ""}, "": {"", ""}}) {
		ns, n, err := cache.SplitMetaNamespaceKey(key)
		c.no("SplitMetaNamespaceKey", err)
		c.is("SplitMetaNamespaceKey of "+key, want, [2]string{ns, n})
	}
	for _, key := range []string{"a/b/c", "/b/c"} {
		_, _, err = cache.SplitMetaNamespaceKey(key)
		c.refused("SplitMetaNamespaceKey of "+key, err)
		_, err = cache.ParseObjectName(key)
		c.refused("ParseObjectName of "+key, err)
	}
	for call, f := range byName(map[string]cache.KeyFunc{"MetaNamespaceKeyFunc": cache.MetaNamespaceKeyFunc, "DeletionHandlingMetaNamespaceKeyFunc": cache.DeletionHandlingMetaNamespaceKeyFunc}) {
		got, err := f(obj)
		c.no(call, err)
		c.is(call, key, got)
		for _, explicit := range []string{"ex/plicit", "explicit"} {
			got, err = f(cache.ExplicitKey(explicit))
			c.no(call, err)
			c.is(call+" of an ExplicitKey", explicit, got)
		}
	}
	got, err := cache.DeletionHandlingMetaNamespaceKeyFunc(tombstone)
	c.no("DeletionHandlingMetaNamespaceKeyFunc", err)
	c.is("DeletionHandlingMetaNamespaceKeyFunc of a tombstone", key, got)
	_, err = cache.MetaNamespaceKeyFunc(tombstone)
	c.refused("MetaNamespaceKeyFunc of a tombstone", err)
	for call, of := range byName(map[string]any{"an object": obj, "a tombstone": tombstone}) {
		got, err := cache.DeletionHandlingObjectToName(of)
		c.no("DeletionHandlingObjectToName of "+call, err)
		c.is("DeletionHandlingObjectToName of "+call, want, got)
	}
	parsed, err := cache.ParseObjectName(key)
	c.no("ParseObjectName", err)
	c.is("ParseObjectName of "+key, want, parsed)
	c.is("String of an ObjectName", key, want.String())
	c.is("AsNamespacedName", types.NamespacedName{Namespace: namespace, Name: name}, want.AsNamespacedName())
	c.is("AsNamespacedName and back", want, cache.NamespacedNameAsObjectName(want.AsNamespacedName()))
	ns, n = want.Parts()
	c.is("Parts of an ObjectName", [2]string{namespace, name}, [2]string{ns, n})
	wrapped := errors.New("no key")
	c.is("what a KeyError wraps", true, errors.Is(cache.KeyError{Obj: obj, Err: wrapped}, wrapped))

	c.deleted("an object", cache.DeletedObject[*metav1.PartialObjectMetadata]{OptionalObj: obj}, key)
	of := cache.DeletedObject[*metav1.PartialObjectMetadata]{FinalStateUnknown: &tombstone}
	of.OptionalObj, _ = tombstone.Obj.(*metav1.PartialObjectMetadata)
	c.deleted("a tombstone", of, key)
	odd := cache.DeletedObject[*metav1.PartialObjectMetadata]{FinalStateUnknown: &cache.DeletedFinalStateUnknown{Key: "a/b/c"}} // no object has such a key
	c.is("GetKey, GetNamespace and GetName of a DeletedObject at a/b/c", [3]string{"a/b/c", "a", "b/c"}, [3]string{odd.GetKey(), odd.GetNamespace(), odd.GetName()})
	c.deleted("nothing", cache.DeletedObject[*metav1.PartialObjectMetadata]{}, "")
	c.adapter()
	c.constructors()
	made, err := cache.ObjectToName(obj)
	c.no("ObjectToName", err)
	c.is("ObjectToName, MetaObjectToName and NewObjectName", [3]cache.ObjectName{want, want, want}, [3]cache.ObjectName{made, cache.MetaObjectToName(obj), cache.NewObjectName(namespace, name)})
	_, err = cache.MetaNamespaceIndexFunc("no object")
	c.refused("MetaNamespaceIndexFunc of no object", err)
	_, err = cache.ObjectToName("no object")
	c.refused("ObjectToName of no object", err)
	c.older()
}

// deleted compares what a DeletedObject says of itself with its key.
func (c *check) deleted(what string, d cache.DeletedObject[*metav1.PartialObjectMetadata], key string) {
	namespace, name := split(key)
	if key == "" {
		name = ""
	}
	c.is("GetKey of a DeletedObject with "+what, key, d.GetKey())
	c.is("GetName of a DeletedObject with "+what, name, d.GetName())
	c.is("GetNamespace of a DeletedObject with "+what, namespace, d.GetNamespace())
}

// adapter makes a key of an index function, which must have one value.
func (c *check) adapter() {
	for n := range 4 {
		values := []string{"one", "two", "three"}[:min(n, 3)]
		got, err := cache.IndexFuncToKeyFuncAdapter(func(any) ([]string, error) { return values, nil })(nil)
		call := fmt.Sprintf("a key of an index function with %d values", n)
		if n != 1 {
			c.refused(call, err)
			continue
		}
		c.no(call, err)
		c.is(call, "one", got)
	}
}

// quietly makes a call that logs an error, which would stand in the output of whoever runs a scenario.
func quietly[T any](call func() T) T {
	defer klog.CaptureState().Restore()
	klog.SetLogger(klog.Logger{})
	return call()
}

// informerNames registers a name, and resources under it. The registry is the process's: the name is not anybody else's, and is released.
func informerNames(c *check) {
	_, err := cache.NewInformerName("")
	c.refused("NewInformerName of nothing", err)
	name := fmt.Sprintf("informersim %p", c)
	first, err := cache.NewInformerName(name)
	c.no("NewInformerName", err)
	if err != nil {
		return
	}
	defer func() { first.Release() }()
	_, err = cache.NewInformerName(name)
	c.refused("NewInformerName of a name that there is", err)
	pods, services := schema.GroupVersionResource{Version: "v1", Resource: "pods"}, schema.GroupVersionResource{Version: "v1", Resource: "services"}
	one, again, other := first.WithResource(pods), quietly(func() cache.InformerNameAndResource { return first.WithResource(pods) }), first.WithResource(services)
	c.is("which of a resource, the same again, and another one are reserved", [3]bool{true, false, true}, [3]bool{one.Reserved(), again.Reserved(), other.Reserved()})
	c.is("GroupVersionResource", services, other.GroupVersionResource())
	c.is("Name of a resource is that of the informer", true, other.Name() == name && first.Name() == name)
	c.is("Reserved of another version of a resource", true, first.WithResource(schema.GroupVersionResource{Version: "v2", Resource: "pods"}).Reserved())
	first.Release()
	c.is("Reserved of a resource whose name was released", false, one.Reserved())
	c.is("Reserved of a resource of a name that was released", false, first.WithResource(pods).Reserved())
	second, err := cache.NewInformerName(name)
	c.no("NewInformerName of a name that was released", err)
	second.Release()
	third, err := cache.NewInformerName(name)
	c.no("NewInformerName of a name that was released again", err)
	held := third.WithResource(pods)
	cache.ResetInformerNamesForTesting()
	c.is("Reserved of a resource after all names were released", false, held.Reserved())
	var none *cache.InformerName
	c.is("Reserved of a resource without a name", false, none.WithResource(pods).Reserved())
	c.is("GroupVersionResource of a resource without a name", pods, none.WithResource(pods).GroupVersionResource())
}
