package main

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// webhookServer is a webhook that answers as a function says.
type webhookServer struct {
	*httptest.Server
	mu    sync.Mutex
	asked []*admissionv1.AdmissionRequest
}

func startWebhook(t *testing.T, answer func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse) *webhookServer {
	t.Helper()
	w := &webhookServer{}
	w.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		w.mu.Lock()
		w.asked = append(w.asked, review.Request)
		w.mu.Unlock()
		review.Response = answer(review.Request)
		review.Response.UID = review.Request.UID
		if err := json.NewEncoder(rw).Encode(review); err != nil {
			t.Log(err) // the apiserver has given up
		}
	}))
	w.Config.ErrorLog = log.New(io.Discard, "", 0)
	w.StartTLS()
	t.Cleanup(w.Close)
	return w
}

// requests returns what the webhook was asked, as OPERATION NAME, and forgets it.
func (w *webhookServer) requests() (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.asked {
		all = append(all, fmt.Sprintf("%s %s %s", r.Operation, r.Resource.Resource, r.Name))
	}
	w.asked = nil
	return all
}

func (w *webhookServer) config() admissionregistrationv1.WebhookClientConfig {
	url := w.URL
	return admissionregistrationv1.WebhookClientConfig{
		URL: &url, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.Certificate().Raw}),
	}
}

func allow() *admissionv1.AdmissionResponse { return &admissionv1.AdmissionResponse{Allowed: true} }

// patched allows a request and changes its object by a JSON patch.
func patched(patch string) *admissionv1.AdmissionResponse {
	kind := admissionv1.PatchTypeJSONPatch
	return &admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(patch), PatchType: &kind}
}

// rulesFor are the rules of a webhook for a resource of the core group.
func rulesFor(resource string) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{resource}},
	}}
}

