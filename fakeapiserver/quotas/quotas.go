package quotas

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	"k8s.io/apiserver/pkg/authentication/user"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
	"k8s.io/kubernetes/pkg/quota/v1/install"
	"k8s.io/utils/clock"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// Resource is what quotas are.
var Resource = corev1.Resource("resourcequotas")

// Quotas knows what objects use. It is for one goroutine.
type Quotas struct {
	registry quota.Registry
	now      time.Time
	list     func(schema.GroupResource) []runtime.Object
}

// New returns the rules of a v1.37 kube-apiserver. ResourceClaims are only counted: what their requests use of a DeviceClass, which takes a
// client, is not.
func New() (*Quotas, error) {
	q := &Quotas{}
	evaluators, err := core.NewEvaluators(q.lister, nil, func(r schema.GroupVersionResource) bool {
		return r.Resource != "pods" && r.Resource != "resourceclaims"
	})
	if err != nil {
		return nil, err
	}
	q.registry = generic.NewRegistry(append(evaluators, core.NewPodEvaluator(q.lister, watch{q: q})))
	return q, nil
}

// watch is the clock by which a Pod that should be gone by now no longer counts.
type watch struct {
	clock.Clock
	q *Quotas
}

// Now implements clock.Clock.
func (w watch) Now() time.Time { return w.q.now }

// evaluator returns the rules for a resource: those that it has of its own, or that its objects are counted. nil is for what no quota limits.
func (q *Quotas) evaluator(gr schema.GroupResource) quota.Evaluator {
	if _, ignored := install.DefaultIgnoredResources()[gr]; ignored {
		return nil
	}
	e := q.registry.Get(gr)
	if e == nil {
		e = generic.NewObjectCountEvaluator(gr, generic.ListResourceUsingListerFunc(q.lister, gr.WithVersion("")), "")
		q.registry.Add(e)
	}
	return e
}

// Charge returns the quotas that a write takes from, with what they have left, or why it may not be. obj is what is to be stored, old what is there,
// nil for a create.
func (q *Quotas) Charge(r *types.Resource, w *types.Write, obj, old runtime.Object) ([]types.Effect, error) {
	if w.Namespace == "" {
		return nil, nil
	}
	have := copies(w.List(Resource, w.Namespace))
	if len(have) == 0 {
		return nil, nil
	}
	e := q.evaluator(r.GroupResource())
	if e == nil {
		return nil, nil
	}
	op := admission.Create
	if old != nil {
		op = admission.Update
	}
	who := &user.DefaultInfo{Name: w.User.Name, UID: w.User.UID, Groups: w.User.Groups, Extra: w.User.Extra}
	q.now = w.System.Now
	charged, err := resourcequota.CheckRequest(have, admission.NewAttributesRecord(obj, old, r.KindOf(w.Subresource), w.Namespace, w.Name,
		r.GroupVersionResource(), w.Subresource, op, nil, w.DryRun, who), e, nil)
	if err != nil || w.DryRun {
		return nil, err
	}
	var effects []types.Effect
	for i := range charged {
		if !quota.Equals(have[i].Status.Used, charged[i].Status.Used) {
			effects = append(effects, types.Effect{Resource: Resource, Put: &charged[i], Subresource: types.Status})
		}
	}
	return effects, nil
}

// copies returns copies of quotas.
func copies(all []runtime.Object) (quotas []corev1.ResourceQuota) {
	for _, obj := range all {
		if have, ok := obj.(*corev1.ResourceQuota); ok {
			quotas = append(quotas, *have.DeepCopy())
		}
	}
	return quotas
}

// Count returns a quota with the status that its namespace's objects make, nil if it has it.
func (q *Quotas) Count(of *corev1.ResourceQuota, now time.Time, list func(schema.GroupResource) []runtime.Object) (*corev1.ResourceQuota, error) {
	q.now, q.list = now, list
	defer func() { q.list = nil }()
	const count = "count/"
	for name := range of.Spec.Hard { // order: into another map
		if gr, ok := strings.CutPrefix(string(name), count); ok {
			q.evaluator(schema.ParseGroupResource(gr))
		}
	}
	usage, err := quota.CalculateUsage(of.Namespace, of.Spec.Scopes, of.Spec.Hard, q.registry, of.Spec.ScopeSelector)
	if err != nil {
		return nil, err
	}
	used := quota.Add(corev1.ResourceList{}, of.Status.Used)
	for name, n := range usage { // order: into another map
		used[name] = n
	}
	counted := of.DeepCopy()
	counted.Status.Hard = quota.Add(corev1.ResourceList{}, of.Spec.Hard)
	counted.Status.Used = quota.Mask(used, quota.ResourceNames(of.Spec.Hard))
	if of.Status.Used != nil && apiequality.Semantic.DeepEqual(counted.Status.Hard, of.Status.Hard) && quota.Equals(counted.Status.Used, of.Status.Used) {
		return nil, nil
	}
	return counted, nil
}

// Frees reports whether a change may be less use than before, so that what it counts in has to be counted again. obj is nil after a deletion.
func Frees(gr schema.GroupResource, old, obj runtime.Object) bool {
	if obj == nil {
		return true
	}
	return old != nil && install.DefaultUpdateFilter()(gr.WithVersion("v1"), old, obj)
}

// lister lists the objects of a resource for Count.
func (q *Quotas) lister(r schema.GroupVersionResource) (cache.GenericLister, error) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, obj := range q.list(r.GroupResource()) {
		if err := indexer.Add(obj); err != nil {
			return nil, err
		}
	}
	return cache.NewGenericLister(indexer, r.GroupResource()), nil
}
