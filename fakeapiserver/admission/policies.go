package admission

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// The resources whose objects are policies. Without a binding, a policy does nothing.
const (
	mutatingPolicies   = "mutatingadmissionpolicies"
	mutatingBindings   = "mutatingadmissionpolicybindings"
	validatingPolicies = "validatingadmissionpolicies"
	validatingBindings = "validatingadmissionpolicybindings"
)

// policies evaluates admission policies. A real server's plugins compile them on goroutines of their own, up to a second after they have
// changed; here they are compiled when a write first meets them. What they decide is the plugins' own.
type policies struct {
	mutate     generic.Dispatcher[mutating.PolicyHook]
	validate   generic.Dispatcher[validating.PolicyHook]
	mutators   map[*v1.MutatingAdmissionPolicy]mutating.PolicyEvaluator // objects of the Store are never modified
	validators map[*v1.ValidatingAdmissionPolicy]validating.Validator
}

// bound is what policies are to be evaluated for a write.
type bound struct {
	mutating   []mutating.PolicyHook
	validating []validating.PolicyHook
}

func newPolicies(p *Plugins) *policies {
	matcher := matching.NewMatcher(corelisters.NewNamespaceLister(p.snapshot.namespaces.objects), p.client)
	return &policies{
		mutate: mutating.NewDispatcher(p.o.Authorizer, matcher, convertersOf{p}), validate: validating.NewDispatcher(p.o.Authorizer, generic.NewPolicyMatcher(matcher)),
		mutators: map[*v1.MutatingAdmissionPolicy]mutating.PolicyEvaluator{}, validators: map[*v1.ValidatingAdmissionPolicy]validating.Validator{},
	}
}

// convertersOf knows the types that configurations of a policy are applied with.
type convertersOf struct{ *Plugins }

// GetTypeConverter implements patch.TypeConverterManager.
func (c convertersOf) GetTypeConverter(kind schema.GroupVersionKind) managedfields.TypeConverter {
	if r := c.o.Types.ByKind(kind); r != nil {
		return r.Strategy.TypeConverter()
	}
	return nil
}

// Run implements patch.TypeConverterManager.
func (convertersOf) Run(context.Context) {}

// exempt are the resources that no policy is about, so that none can lock everybody out.
var exempt = []string{mutatingPolicies, mutatingBindings, validatingPolicies, validatingBindings}

// boundPolicies returns the policies that have bindings, in the order of their names. It is called inside a step.
func (p *Plugins) boundPolicies(r *Review) bound {
	if gr := r.write.Resource.GroupResource(); gr.Group == v1.GroupName && slices.Contains(exempt, gr.Resource) {
		return bound{}
	}
	var b bound
	if r.write.Operation != "DELETE" {
		b.mutating = hooksOf(p, mutatingPolicies, mutatingBindings, mutating.NewMutatingAdmissionPolicyAccessor, mutating.NewMutatingAdmissionPolicyBindingAccessor,
			p.policies.mutators, compileMutating)
	}
	b.validating = hooksOf(p, validatingPolicies, validatingBindings, validating.NewValidatingAdmissionPolicyAccessor, validating.NewValidatingAdmissionPolicyBindingAccessor,
		p.policies.validators, compileValidating)
	return b
}

// policyObject is a policy or a binding.
type policyObject interface {
	comparable
	runtime.Object
}

func hooksOf[P, B policyObject, E any](p *Plugins, policies, bindings string, policyOf func(P) generic.PolicyAccessor, bindingOf func(B) generic.BindingAccessor,
	compiled map[P]E, compile func(P) E) (all []generic.PolicyHook[P, B, E]) {
	byPolicy := map[string][]B{}
	for _, b := range listed[B](p, bindings) {
		name := bindingOf(b).GetPolicyName().Name
		byPolicy[name] = append(byPolicy[name], b)
	}
	if len(byPolicy) == 0 {
		clear(compiled)
		return nil
	}
	known := listed[P](p, policies)
	for _, policy := range known {
		accessor := policyOf(policy)
		if len(byPolicy[accessor.GetName()]) == 0 {
			continue
		}
		evaluator, have := compiled[policy]
		if !have {
			evaluator = compile(policy)
			compiled[policy] = evaluator
		}
		h := generic.PolicyHook[P, B, E]{Policy: policy, Bindings: byPolicy[accessor.GetName()], Evaluator: evaluator}
		if kind := accessor.GetParamKind(); kind != nil {
			h.ParamInformer, h.ParamScope, h.ConfigurationError = p.params(kind)
		}
		all = append(all, h)
	}
	for policy := range compiled { // order: whatever is gone goes
		if !slices.Contains(known, policy) {
			delete(compiled, policy)
		}
	}
	return all
}

