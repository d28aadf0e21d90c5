package library

import (
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
)

// consistency compares a streaming list with a list of the same revision, in another order, of which some are not alike (I24).
func consistency(c *check) {
	o, ok := informer.ConsistencyListOptions("17")
	c.is("ConsistencyListOptions", `"17" Exact 0 "" true`, fmt.Sprintf("%q %s %d %q %t", o.ResourceVersion, o.ResourceVersionMatch, o.Limit, o.Continue, ok))
	_, ok = informer.ConsistencyListOptions("0")
	c.is("ConsistencyListOptions of 0", false, ok)

	c.sameRevision()
	var listed []runtime.Object
	var received []any
	var transformer cache.TransformFunc
	if c.oneIn(2) {
		transformer = func(obj any) (any, error) { return labelled(obj.(*metav1.PartialObjectMetadata)), nil }
	}
	perm := []int{0, 1, 2, 3} // whose uid is which
	for n := range perm {
		m := n + c.IntN(len(perm)-n)
		perm[n], perm[m] = perm[m], perm[n]
	}
	for n := range keys {
		obj := object(keys[n], 1)
		obj.UID = types.UID(fmt.Sprint("uid-", perm[n]))
		listed = append(listed, obj)
		other := obj.DeepCopy()
		if transformer != nil {
			other = labelled(other)
		}
		received = append([]any{other}, received...)
	}
	compare := func() error { return informer.CheckConsistency(listed, received, transformer) }
	c.is("CheckConsistency of the same objects", nil, compare())
	c.is("a listed object was transformed in place", "", listed[0].(*metav1.PartialObjectMetadata).Labels["made"])

	first, second := perm[0], perm[1]
	if first > second {
		first, second = second, first
	}
	for n := range keys {
		if perm[n] == first || perm[n] == second {
			received[len(keys)-1-n].(*metav1.PartialObjectMetadata).ResourceVersion = "2"
		}
	}
	err := compare()
	c.is("CheckConsistency of objects that differ says which is the first, by uid, and how", true,
		err != nil && strings.Contains(err.Error(), fmt.Sprintf("uid=uid-%d resourceVersion=1", first)) && strings.Contains(err.Error(), fmt.Sprintf("uid=uid-%d resourceVersion=2", first)))
	for _, obj := range received {
		obj.(*metav1.PartialObjectMetadata).ResourceVersion = "1"
	}
	last := received[0]
	for n, p := range perm {
		if p == len(keys)-1 {
			last = received[len(keys)-1-n]
			received = append(received[:len(keys)-1-n], received[len(keys)-n:]...)
		}
	}
	c.is("CheckConsistency of a streaming list that lacks an object fails", true, compare() != nil)
	received, listed = append(received, last), listed[1:]
	c.is("CheckConsistency of a list that lacks an object fails", true, compare() != nil)
	received = append(received, cache.DeletedFinalStateUnknown{Key: "ns1/a"})
	c.is("CheckConsistency of something that is no object fails", true, compare() != nil)
	failing := func(any) (any, error) { return nil, errTransform }
	c.is("CheckConsistency with a transformer that fails", true, errors.Is(informer.CheckConsistency(listed, received, failing), errTransform))
	c.is("CheckConsistency of lists without objects, with a transformer that fails", nil, informer.CheckConsistency(nil, nil, failing))
}

var errTransform = errors.New("it cannot be transformed")

func labelled(obj *metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
	obj = obj.DeepCopy()
	obj.Labels = map[string]string{"made": "yes"}
	return obj
}
