package library

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/internal/same"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// checks are those of all parts.
var checks = [...]struct {
	part string
	run  func(*check)
}{
	{"the limiters", limiters},
	{"the delaying queue", delayingQueues},
	{"the work queue", workQueues},
	{"RESTRetry", restRetries},
	{"DeltaFIFO", deltaQueues},
	{"RealFIFO", realQueues},
	{"Indexer", indexers},
	{"Controller", controllers},
	{"Processor", processors},
	{"MutationDetector", detectors},
	{"Reflector", reflectors},
	{"Informer", assembled},
	{"memory", memory},
}

// check is one round of calls of a part.
type check struct {
	*sim.Stream
	part  string
	wrong []subjects.Outcome
	right subjects.History
}

// Check makes the round of calls that has the number turn, and returns what was not as the model says.
func Check(turn uint64) []subjects.Outcome {
	of := checks[turn%uint64(len(checks))]
	c := &check{Stream: sim.NewStream(turn, "library"), part: of.part}
	func() {
		defer func() {
			if r := recover(); r != nil {
				c.is("a call of the round", "returns", fmt.Sprintf("panics: %v, in %s", r, subjects.Panicking()[0]))
			}
		}()
		of.run(c)
	}()
	return c.wrong
}

// is notes what came of a call if that is not what the model says. Only the first is kept: what follows it may follow from it.
func (c *check) is(call string, want, got any) {
	switch {
	case len(c.wrong) > 0:
	case same.Plainly(want, got) || reflect.DeepEqual(want, got):
		c.right.Add(call, got)
	default:
		c.wrong = append(c.wrong, subjects.Outcome{Call: c.part + ": " + call, Want: fmt.Sprint(want), Got: fmt.Sprint(got), Before: c.right.Texts()})
	}
}

// oneIn is true in one of n cases.
func (c *check) oneIn(n int) bool { return c.IntN(n) == 0 }

// start is when rounds begin.
var start = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// keys are those of the objects that checks are about.
var keys = []string{"ns1/a", "ns1/b", "ns2/a", "ns2/b"}

// key is any of them.
func (c *check) key() string { return keys[c.IntN(len(keys))] }

// object makes an object, at a revision.
func object(key string, revision int) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: key[:3], Name: key[4:], ResourceVersion: fmt.Sprint(revision)}}
}

// text describes an object by its key and revision.
func text(obj any) string {
	o, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok || o == nil {
		return fmt.Sprintf("%v", obj)
	}
	return o.Namespace + "/" + o.Name + "@" + o.ResourceVersion + o.Annotations["made"]
}

func texts[T any](objs []T) []string {
	all := make([]string, len(objs))
	for n, obj := range objs {
		all[n] = text(any(obj))
	}
	return all
}

// sorted returns a sorted copy.
func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}