// params returns the objects that policies with a kind of parameters may refer to.
func (p *Plugins) params(kind *v1.ParamKind) (informers.GenericInformer, meta.RESTScope, error) {
	gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
	r := p.o.Types.ByKind(gvk)
	if r == nil {
		return nil, nil, fmt.Errorf("failed to find resource referenced by paramKind: '%v'", gvk)
	}
	var scope meta.RESTScope = meta.RESTScopeRoot
	if r.Namespaced {
		scope = meta.RESTScopeNamespace
	}
	objects := newInformer()
	objects.objects = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	id, ok := p.o.Cluster.FindResource(r.GroupResource())
	if !ok {
		return params{objects, r.GroupResource()}, scope, nil
	}
	var failed error
	s := p.o.Cluster.Store()
	s.Newest(id, "", func(_ string, obj runtime.Object) bool {
		if obj, failed = r.Strategy.Convert(obj); failed == nil {
			failed = objects.objects.Add(obj)
		}
		return failed == nil
	})
	return params{objects, r.GroupResource()}, scope, failed
}

// params is an informer of parameters.
type params struct {
	of       *informer
	resource schema.GroupResource
}

func (p params) Informer() cache.SharedIndexInformer { return p.of }
func (p params) Lister() cache.GenericLister {
	return orderedLister{cache.NewGenericLister(p.of.objects, p.resource)}
}

// orderedLister lists objects in the order of their names, so that the first that a write offends against is always the same.
type orderedLister struct{ cache.GenericLister }

func (l orderedLister) ByNamespace(namespace string) cache.GenericNamespaceLister {
	return orderedNamespace{l.GenericLister.ByNamespace(namespace)}
}

func (l orderedLister) List(s labels.Selector) ([]runtime.Object, error) {
	all, err := l.GenericLister.List(s)
	slices.SortFunc(all, byName)
	return all, err
}

type orderedNamespace struct{ cache.GenericNamespaceLister }

func (l orderedNamespace) List(s labels.Selector) ([]runtime.Object, error) {
	all, err := l.GenericNamespaceLister.List(s)
	slices.SortFunc(all, byName)
	return all, err
}

// admitPolicies lets policies change an object.
func (r *Review) admitPolicies(ctx context.Context, a admission.Attributes) error {
	if len(r.policies.mutating) == 0 {
		return nil
	}
	return r.plugins.policies.mutate.Dispatch(ctx, a, interfaces{r}, r.policies.mutating)
}

// ValidatePolicies asks the policies that may refuse a write. Webhooks are asked after them.
func (r *Review) ValidatePolicies(ctx context.Context, obj, old *unstructured.Unstructured) ([]string, error) {
	if len(r.policies.validating) == 0 {
		return nil, r.failed
	}
	return r.ask(ctx, func(ctx context.Context) error { return r.validatePolicies(ctx, r.attributes(obj, old)) })
}

func (r *Review) validatePolicies(ctx context.Context, a admission.Attributes) error {
	if len(r.policies.validating) == 0 {
		return nil
	}
	return r.plugins.policies.validate.Dispatch(ctx, a, interfaces{r}, r.policies.validating)
}

func byName(a, b runtime.Object) int {
	x, errX := meta.Accessor(a)
	y, errY := meta.Accessor(b)
	if errX != nil || errY != nil {
		return 0
	}
	return cmp.Compare(x.GetNamespace()+"/"+x.GetName(), y.GetNamespace()+"/"+y.GetName())
}
