package builtin

import (
	"encoding/json"
	"flag"
	"math/rand"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// words are what the texts of an object are made of: some that are right in many places, and some that are wrong in most.
var words = []string{
	"a", "b", "c-d", "A!", "B!", "C_", "e.com/f", "g.com/h!", "k8s.io/x", "", "*", "beta.kubernetes.io/os", "failure-domain.beta.kubernetes.io/zone",
	"TCP", "Never", "10.0.0.1", "cpu", "memory", "storage", "hugepages-1Mi",
}

// anyObject returns an object of a resource with something in each of its fields, as the server gets it from a client. It is nil if no
// client could send it.
func anyObject(t *testing.T, r *types.Resource, seed int64) runtime.Object {
	t.Helper()
	obj, err := clientscheme.Scheme.New(r.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	one := func(c randfill.Continue) string { return words[c.Intn(len(words))] }
	randfill.New().RandSource(rand.NewSource(seed)).NilChance(0.3).NumElements(1, 4).MaxDepth(14).Funcs(
		func(s *string, c randfill.Continue) { *s = one(c) },
		func(s *corev1.ResourceName, c randfill.Continue) { *s = corev1.ResourceName(one(c)) },
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewQuantity(int64(c.Intn(5)-1), resource.DecimalSI)
		},
		func(v *intstr.IntOrString, c randfill.Continue) { *v = intstr.FromInt32(int32(c.Intn(5) - 1)) },
		func(at *metav1.Time, c randfill.Continue) { *at = metav1.Unix(int64(c.Intn(1000)), 0) },
		func(raw *runtime.RawExtension, _ randfill.Continue) { raw.Raw = []byte("{}") },
		func(*runtime.Object, randfill.Continue) {},
		func(m *metav1.ObjectMeta, c randfill.Continue) { c.FillNoCustom(m); m.ManagedFields = nil },
	).Fill(obj)
	obj.GetObjectKind().SetGroupVersionKind(r.GroupVersionKind())
	if m, err := meta.Accessor(obj); err == nil {
		m.SetName("one")
		m.SetGenerateName("")
		m.SetNamespace("")
		if r.Namespaced {
			m.SetNamespace("ns")
		}
		m.SetResourceVersion("")
		m.SetUID("u-1")
	}
	body, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	decoded, _, err := r.Decode(types.Body{Data: body, ContentType: types.JSON}, "")
	if err != nil {
		return nil
	}
	return decoded
}

// answerOf has all that a client is told of a write, and what is stored.
func answerOf(t *testing.T, out types.Outcome, err error) string {
	t.Helper()
	text := strings.Join(out.Warnings, "\n")
	if err != nil {
		text += "\n" + strings.ReplaceAll(err.Error(), ", ", "\n")
	}
	for _, obj := range []runtime.Object{out.Stored, out.Answer} {
		if obj != nil {
			b, err := json.Marshal(obj)
			if err != nil {
				t.Fatal(err)
			}
			text += "\n" + string(b)
		}
	}
	return text
}

var steadySeeds = flag.Int64("seeds", 1, "how many objects of each kind TestAnswersAreTheSameEachTime and TestTimesAreTheRuns write")

// Whatever is created or updated, right or wrong, has the same answer each time, although Kubernetes' code walks maps. With a new release of Kubernetes it
// wants more seeds once, which take minutes:
//
//	go test ./fakeapiserver/builtin -run TestAnswersAre -seeds 60
func TestAnswersAreTheSameEachTime(t *testing.T) {
	seeds, repeats := *steadySeeds, 5
	for _, r := range Resources(Options{}) {
		if _, ok := r.Strategy.(types.Storage); !ok {
			continue
		}
		t.Run(r.GroupVersion().String()+"/"+r.Plural, func(t *testing.T) {
			for seed := range seeds {
				live, next := anyObject(t, r, seed), anyObject(t, r, seed+seeds)
				if live == nil || next == nil {
					continue
				}
				writes := map[string]func() (types.Outcome, error){"create": func() (types.Outcome, error) {
					s := &single{t: t, r: r, now: noon}
					return s.storage().Create(s.write("", ""), live.DeepCopyObject())
				}}
				for _, sub := range []string{"", "status"} {
					if !r.Allows("update", sub) {
						continue
					}
					writes["update "+sub] = func() (types.Outcome, error) {
						was := live.DeepCopyObject()
						m, _ := meta.Accessor(was)
						m.SetResourceVersion("7")
						s := &single{t: t, r: r, now: noon, objs: []runtime.Object{was}}
						return s.storage().Update(s.write(sub, "one"), func(runtime.Object) (runtime.Object, error) {
							new := next.DeepCopyObject()
							m, _ := meta.Accessor(new)
							m.SetResourceVersion("7")
							return new, nil
						})
					}
				}
				for what, write := range writes {
					out, err := write()
					want := answerOf(t, out, err)
					for range repeats {
						out, err := write()
						if got := answerOf(t, out, err); got != want {
							t.Errorf("%s of seed %d: once\n%.300s\nand then\n%.300s", what, seed, firstDifference(want, got), firstDifference(got, want))
							break
						}
					}
				}
			}
		})
	}
}

// firstDifference returns the first line of a text that another does not have in its place.
func firstDifference(text, other string) string {
	others := strings.Split(other, "\n")
	for i, line := range strings.Split(text, "\n") {
		if i >= len(others) || others[i] != line {
			return line
		}
	}
	return ""
}
