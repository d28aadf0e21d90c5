package library

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
)

// errRefused is the error of a transform that fails.
var errRefused = errors.New("it cannot be transformed")

// refuses is the revision of the objects that transforms fail for.
const refuses = "13"

// made is a transform that notes that it was called, and fails for some objects.
func made(obj any) (any, error) {
	o, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok {
		return obj, nil
	}
	if o.ResourceVersion == refuses {
		return obj, errRefused
	}
	o = o.DeepCopy()
	o.Annotations = map[string]string{"made": o.Annotations["made"] + "!"}
	return o, nil
}

// last and over are index functions: by the last digit of the revision, and by its digits over 2, which may repeat, and be none. Their names are on both
// sides of that of the index of namespaces.
func last(obj any) ([]string, error) {
	rv := obj.(metav1.Object).GetResourceVersion()
	return []string{rv[len(rv)-1:]}, nil
}

func over(obj any) ([]string, error) {
	var all []string
	for _, d := range obj.(metav1.Object).GetResourceVersion() {
		if d > '2' {
			all = append(all, string(d))
		}
	}
	return all, nil
}

// home is an index function whose values look like namespaces.
func home(obj any) ([]string, error) {
	m := obj.(metav1.Object)
	if rv := m.GetResourceVersion(); rv[len(rv)-1] < '5' {
		return []string{m.GetNamespace()}, nil
	}
	return []string{"ns3"}, nil
}

// indexFunctions are those of all indices.
var indexFunctions = cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, "last": last, "over": over, "home": home}

// indexers hold an Indexer by itself against a map: with a transformer, as a streaming list has it, and with indices that come late.
func indexers(c *check) {
	of := []string{cache.NamespaceIndex, cache.NamespaceIndex, "home", "last"}[c.IntN(4)] // with one index alone it takes short cuts
	functions := cache.Indexers{of: indexFunctions[of]}
	x := informer.NewIndexer(informer.IndexerOptions{Transformer: made, Indexers: maps.Clone(functions)})
	m, rv := map[string]string{}, ""
	for n := range 40 {
		obj := object(c.key(), 8+c.IntN(60))
		key := obj.Namespace + "/" + obj.Name
		change := text(obj) + "!"
		fails := obj.ResourceVersion == refuses
		switch c.IntN(7) {
		case 0, 1:
			c.is("Add fails", fails, x.Add(obj) != nil)
			if !fails {
				m[key], rv = change, obj.ResourceVersion
			}
		case 2:
			c.is("Delete of what has no key fails", true, x.Delete(0) != nil)
			if delete(m, key); c.oneIn(3) {
				c.is("Delete of a key alone", nil, x.Delete(cache.ExplicitKey(key)))
				break
			}
			c.is("Delete", nil, x.Delete(obj))
			rv = obj.ResourceVersion
		case 3:
			list, want := []any{}, map[string]string{}
			fails = false
			for _, k := range keys {
				if o := object(k, 8+c.IntN(60)); c.oneIn(2) {
					list, want[k], fails = append(list, o), text(o)+"!", fails || o.ResourceVersion == refuses
				}
			}
			if len(list) > 0 && c.oneIn(4) { // a list may have an object twice
				k := text(list[0])[:5]
				o := object(k, 8+c.IntN(60))
				list, want[k], fails = append(list, o), text(o)+"!", fails || o.ResourceVersion == refuses
			}
			given := fmt.Sprint(texts(list))
			at := fmt.Sprint(100 + n)
			if c.oneIn(4) {
				at = ""
			}
			c.is("Replace fails", fails, x.Replace(list, at) != nil)
			c.is("the list that Replace was given", given, fmt.Sprint(texts(list)))
			if !fails {
				m, rv = want, at
			}
		case 4:
			rv = fmt.Sprint([]string{"", "v"}[c.IntN(2)], 200+n) // which need not be a number
			x.Bookmark(rv)
		case 5:
			if n < 12 {
				break
			}
			name := []string{"last", "over", "home"}[c.IntN(3)]
			added := cache.Indexers{name: indexFunctions[name]}
			taken := functions[name] != nil
			if c.oneIn(2) { // a name that is there, beside
				added[of], taken = functions[of], true
			}
			c.is("AddIndexers fails", taken, x.AddIndexers(added) != nil)
			if !taken {
				functions[name] = indexFunctions[name]
			}
		case 6:
			got, exists, err := x.Get(obj)
			c.is("Get", fmt.Sprint(m[key], m[key] != "", nil), fmt.Sprint(map[bool]string{true: text(got)}[exists], exists, err))
			got, exists, err = x.Get(cache.ExplicitKey(key))
			c.is("Get of a key alone", fmt.Sprint(m[key], m[key] != "", nil), fmt.Sprint(map[bool]string{true: text(got)}[exists], exists, err))
			got, exists, err = x.Get(0)
			c.is("Get of what has no key", fmt.Sprint(nil, false, true), fmt.Sprint(got, exists, err != nil))
		}
		c.is("LastStoreSyncResourceVersion", rv, x.LastStoreSyncResourceVersion())
		c.holds(x, m, functions)
	}
	c.renames()
	c.unindexed()
	c.indexedLate()
	c.indexedAtOnce()
}

// holds compares what an Indexer holds, and its indices.
func (c *check) holds(x *informer.Indexer, m map[string]string, functions cache.Indexers) {
	var names, objs []string
	for _, k := range keys {
		if m[k] != "" {
			names, objs = append(names, k), append(objs, m[k])
		}
	}
	c.is("Len", len(names), x.Len())
	if c.oneIn(2) { // which sorts them
		c.is("ListKeys", fmt.Sprint(names), fmt.Sprint(x.ListKeys()))
	}
	list := x.List()
	c.is("List", fmt.Sprint(objs), fmt.Sprint(texts(list)))
	for _, name := range []string{cache.NamespaceIndex, "last", "over", "home"} {
		f := functions[name]
		if f == nil {
			_, err := x.IndexKeys(name, "")
			c.is("IndexKeys of an index that is not there fails", true, err != nil)
			continue
		}
		want := map[string][]string{}
		for i, obj := range list {
			values, _ := f(obj) // the functions do not fail
			for _, v := range slices.Compact(sorted(values)) {
				want[v] = append(want[v], x.ListKeys()[i])
			}
		}
		got := map[string][]string{}
		for _, v := range x.ListIndexFuncValues(name) {
			got[v], _ = x.IndexKeys(name, v) // it is there
		}
		c.is("the index "+name, want, got)
		for _, obj := range list[:min(1, len(list))] {
			var all []string
			values, _ := f(obj)
			for _, v := range values {
				all = append(all, want[v]...)
			}
			found, err := x.Index(name, obj)
			c.is("Index fails", false, err != nil)
			var got []string
			for _, obj := range found {
				got = append(got, text(obj)[:5])
			}
			c.is("Index", fmt.Sprint(slices.Compact(sorted(all))), fmt.Sprint(got))
		}
	}
}
