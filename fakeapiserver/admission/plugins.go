package admission

import (
	"context"
	"errors"
	"net/http"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/kubernetes"
	clientrest "k8s.io/client-go/rest"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// Options configure Plugins. Cluster and Types are required.
type Options struct {
	Cluster *fakeapiserver.Cluster
	Types   *types.Registry
	// Transport reaches the webhooks; nil for the network.
	Transport http.RoundTripper
	// EveryNamespace has a webhook see a namespace without an object as one that has only the label with its name, as in a cluster in which
	// namespaces need not be created.
	EveryNamespace bool
	// Authorizer is what expressions of webhooks and policies ask by the name authorizer; nil allows everything. It is asked outside of steps.
	Authorizer authorizer.UnconditionalAuthorizer
	// Limit bounds the calls for a request, nil for no bound.
	Limit func(context.Context) (context.Context, context.CancelFunc)
	// Warnings returns a collector of the warnings of a review; validating webhooks warn at the same time. nil where they are asked one by one.
	Warnings func() Warnings
}

// Warnings collects warnings.
type Warnings interface {
	warning.Recorder
	All() []string
}

// plainWarnings is a Warnings for one goroutine.
type plainWarnings struct{ all []string }

func (w *plainWarnings) AddWarning(_, text string) { w.all = append(w.all, text) }
func (w *plainWarnings) All() []string             { return w.all }

// Plugins is the rest.Admission of a cluster.
type Plugins struct {
	o        Options
	client   kubernetes.Interface
	snapshot *snapshot
	mutate   *mutating.Plugin
	validate *validating.Plugin
	alone    map[hook]*Validator
	policies *policies
}

// New returns the plugins of a cluster.
func New(o Options) (*Plugins, error) {
	if o.Warnings == nil {
		o.Warnings = func() Warnings { return &plainWarnings{} }
	}
	if o.Authorizer == nil {
		o.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	}
	client, err := kubernetes.NewForConfig(&clientrest.Config{Transport: noNamespaces{}})
	if err != nil {
		return nil, err
	}
	p := &Plugins{o: o, client: client, snapshot: newSnapshot(), alone: map[hook]*Validator{}}
	if p.mutate, err = mutating.NewMutatingWebhook(nil); err != nil {
		return nil, err
	}
	p.mutate.SetExternalKubeClientSet(client)
	p.mutate.SetExternalKubeInformerFactory(p.snapshot)
	p.mutate.SetUnconditionalAuthorizer(p.o.Authorizer)
	p.mutate.SetAuthenticationInfoResolverWrapper(p.reach)
	if err := p.mutate.ValidateInitialization(); err != nil {
		return nil, err
	}
	p.policies = newPolicies(p)
	p.validate, err = p.validator(p.snapshot)
	return p, err
}

// validator returns a plugin for the validating webhooks of a snapshot.
func (p *Plugins) validator(s *snapshot) (*validating.Plugin, error) {
	v, err := validating.NewValidatingAdmissionWebhook(nil)
	if err != nil {
		return nil, err
	}
	v.SetExternalKubeClientSet(p.client)
	v.SetExternalKubeInformerFactory(s)
	v.SetUnconditionalAuthorizer(p.o.Authorizer)
	v.SetAuthenticationInfoResolverWrapper(p.reach)
	return v, v.ValidateInitialization()
}

// reach has webhooks reached by Options.Transport.
func (p *Plugins) reach(network webhookutil.AuthenticationInfoResolver) webhookutil.AuthenticationInfoResolver {
	if p.o.Transport == nil {
		return network
	}
	config := func() (*clientrest.Config, error) {
		return &clientrest.Config{WrapTransport: func(http.RoundTripper) http.RoundTripper { return p.o.Transport }}, nil
	}
	return &webhookutil.AuthenticationInfoResolverDelegator{
		ClientConfigForFunc:        func(string) (*clientrest.Config, error) { return config() },
		ClientConfigForServiceFunc: func(string, string, int) (*clientrest.Config, error) { return config() },
	}
}

// noNamespaces answers that a namespace does not exist. The plugins ask for one that the snapshot lacks.
type noNamespaces struct{}

func (noNamespaces) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNotFound, Status: "404 Not Found", Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// The resources whose objects configure webhooks.
const (
	mutatingConfigurations   = "mutatingwebhookconfigurations"
	validatingConfigurations = "validatingwebhookconfigurations"
)

// Asks implements rest.Admission.
func (p *Plugins) Asks() bool {
	for _, resource := range []string{mutatingConfigurations, validatingConfigurations, mutatingBindings, validatingBindings} {
		if p.walk(resource, func(runtime.Object) bool { return false }) {
			return true
		}
	}
	return false
}

// Begin implements rest.Admission.
func (p *Plugins) Begin(write rest.AdmissionWrite) rest.AdmissionReview {
	mutating := listed[*admissionregistrationv1.MutatingWebhookConfiguration](p, mutatingConfigurations)
	validating := listed[*admissionregistrationv1.ValidatingWebhookConfiguration](p, validatingConfigurations)
	r := &Review{plugins: p, write: write, versions: p.versions(write.Resource), user: write.User, validating: validating}
	if r.user == nil {
		admin := types.Administrator()
		r.user = &user.DefaultInfo{Name: admin.Name, Groups: admin.Groups}
	}
	var all []admissionregistrationv1.RuleWithOperations
	for _, c := range mutating {
		for i := range c.Webhooks {
			all = append(all, c.Webhooks[i].Rules...)
		}
	}
	for _, c := range validating {
		for i := range c.Webhooks {
			all = append(all, c.Webhooks[i].Rules...)
		}
	}
	r.policies = p.boundPolicies(r)
	if !r.matches(all) && len(r.policies.mutating)+len(r.policies.validating) == 0 {
		return nil
	}
	r.failed = errors.Join(set(p.snapshot.mutating, mutating), set(p.snapshot.validating, validating), p.showNamespace(write))
	return r
}

// showNamespace puts the namespace that a write is in, or that it is about, into the snapshot. Those of other writes stay: they may be
// looked at just now.
func (p *Plugins) showNamespace(write rest.AdmissionWrite) error {
	name := namespaceOf(write)
	id, ok := p.o.Cluster.FindResource(schema.GroupResource{Resource: "namespaces"})
	if !ok || name == "" {
		return nil
	}
	if obj, _ := p.o.Cluster.Store().Get(id, "", name); obj != nil {
		return p.snapshot.namespaces.objects.Update(obj)
	}
	named := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}}}
	if p.o.EveryNamespace {
		return p.snapshot.namespaces.objects.Update(named)
	}
	return p.snapshot.namespaces.objects.Delete(named)
}

