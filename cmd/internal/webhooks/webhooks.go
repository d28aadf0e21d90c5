package webhooks

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

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
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/kubernetes"
	clientrest "k8s.io/client-go/rest"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// Webhooks is the rest.Admission of a served cluster.
type Webhooks struct {
	cluster  *fakeapiserver.Cluster
	types    *types.Registry
	snapshot *snapshot
	mutate   admission.MutationInterface
	validate admission.ValidationInterface
}

// New returns the webhooks of a cluster with the given types.
func New(c *fakeapiserver.Cluster, t *types.Registry) (*Webhooks, error) {
	w := &Webhooks{cluster: c, types: t, snapshot: newSnapshot()}
	client, err := kubernetes.NewForConfig(&clientrest.Config{Transport: noNamespaces{}})
	if err != nil {
		return nil, err
	}
	mutate, err := mutating.NewMutatingWebhook(nil)
	if err != nil {
		return nil, err
	}
	validate, err := validating.NewValidatingAdmissionWebhook(nil)
	if err != nil {
		return nil, err
	}
	everyone := authorizerfactory.NewAlwaysAllowAuthorizer()
	mutate.SetExternalKubeClientSet(client)
	mutate.SetExternalKubeInformerFactory(w.snapshot)
	mutate.SetUnconditionalAuthorizer(everyone)
	validate.SetExternalKubeClientSet(client)
	validate.SetExternalKubeInformerFactory(w.snapshot)
	validate.SetUnconditionalAuthorizer(everyone)
	if err := mutate.ValidateInitialization(); err != nil {
		return nil, err
	}
	if err := validate.ValidateInitialization(); err != nil {
		return nil, err
	}
	w.mutate, w.validate = mutate, validate
	return w, nil
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
func (w *Webhooks) Asks() bool {
	for _, resource := range []string{mutatingConfigurations, validatingConfigurations} {
		if w.walk(resource, func(runtime.Object) bool { return false }) {
			return true
		}
	}
	return false
}

// Begin implements rest.Admission.
func (w *Webhooks) Begin(write rest.AdmissionWrite) rest.AdmissionReview {
	mutating := listed[*admissionregistrationv1.MutatingWebhookConfiguration](w, mutatingConfigurations)
	validating := listed[*admissionregistrationv1.ValidatingWebhookConfiguration](w, validatingConfigurations)
	r := &review{webhooks: w, write: write, versions: w.versions(write.Resource), user: write.User}
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
	if !r.matches(all) {
		return nil
	}
	r.failed = errors.Join(set(w.snapshot.mutating, mutating), set(w.snapshot.validating, validating), w.showNamespace(write))
	return r
}

// showNamespace puts the namespace that a write is in, or that it is about, into the snapshot. Those of other writes stay: they may be
// looked at just now.
func (w *Webhooks) showNamespace(write rest.AdmissionWrite) error {
	name := namespaceOf(write)
	id, ok := w.cluster.FindResource(schema.GroupResource{Resource: "namespaces"})
	if !ok || name == "" {
		return nil
	}
	if obj, _ := w.cluster.Store().Get(id, "", name); obj != nil {
		return w.snapshot.namespaces.objects.Update(obj)
	}
	return w.snapshot.namespaces.objects.Delete(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// namespaceOf returns the namespace of a write: a namespace is in itself, as on a real server.
func namespaceOf(write rest.AdmissionWrite) string {
	if write.Resource.Group == "" && write.Resource.Plural == "namespaces" {
		return write.Name
	}
	return write.Namespace
}

// listed returns the objects of a resource of admissionregistration.k8s.io, in the order of their names.
func listed[T runtime.Object](w *Webhooks, resource string) (all []T) {
	w.walk(resource, func(obj runtime.Object) bool {
		if o, ok := obj.(T); ok {
			all = append(all, o)
		}
		return true
	})
	return all
}

// walk visits the objects of a resource of admissionregistration.k8s.io, in the order of their names, until visit returns false. It reports
// whether there is any.
func (w *Webhooks) walk(resource string, visit func(runtime.Object) bool) (any bool) {
	id, ok := w.cluster.FindResource(schema.GroupResource{Group: admissionregistrationv1.GroupName, Resource: resource})
	if !ok {
		return false
	}
	s := w.cluster.Store()
	_ = s.Walk(id, s.Revision(), "", func(_ string, obj runtime.Object) bool { // the newest revision is always readable
		any = true
		return visit(obj)
	})
	return any
}

// versions returns the versions of a resource, which are equivalent, the given one first.
func (w *Webhooks) versions(r *types.Resource) []*types.Resource {
	all := []*types.Resource{r}
	for _, t := range w.types.All() {
		if t != r && t.GroupResource() == r.GroupResource() {
			all = append(all, t)
		}
	}
	return all
}

// review is a rest.AdmissionReview.
type review struct {
	webhooks *Webhooks
	write    rest.AdmissionWrite
	versions []*types.Resource
	user     user.Info
	failed   error
}

// attributes describe the write for the plugins.
func (r *review) attributes(obj, old *unstructured.Unstructured) admission.Attributes {
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
func (r *review) matches(all []admissionregistrationv1.RuleWithOperations) bool {
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
func (r *review) Mutate(ctx context.Context, obj, old *unstructured.Unstructured) ([]string, error) {
	return r.ask(ctx, func(ctx context.Context) error {
		attributes := r.attributes(obj, old)
		err := r.webhooks.mutate.Admit(ctx, attributes, interfaces{r})
		if again := attributes.GetReinvocationContext(); err == nil && again.ShouldReinvoke() {
			again.SetIsReinvoke()
			err = r.webhooks.mutate.Admit(ctx, attributes, interfaces{r})
		}
		return err
	})
}

// Validate implements rest.AdmissionReview.
func (r *review) Validate(ctx context.Context, obj, old *unstructured.Unstructured) ([]string, error) {
	return r.ask(ctx, func(ctx context.Context) error {
		return r.webhooks.validate.Validate(ctx, r.attributes(obj, old), interfaces{r})
	})
}

// requestTime limits the calls for a request, as a real server's --request-timeout does.
const requestTime = time.Minute

func (r *review) ask(ctx context.Context, call func(context.Context) error) ([]string, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	var warnings warningList
	err := call(warning.WithWarningRecorder(ctx, &warnings))
	return warnings.all, err
}

// warningList collects the warnings of webhooks, some of which are called at the same time.
type warningList struct {
	mu  sync.Mutex
	all []string
}

// AddWarning implements warning.Recorder.
func (l *warningList) AddWarning(_, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, text)
}
