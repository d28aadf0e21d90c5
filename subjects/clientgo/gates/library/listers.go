package library

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// listers read some objects with labels by namespace and selector, with an index of namespaces or without.
func (c *check) listers() {
	by := cache.Indexers{}
	indexed := c.IntN(2) == 0
	if indexed {
		by[cache.NamespaceIndex] = cache.MetaNamespaceIndexFunc
	}
	x, all := cache.NewIndexer(cache.MetaNamespaceKeyFunc, by), model{}
	for n, key := range keys {
		if c.IntN(4) == 0 {
			continue
		}
		all[key] = object(key, n+1)
		if c.IntN(2) == 0 {
			all[key].Labels = map[string]string{"app": "web"}
		}
		c.no("Add", x.Add(all[key]))
	}
	l := cache.NewGenericLister(x, schema.GroupResource{Group: "g", Resource: "things"})
	for what, selector := range byName(map[string]labels.Selector{
		"everything": labels.Everything(), "nothing": labels.Nothing(), "app=web": labels.SelectorFromSet(labels.Set{"app": "web"}), "app!=web": notWeb,
	}) {
		for _, namespace := range []string{metav1.NamespaceAll, "ns1", "ns2", "ns", "absent"} {
			want := []string{}
			for _, obj := range all.objects() {
				if (namespace == metav1.NamespaceAll || obj.Namespace == namespace) && selector.Matches(labels.Set(obj.Labels)) {
					want = append(want, text(obj))
				}
			}
			of := fmt.Sprintf(" %s in %q, whether there is an index of namespaces: %t", what, namespace, indexed)
			var got []any
			appendTo := func(obj any) { got = append(got, obj) }
			c.no("ListAllByNamespace of"+of, cache.ListAllByNamespace(x, namespace, selector, appendTo))
			c.is("ListAllByNamespace of"+of, sorted(want), texts(got))
			objs, err := l.ByNamespace(namespace).List(selector)
			c.no("List of a lister of"+of, err)
			c.is("List of a lister of"+of, sorted(want), texts(objs))
			if namespace != metav1.NamespaceAll {
				continue
			}
			got = nil
			c.no("ListAll of "+what, cache.ListAll(x, selector, appendTo))
			c.is("ListAll of "+what, sorted(want), texts(got))
			objs, err = l.List(selector)
			c.no("List of a lister of all namespaces, "+what, err)
			c.is("List of a lister of all namespaces, "+what, sorted(want), texts(objs))
		}
	}
	c.unreadable()
	obj, err := l.ByNamespace("").Get("c")
	c.got("Get of a lister of no namespace", nil, "c", obj, err)
	for _, key := range keys {
		namespace, name := split(key)
		obj, err := l.Get(key)
		c.got("Get of a lister of "+key, all[key], key, obj, err)
		if namespace != "" {
			obj, err = l.ByNamespace(namespace).Get(name)
			c.got("Get of a lister of a namespace of "+key, all[key], name, obj, err)
		}
	}
}

// unreadable is an object without labels, or anything that could have some. A selector cannot tell whether it takes that.
func (c *check) unreadable() {
	by := cache.Indexers{}
	if c.IntN(2) == 0 {
		by[cache.NamespaceIndex] = func(any) ([]string, error) { return []string{"ns1"}, nil }
	}
	x := cache.NewIndexer(func(any) (string, error) { return "ns1/x", nil }, by)
	c.no("Add", x.Add(&runtime.Unknown{}))
	l := cache.NewGenericLister(x, schema.GroupResource{Resource: "things"})
	_, err := l.List(notWeb)
	c.refused("List of a lister of what has no labels", err)
	_, err = l.ByNamespace("ns1").List(notWeb)
	c.refused("List of a lister of a namespace, of what has no labels", err)
	got := 0
	c.no("ListAll of everything", cache.ListAll(x, labels.Everything(), func(any) { got++ }))
	c.is("how many objects without labels ListAll of everything finds", 1, got)
}

// notWeb is a selector that takes what has no labels.
var notWeb = func() labels.Selector {
	selector, err := labels.Parse("app!=web")
	if err != nil {
		panic(err)
	}
	return selector
}()

// got compares what a lister gives for a name with what there is. The error names the resource and the name.
func (c *check) got(call string, want *metav1.PartialObjectMetadata, name string, obj runtime.Object, err error) {
	if want == nil {
		c.is("the error of "+call, message(apierrors.NewNotFound(schema.GroupResource{Group: "g", Resource: "things"}, name)), message(err))
		c.is("whether the error of "+call+" says that it is not found", true, apierrors.IsNotFound(err))
		return
	}
	c.no(call, err)
	c.is(call, text(want), text(obj))
}