func validatingWebhook(t *testing.T, c kubernetes.Interface, name string, change func(*admissionregistrationv1.ValidatingWebhook), w *webhookServer, resource string) {
	t.Helper()
	none := admissionregistrationv1.SideEffectClassNone
	hook := admissionregistrationv1.ValidatingWebhook{
		Name: name + ".example.com", ClientConfig: w.config(), Rules: rulesFor(resource), SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
	}
	change(&hook)
	_, err := c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: []admissionregistrationv1.ValidatingWebhook{hook},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func mutatingWebhook(t *testing.T, c kubernetes.Interface, name string, w *webhookServer, resource string) {
	t.Helper()
	none := admissionregistrationv1.SideEffectClassNone
	_, err := c.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: name + ".example.com", ClientConfig: w.config(), Rules: rulesFor(resource), SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func clientOf(t *testing.T, root string) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(&rest.Config{Host: root, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: data}
}

// Every write asks the webhooks: those that may change the object, then those that may refuse what it has become.
func TestWebhooksAreAsked(t *testing.T) {
	t.Parallel()
	p := serveIn(t)
	c := clientOf(t, p.root)
	changes := startWebhook(t, func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		if r.Operation == admissionv1.Delete {
			return allow()
		}
		a := patched(`[{"op":"add","path":"/data/seen","value":"` + strings.ToLower(string(r.Operation)) + `"}]`)
		a.Warnings = []string{"changed"}
		return a
	})
	refuses := startWebhook(t, func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		var m corev1.ConfigMap
		object := r.Object
		if r.Operation == admissionv1.Delete {
			object = r.OldObject
		}
		if err := json.Unmarshal(object.Raw, &m); err != nil {
			t.Error(err)
		}
		if m.Data["seen"] == "" {
			t.Errorf("%s: it is asked about %s before it was changed", r.Operation, object.Raw)
		}
		if m.Data["forbidden"] != "" || r.Operation == admissionv1.Delete && m.Data["keep"] != "" {
			return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: "not " + m.Name, Code: 403, Reason: "Forbidden"}}
		}
		return allow()
	})
	mutatingWebhook(t, c, "changes", changes, "configmaps")
	validatingWebhook(t, c, "refuses", func(*admissionregistrationv1.ValidatingWebhook) {}, refuses, "configmaps")
	maps := c.CoreV1().ConfigMaps("default")
	ctx := t.Context()
	changes.requests()
	refuses.requests()
	step := func(what string, got *corev1.ConfigMap, err error, seen string) {
		t.Helper()
		const name = "m"
		a, b := fmt.Sprint(changes.requests()), fmt.Sprint(refuses.requests())
		want := "[" + what + " configmaps " + name + "]"
		if err != nil || got.Data["seen"] != seen || a != want || b != want {
			t.Errorf("%s: %v, %v; asked %s and %s", what, got, err, a, b)
		}
	}
	got, err := maps.Create(ctx, configMap("m", map[string]string{"a": "1"}), metav1.CreateOptions{})
	step("CREATE", got, err, "create")
	got.Data["keep"] = "1"
	got, err = maps.Update(ctx, got, metav1.UpdateOptions{})
	step("UPDATE", got, err, "update")
	got, err = maps.Patch(ctx, "m", types.MergePatchType, []byte(`{"data":{"b":"2","seen":null}}`), metav1.PatchOptions{})
	step("UPDATE", got, err, "update")

	const denied = `admission webhook "refuses.example.com" denied the request: not m`
	got.Data["forbidden"] = "1"
	if _, err := maps.Update(ctx, got, metav1.UpdateOptions{}); !apierrors.IsForbidden(err) || err.Error() != denied {
		t.Errorf("a forbidden update: %v", err)
	}
	if err := maps.Delete(ctx, "m", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) || err.Error() != denied {
		t.Errorf("a forbidden delete: %v", err)
	}
	if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); !apierrors.IsForbidden(err) || err.Error() != denied {
		t.Errorf("a forbidden delete of all: %v", err)
	}
	delete(got.Data, "forbidden")
	delete(got.Data, "keep")
	if got, err = maps.Update(ctx, got, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	changes.requests()
	refuses.requests()
	err = maps.Delete(ctx, "m", metav1.DeleteOptions{})
	step("DELETE", got, err, "update")
	if _, err := maps.Get(ctx, "m", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the delete: %v", err)
	}
	got, err = maps.Create(ctx, configMap("m", map[string]string{"a": "1"}), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	step("CREATE", got, err, "create")
	if _, err := maps.Get(ctx, "m", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the dry run: %v", err)
	}
}

// A webhook that does not answer is met as its failure policy says, and holds up nobody else.
func TestWebhooksThatFail(t *testing.T) {
	t.Parallel()
	p := serveIn(t)
	c := clientOf(t, p.root)
	release := make(chan struct{})
	slow := startWebhook(t, func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		<-release
		return allow()
	})
	gone := startWebhook(t, func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse { return allow() })
	gone.Close()
	ignore, second := admissionregistrationv1.Ignore, int32(1)
	validatingWebhook(t, c, "slow", func(h *admissionregistrationv1.ValidatingWebhook) { h.TimeoutSeconds = &second }, slow, "configmaps")
	validatingWebhook(t, c, "gone", func(*admissionregistrationv1.ValidatingWebhook) {}, gone, "secrets")
	validatingWebhook(t, c, "ignored", func(h *admissionregistrationv1.ValidatingWebhook) { h.FailurePolicy = &ignore }, gone, "serviceaccounts")
	ctx := t.Context()
	answered := make(chan error)
	go func() {
		_, err := c.CoreV1().ConfigMaps("default").Create(ctx, configMap("m", nil), metav1.CreateOptions{})
		answered <- err
	}()
	for len(slow.requests()) == 0 {
		time.Sleep(time.Millisecond)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
	if _, err := c.CoreV1().Secrets("default").Create(ctx, secret, metav1.CreateOptions{}); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), `failed calling webhook "gone.example.com": failed to call webhook: Post "https://`) {
		t.Errorf("a webhook that is gone: %v", err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	if _, err := c.CoreV1().ServiceAccounts("default").Create(ctx, account, metav1.CreateOptions{}); err != nil {
		t.Errorf("a webhook whose failure is ignored: %v", err)
	}
	if err := <-answered; !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), `failed calling webhook "slow.example.com": failed to call webhook: `) || !strings.Contains(err.Error(), "context deadline exceeded") {
		t.Errorf("a slow webhook: %v", err)
	}
	close(release)
}

