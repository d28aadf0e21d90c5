package subjects

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// Reading is one way to read an informer's Indexer, as a controller does.
type Reading struct {
	Way Way
	// Namespace is what is asked for of the ways that have one; "" for all.
	Namespace string
	// Labels is the label selector; "" for everything. Nothing is labels.Nothing instead, which has no text.
	Labels  string
	Nothing bool
	// Index and Value are for ByIndex; Index is for Index, too.
	Index, Value string
	// Key is that of the object that Get asks for, or whose values Index looks up. If the Indexer lacks it, Index has nothing to look up.
	Key string
}

// Way is a function that reads an Indexer.
type Way byte

// The ways to read.
const (
	List               Way = iota // Store.List
	ListAll                       // cache.ListAll
	ListAllByNamespace            // cache.ListAllByNamespace
	ListWithoutIndex              // cache.ListAllByNamespace, of a copy of the Indexer without an index of namespaces
	ListerList                    // GenericLister.List, or ByNamespace(Namespace).List
	ListerGet                     // GenericLister.Get, or ByNamespace(namespace).Get
	Get                           // Store.Get
	Index                         // Indexer.Index
	ByIndex                       // Indexer.ByIndex
	waysToRead         = ByIndex + 1
)

// String returns the name of the function.
func (w Way) String() string {
	return [waysToRead]string{
		"Store.List", "ListAll", "ListAllByNamespace", "ListAllByNamespace without an index of namespaces", "the lister's List", "the lister's Get", "Store.Get", "Index", "ByIndex",
	}[w]
}

// ReadIndexer reads an Indexer. An object that is not there is no error of Get, but one of the lister, which says NotFound.
func ReadIndexer(x cache.Indexer, r Reading) (found []any, err error) {
	selector, err := r.selector()
	if err != nil {
		return nil, err
	}
	collect := func(obj any) { found = append(found, obj) }
	switch r.Way {
	case List:
		return x.List(), nil
	case ListAll:
		err = cache.ListAll(x, selector, collect)
	case ListAllByNamespace:
		err = cache.ListAllByNamespace(x, r.Namespace, selector, collect)
	case ListWithoutIndex:
		plain := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
		if err := plain.Replace(x.List(), ""); err != nil {
			return nil, err
		}
		err = cache.ListAllByNamespace(plain, r.Namespace, selector, collect)
	case ListerList:
		lister := cache.NewGenericLister(x, schema.GroupResource{})
		list := lister.List
		if r.Namespace != "" {
			list = lister.ByNamespace(r.Namespace).List
		}
		objs, err := list(selector)
		for _, obj := range objs {
			collect(obj)
		}
		return found, err
	case Index:
		obj, exists, err := x.GetByKey(r.Key)
		if err != nil || !exists {
			return nil, err
		}
		return x.Index(r.Index, obj)
	case ByIndex:
		return x.ByIndex(r.Index, r.Value)
	default:
		return r.get(x)
	}
	return found, err
}

// get is ReadIndexer for one object.
func (r *Reading) get(x cache.Indexer) ([]any, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(r.Key)
	if err != nil {
		return nil, err
	}
	if r.Way == Get {
		obj, exists, err := x.Get(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
		if err != nil || !exists {
			return nil, err
		}
		return []any{obj}, nil
	}
	lister := cache.NewGenericLister(x, schema.GroupResource{Resource: "objects"})
	var obj runtime.Object
	if namespace == "" {
		obj, err = lister.Get(name)
	} else {
		obj, err = lister.ByNamespace(namespace).Get(name)
	}
	if err != nil {
		return nil, err
	}
	return []any{obj}, nil
}

// Selectors are texts of label selectors of which each selects some of the objects that scenarios are about.
var Selectors = []string{"app=x", "app=y", "tier", "app!=x"}

// parsed are their selectors, and that of everything: a property asks for them again and again.
var parsed = func() map[string]labels.Selector {
	all := map[string]labels.Selector{"": labels.Everything()}
	for _, text := range Selectors {
		s, err := labels.Parse(text)
		if err != nil {
			panic(err) // it is written above
		}
		all[text] = s
	}
	return all
}()

// selector returns the label selector.
func (r *Reading) selector() (labels.Selector, error) {
	if r.Nothing {
		return labels.Nothing(), nil
	}
	if s := parsed[r.Labels]; s != nil {
		return s, nil
	}
	return labels.Parse(r.Labels)
}

// Selects reports whether the selector selects an object with these labels.
func (r *Reading) Selects(of map[string]string) bool {
	s, err := r.selector()
	return err == nil && s.Matches(labels.Set(of))
}

// Describe says what was asked.
func (r *Reading) Describe() string {
	switch r.Way {
	case Get, ListerGet:
		return r.Way.String() + " of " + r.Key
	case Index:
		return r.Way.String() + " " + r.Index + " with " + r.Key
	case ByIndex:
		return r.Way.String() + " " + r.Index + " with " + r.Value
	case List:
		return r.Way.String()
	}
	of := "all namespaces"
	if r.Namespace != "" {
		of = "namespace " + r.Namespace
	}
	selector := cmp.Or(r.Labels, "everything")
	if r.Nothing {
		selector = "nothing"
	}
	return r.Way.String() + " of " + of + " that selects " + selector
}