// namespaceOf returns the namespace of a write: a namespace is in itself, as on a real server.
func namespaceOf(write rest.AdmissionWrite) string {
	if write.Resource.Group == "" && write.Resource.Plural == "namespaces" {
		return write.Name
	}
	return write.Namespace
}

// listed returns the objects of a resource of admissionregistration.k8s.io, in the order of their names.
func listed[T runtime.Object](p *Plugins, resource string) (all []T) {
	p.walk(resource, func(obj runtime.Object) bool {
		if o, ok := obj.(T); ok {
			all = append(all, o)
		}
		return true
	})
	return all
}

// walk visits the objects of a resource of admissionregistration.k8s.io, in the order of their names, until visit returns false. It reports
// whether there is any.
func (p *Plugins) walk(resource string, visit func(runtime.Object) bool) (any bool) {
	id, ok := p.o.Cluster.FindResource(schema.GroupResource{Group: admissionregistrationv1.GroupName, Resource: resource})
	if !ok {
		return false
	}
	s := p.o.Cluster.Store()
	s.Newest(id, "", func(_ string, obj runtime.Object) bool {
		any = true
		return visit(obj)
	})
	return any
}

// versions returns the versions of a resource, which are equivalent, the given one first.
func (p *Plugins) versions(r *types.Resource) []*types.Resource {
	all := []*types.Resource{r}
	for _, t := range p.o.Types.All() {
		if t != r && t.GroupResource() == r.GroupResource() {
			all = append(all, t)
		}
	}
	return all
}

// Review is a rest.AdmissionReview.
type Review struct {
	plugins  *Plugins
	write    rest.AdmissionWrite
	versions []*types.Resource
	user     user.Info
	failed   error

	validating []*admissionregistrationv1.ValidatingWebhookConfiguration // when the review began
	policies   bound
}

// attributes describe the write for the plugins.
func (r *Review) attributes(obj, old *unstructured.Unstructured) admission.Attributes {
	w := r.write
	var object, oldObject runtime.Object
	if obj != nil {
		object = obj
	}
	if old != nil {
		oldObject = old
	}
	return admission.NewAttributesRecord(object, oldObject, w.Resource.KindOf(w.Subresource), namespaceOf(w), w.Name,
		resourceOf(w.Resource), w.Subresource, admission.Operation(w.Operation), w.Options, w.DryRun, r.user)
}

func resourceOf(t *types.Resource) schema.GroupVersionResource {
	return t.GroupResource().WithVersion(t.Version)
}

// matches reports whether a rule is about the write, in any version. The plugins then look at the rest.
func (r *Review) matches(all []admissionregistrationv1.RuleWithOperations) bool {
	for _, version := range r.versions {
		other := *r
		other.write.Resource = version
		attributes := other.attributes(nil, nil)
		for _, rule := range all {
			if m := (rules.Matcher{Rule: rule, Attr: attributes}); m.Matches() {
				return true
			}
		}
	}
	return false
}

// Mutate implements rest.AdmissionReview.
func (r *Review) Mutate(ctx context.Context, obj, old *unstructured.Unstructured) ([]string, error) {
	return r.ask(ctx, func(ctx context.Context) error {
		attributes := r.attributes(obj, old)
		err := r.admit(ctx, attributes)
		if again := attributes.GetReinvocationContext(); err == nil && again.ShouldReinvoke() {
			again.SetIsReinvoke()
			err = r.admit(ctx, attributes)
		}
		return err
	})
}

// Validate implements rest.AdmissionReview.
func (r *Review) Validate(ctx context.Context, obj, old *unstructured.Unstructured) ([]string, error) {
	return r.ask(ctx, func(ctx context.Context) error {
		a := r.attributes(obj, old)
		if err := r.validatePolicies(ctx, a); err != nil {
			return err
		}
		return r.plugins.validate.Validate(ctx, a, interfaces{r})
	})
}

// admit lets policies, and then webhooks, change an object.
func (r *Review) admit(ctx context.Context, a admission.Attributes) error {
	if err := r.admitPolicies(ctx, a); err != nil {
		return err
	}
	return r.plugins.mutate.Admit(ctx, a, interfaces{r})
}

func (r *Review) ask(ctx context.Context, call func(context.Context) error) ([]string, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	if limit := r.plugins.o.Limit; limit != nil {
		var cancel context.CancelFunc
		ctx, cancel = limit(ctx)
		defer cancel()
	}
	warnings := r.plugins.o.Warnings()
	err := call(warning.WithWarningRecorder(ctx, warnings))
	return warnings.All(), err
}