// A webhook that writes, and writes that outrun each other, do not wait for ever: a patch begins anew, and an update is refused.
func TestWebhooksThatAreOutrun(t *testing.T) {
	t.Parallel()
	p := serveIn(t)
	c := clientOf(t, p.root)
	maps := c.CoreV1().ConfigMaps("default")
	ctx := t.Context()
	got, err := maps.Create(ctx, configMap("m", map[string]string{"a": "1"}), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var meddled atomic.Bool
	meddles := startWebhook(t, func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		if r.UserInfo.Username != "admin" {
			t.Errorf("the webhook is told that the request is from %q", r.UserInfo.Username)
		}
		if meddled.CompareAndSwap(false, true) {
			if _, err := c.CoreV1().ConfigMaps("default").Patch(ctx, "m", types.MergePatchType, []byte(`{"data":{"other":"1"}}`), metav1.PatchOptions{}); err != nil {
				t.Error(err)
			}
		}
		return allow()
	})
	validatingWebhook(t, c, "meddles", func(*admissionregistrationv1.ValidatingWebhook) {}, meddles, "configmaps")
	patched, err := maps.Patch(ctx, "m", types.MergePatchType, []byte(`{"data":{"b":"2"}}`), metav1.PatchOptions{})
	if err != nil || patched.Data["b"] != "2" || patched.Data["other"] != "1" {
		t.Errorf("the patch: %v, %v", patched, err)
	}
	if all := meddles.requests(); len(all) != 3 {
		t.Errorf("the webhook was asked %q, want the patch, its own, and the patch again", all)
	}
	got.Data["c"] = "3"
	if _, err := maps.Update(ctx, got, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an update of what it was: %v", err)
	}
}

// Custom resources are shown in the version that the webhook asks for, and get defaults for what it adds.
func TestWebhooksOfCustomResources(t *testing.T) {
	t.Parallel()
	p := serveIn(t)
	const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.x.dev"},"spec":{"group":"x.dev","scope":"Namespaced",
		"names":{"plural":"gadgets","kind":"Gadget"},"versions":[
		{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer","default":3},"color":{"type":"string","enum":["red"]}}}}}}},
		{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`
	p.want(201, "gadgets", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
	c := clientOf(t, p.root)
	color, version := "red", "v2"
	changes := startWebhook(t, func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		if r.Kind.Version != "v1" || r.RequestKind.Version != version || !strings.Contains(string(r.Object.Raw), `"apiVersion":"x.dev/v1"`) {
			t.Errorf("it is asked about %s as %s: %s", r.RequestKind, r.Kind, r.Object.Raw)
		}
		return patched(`[{"op":"add","path":"/spec","value":{"color":"` + color + `","unknown":1}}]`)
	})
	none, equivalent := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Equivalent
	rules := rulesFor("gadgets")
	rules[0].APIVersions = []string{"v1"}
	_, err := c.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "gadgets.example.com", ClientConfig: changes.config(), Rules: rules, SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, MatchPolicy: &equivalent,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for !p.established("gadgets.x.dev") {
		time.Sleep(time.Millisecond)
	}
	p.want(201, "", "POST", "/apis/x.dev/v2/namespaces/default/gadgets", `{"apiVersion":"x.dev/v2","kind":"Gadget","metadata":{"name":"a"}}`)
	var made struct{ Spec runtime.RawExtension }
	answer := p.want(200, "", "GET", "/apis/x.dev/v1/namespaces/default/gadgets/a", "")
	if err := json.Unmarshal([]byte(answer), &made); err != nil || string(made.Spec.Raw) != `{"color":"red","size":3}` {
		t.Errorf("the webhook has made %s, %v", answer, err)
	}
	color, version = "blue", "v1"
	p.want(422, `spec.color: Unsupported value: \"blue\"`, "POST", "/apis/x.dev/v1/namespaces/default/gadgets", `{"apiVersion":"x.dev/v1","kind":"Gadget","metadata":{"name":"b"}}`)
}

// established reports whether a custom resource is served.
func (p *serving) established(name string) bool {
	_, answer := p.as("test", "GET", p.root+"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+name, "")
	return strings.Contains(answer, `"type":"Established"`)
}
