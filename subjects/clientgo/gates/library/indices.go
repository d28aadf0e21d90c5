package library

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// digits is an index function: the digits of a revision, which may be several or one, and repeat, except zeros.
func digits(obj any) (all []string, _ error) {
	for _, d := range obj.(*metav1.PartialObjectMetadata).ResourceVersion {
		if d != '0' {
			all = append(all, string(d))
		}
	}
	return all, nil
}

// indices hold an index with several values of each object against what its function says of a model.
func (c *check) indices() {
	x, m := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"digits": digits}), model{}
	for n := range 12 {
		draws := []int{0, 4, 44, 454, 4540, 4641, 54321}
		c.change(x, m, draws[c.IntN(len(draws))])
		want, values := map[string][]string{}, []string{}
		for _, key := range m.keys() {
			of, _ := digits(m[key]) // it does not fail
			for _, v := range of {
				if !slices.Contains(want[v], key) {
					want[v] = append(want[v], key)
				}
				if !slices.Contains(values, v) {
					values = append(values, v)
				}
			}
		}
		c.is(fmt.Sprintf("ListIndexFuncValues of an index with several values after %d changes", n+1), sorted(values), sorted(x.ListIndexFuncValues("digits")))
		for _, v := range values {
			got, err := x.IndexKeys("digits", v)
			c.no("IndexKeys", err)
			c.is("IndexKeys of an index with several values, with "+v, want[v], got)
			objs, err := x.ByIndex("digits", v)
			c.no("ByIndex", err)
			c.is("how much ByIndex finds of an index with several values, with "+v, len(want[v]), len(objs))
		}
		all := map[string]bool{}
		of := object("c", draws[c.IntN(len(draws))])
		for _, v := range first(digits(of)) {
			for _, key := range want[v] {
				all[key] = true
			}
		}
		objs, err := x.Index("digits", of)
		c.no("Index", err)
		c.is("how much Index finds of an index with several values, for "+text(of), len(all), len(objs))
		if len(c.wrong) > 0 {
			return
		}
	}
	c.unversioned()
}

// first returns the first of two results.
func first[T any](v T, _ error) T { return v }
