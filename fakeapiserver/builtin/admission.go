package builtin

import (
	"context"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	certapproval "k8s.io/kubernetes/plugin/pkg/admission/certificates/approval"
	certsigning "k8s.io/kubernetes/plugin/pkg/admission/certificates/signing"
	certsubjectrestriction "k8s.io/kubernetes/plugin/pkg/admission/certificates/subjectrestriction"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/kubernetes/plugin/pkg/admission/network/defaultingressclass"
	"k8s.io/kubernetes/plugin/pkg/admission/nodetaint"
	podpriority "k8s.io/kubernetes/plugin/pkg/admission/priority"
	"k8s.io/kubernetes/plugin/pkg/admission/runtimeclass"
	"k8s.io/kubernetes/plugin/pkg/admission/security/podsecurity"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/persistentvolume/resize"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/storageclass/setdefault"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/storageobjectinuseprotection"
)

// plugins lists, in their order, the admission plugins that are on by default (pkg/kubeapiserver/options/plugins.go) and that look at nothing
// but stored objects. Not among them: NamespaceLifecycle, which is the server's own; ServiceAccount, which envtest turns off, too;
// ResourceQuota, which comes last of all (package quotas); what is configured by objects (webhooks, policies).
var plugins = []struct {
	name     string
	register func(*admission.Plugins)
}{
	{limitranger.PluginName, registerLimitRanger},
	{nodetaint.PluginName, nodetaint.Register},
	{podsecurity.PluginName, podsecurity.Register},
	{podpriority.PluginName, podpriority.Register},
	{defaulttolerationseconds.PluginName, defaulttolerationseconds.Register},
	{setdefault.PluginName, setdefault.Register},
	{storageobjectinuseprotection.PluginName, storageobjectinuseprotection.Register},
	{resize.PluginName, resize.Register},
	{runtimeclass.PluginName, runtimeclass.Register},
	{certapproval.PluginName, certapproval.Register},
	{certsigning.PluginName, certsigning.Register},
	{certsubjectrestriction.PluginName, certsubjectrestriction.Register},
	{defaultingressclass.PluginName, defaultingressclass.Register},
}

// registerLimitRanger registers a LimitRanger that says the same each time.
func registerLimitRanger(all *admission.Plugins) {
	all.Register(limitranger.PluginName, func(io.Reader) (admission.Interface, error) { return limitranger.NewLimitRanger(&limits{}) })
}

// newAdmission returns the chain of plugins.
func newAdmission(now *current, o Options) (admission.Interface, error) {
	all := admission.NewPlugins()
	views := informerViews{now: now}
	init := initializer.New(noClient{}, nil, views, o.Authorizer, utilfeature.DefaultFeatureGate,
		compatibility.DefaultBuildEffectiveVersion(), nil, nil)
	var chain []admission.Interface
	for _, p := range plugins {
		if o.Unprotected && p.name == storageobjectinuseprotection.PluginName {
			continue
		}
		p.register(all)
		plugin, err := all.InitPlugin(p.name, nil, init)
		if err != nil {
			return nil, fmt.Errorf("builtin: admission plugin %s: %w", p.name, err)
		}
		chain = append(chain, plugin)
	}
	return admission.NewChainHandler(chain...), nil
}

var interfaces = admission.NewObjectInterfacesFromScheme(scheme)

// attributes describes a write for the plugins.
func (s *session) attributes(ctx context.Context, op admission.Operation, obj, old, options runtime.Object) admission.Attributes {
	r, w := s.kind.resource, s.write
	who, _ := request.UserFrom(ctx)
	return admission.NewAttributesRecord(obj, old, r.KindOf(w.Subresource), w.Namespace, w.Name, r.GroupVersionResource(), w.Subresource, op, options, w.DryRun, who)
}

// admit lets the plugins change an object, in place.
func (s *session) admit(ctx context.Context, op admission.Operation, obj, old, options runtime.Object) error {
	chain, ok := s.kind.admission.(admission.MutationInterface)
	if !ok || !chain.Handles(op) {
		return nil
	}
	return chain.Admit(ctx, s.attributes(ctx, op, obj, old, options), interfaces)
}

// validateCreate, validateUpdate and validateDelete let the plugins reject a write.
func (s *session) validateCreate(ctx context.Context, options runtime.Object) rest.ValidateObjectFunc {
	if err := s.write.CreateRefused; err != nil {
		return func(context.Context, runtime.Object) error { return err }
	}
	return rest.AdmissionToValidateObjectFunc(s.kind.admission, s.attributes(ctx, admission.Create, nil, nil, options), interfaces)
}

func (s *session) validateUpdate(ctx context.Context, options runtime.Object) rest.ValidateObjectUpdateFunc {
	return rest.AdmissionToValidateObjectUpdateFunc(s.kind.admission, s.attributes(ctx, admission.Update, nil, nil, options), interfaces)
}

func (s *session) validateDelete(ctx context.Context, options runtime.Object) rest.ValidateObjectFunc {
	return rest.AdmissionToValidateObjectDeleteFunc(s.kind.admission, s.attributes(ctx, admission.Delete, nil, nil, options), interfaces)
}
