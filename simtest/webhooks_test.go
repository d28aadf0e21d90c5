package simtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// hookFor is a webhook configuration for ConfigMaps: its path is its name's first word.
func hookFor(name string, policy admissionregistrationv1.FailurePolicyType) admissionregistrationv1.ValidatingWebhook {
	path, _, _ := strings.Cut(name, ".")
	path = "/" + path
	none, timeout := admissionregistrationv1.SideEffectClassNone, int32(5)
	return admissionregistrationv1.ValidatingWebhook{
		Name: name, FailurePolicy: &policy, SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: &timeout,
		ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "system", Name: "hooks", Path: &path}},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
		}},
	}
}

func validating(hooks ...admissionregistrationv1.ValidatingWebhook) runtime.Object {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "validating"}, Webhooks: hooks}
}

// mutating makes webhooks that may change objects.
func mutating(hooks ...admissionregistrationv1.ValidatingWebhook) runtime.Object {
	c := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "mutating"}}
	again := admissionregistrationv1.IfNeededReinvocationPolicy
	for _, h := range hooks {
		c.Webhooks = append(c.Webhooks, admissionregistrationv1.MutatingWebhook{
			Name: h.Name, FailurePolicy: h.FailurePolicy, SideEffects: h.SideEffects, AdmissionReviewVersions: h.AdmissionReviewVersions,
			TimeoutSeconds: h.TimeoutSeconds, ClientConfig: h.ClientConfig, Rules: h.Rules, ReinvocationPolicy: &again,
			NamespaceSelector: h.NamespaceSelector, ObjectSelector: h.ObjectSelector,
		})
	}
	return c
}

func allow(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Allowed: true}
}

func deny(why string) func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: why, Code: http.StatusForbidden}}
	}
}

func mapsOf(env *simtest.Env, name string) corev1client.ConfigMapInterface {
	return kubernetes.NewForConfigOrDie(env.RESTConfig(name)).CoreV1().ConfigMaps("default")
}

// What goes wrong with a call is answered as a real apiserver answers, as the failure policy says.
func TestFailuresOfWebhooks(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/strict", webhookOf(allow))
	mux.Handle("/lenient", webhookOf(deny("the lenient one was asked")))
	mux.HandleFunc("/panics", func(http.ResponseWriter, *http.Request) { panic("on purpose") })
	o := simtest.Options{Seeds: 1, Strategy: "fifo", Verify: true, Webhooks: simtest.Webhooks{Handler: mux, Objects: []runtime.Object{
		validating(hookFor("strict.example.com", admissionregistrationv1.Fail)),
		mutating(hookFor("lenient.example.com", admissionregistrationv1.Ignore)),
	}}}
	const url = `Internal error occurred: failed calling webhook "strict.example.com": failed to call webhook: `
	const call = url + `Post "https://hooks.system.svc:443/strict?timeout=5s": `
	simtest.Run(t, o, func(env *simtest.Env) {
		maps := mapsOf(env, "me")
		for _, line := range []struct {
			kind fault.Kind
			want string
		}{
			{fault.WebhookRefused, call + "dial tcp 10.0.0.10:443: connect: connection refused"},
			{fault.WebhookTimeout, call + "context deadline exceeded"},
			{fault.Webhook500, url + "an error on the server"},
			{fault.WebhookGarbage, url + "couldn't get version/kind; json parse error"},
		} {
			kind, want := line.kind, line.want
			began := env.Now()
			// The call of the mutating webhook comes first, and its failure is ignored.
			env.Inject(fault.Fault{Kind: kind, Target: "me", Verb: "create", Count: 2})
			if _, err := maps.Create(env.Context(), configMap("m", ""), metav1.CreateOptions{}); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v", kind, err)
			}
			if took := env.Now().Sub(began); (kind == fault.WebhookTimeout) != (took >= 10*time.Second) {
				t.Errorf("%s: the answer takes %v", kind, took)
			}
		}
		heal := env.Inject(fault.Fault{Kind: fault.Webhook500, Resource: "configmaps", Count: fault.Lasting})
		if all := env.Cluster().Pending(); len(all) != 1 || all[0].Fault.Kind != fault.Webhook500 {
			t.Errorf("pending are %v", all)
		}
		heal()
		_, err := maps.Create(env.Context(), configMap("m", ""), metav1.CreateOptions{})
		if want := `admission webhook "lenient.example.com" denied the request: the lenient one was asked`; err == nil || err.Error() != want {
			t.Errorf("without a fault: %v", err)
		}
		if err := env.Get(configMap("m", "")); err == nil {
			t.Error("a write that was refused is stored")
		}
	})
}

// Webhooks that change an object are called in their order, again where another one changes it later, and those that match only.
func TestWebhooksChangeObjects(t *testing.T) {
	var asked []string
	appends := func(name string) http.Handler {
		return webhookOf(func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
			var m corev1.ConfigMap
			if err := json.Unmarshal(r.Object.Raw, &m); err != nil {
				t.Error(err)
			}
			if asked = append(asked, name+" "+string(r.Operation)); strings.Contains(m.Data["seen"], name) {
				return allow(r)
			}
			kind := admissionv1.PatchTypeJSONPatch
			return &admissionv1.AdmissionResponse{Allowed: true, PatchType: &kind, Patch: fmt.Appendf(nil, `[{"op":"add","path":"/data/seen","value":%q}]`, m.Data["seen"]+name)}
		})
	}
	mux := http.NewServeMux()
	var hooks []admissionregistrationv1.ValidatingWebhook
	for _, name := range []string{"a", "b", "elsewhere", "labelled"} {
		mux.Handle("/"+name, appends(name))
		hooks = append(hooks, hookFor(name+".example.com", admissionregistrationv1.Fail))
	}
	hooks[2].NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "elsewhere"}}
	hooks[3].ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"labelled": "yes"}}
	o := simtest.Options{Seeds: 3, Mix: "none", Verify: true, Webhooks: simtest.Webhooks{Handler: mux, Objects: []runtime.Object{mutating(hooks...)}}}
	simtest.Run(t, o, func(env *simtest.Env) {
		asked = nil
		m := configMap("m", "")
		m.Data = map[string]string{"kept": "yes"}
		env.Create(m)
		if got, want := strings.Join(asked, ", "), "a CREATE, b CREATE, a CREATE"; got != want {
			t.Errorf("asked are %s, want %s", got, want)
		}
		if err := env.Get(m); err != nil || m.Data["seen"] != "ab" {
			t.Errorf("stored is %v, %v", m.Data, err)
		}
		asked = nil
		m.Labels = map[string]string{"labelled": "yes"}
		env.Update(m)
		if err := env.Get(m); err != nil || m.Data["seen"] != "ablabelled" || strings.Join(asked, ", ") != "a UPDATE, b UPDATE, labelled UPDATE, a UPDATE, b UPDATE" {
			t.Errorf("after an update: %v, %v, asked are %s", m.Data, err, asked)
		}
	})
}

// Of webhooks that refuse a write at the same time, the one that answers first is quoted: a seed decides which. A run repeats.
func TestWebhooksRefuseAtTheSameTime(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/a", webhookOf(deny("a")))
	mux.Handle("/b", webhookOf(deny("b")))
	o := simtest.Options{Seeds: 20, Mix: "none", Verify: true, Webhooks: simtest.Webhooks{Handler: mux, Objects: []runtime.Object{
		validating(hookFor("a.example.com", admissionregistrationv1.Fail), hookFor("b.example.com", admissionregistrationv1.Fail)),
	}}}
	quoted := map[string]bool{}
	simtest.Run(t, o, func(env *simtest.Env) {
		_, err := mapsOf(env, "me").Create(env.Context(), configMap("m", ""), metav1.CreateOptions{})
		if err == nil {
			t.Error("nobody refuses")
			return
		}
		quoted[err.Error()] = true
	})
	if len(quoted) != 2 {
		t.Errorf("quoted are %v", quoted)
	}
}

// A handler may write, too; it lives with its process, and a write that it outruns begins anew.
func TestWebhooksOfAProcess(t *testing.T) {
	o := simtest.Options{Seeds: 1, Strategy: "fifo", Verify: true, Webhooks: simtest.Webhooks{Objects: []runtime.Object{
		validating(hookFor("counts.example.com", admissionregistrationv1.Fail)),
	}}}
	simtest.Run(t, o, func(env *simtest.Env) {
		maps := mapsOf(env, "me")
		create := func(name string) error {
			_, err := maps.Create(env.Context(), configMap(name, ""), metav1.CreateOptions{})
			return err
		}
		if err := create("early"); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("before anybody serves: %v", err)
		}
		env.Go("server", func(ctx context.Context) error {
			secrets := kubernetes.NewForConfigOrDie(env.RESTConfig("server")).CoreV1().Secrets("default")
			env.ServeWebhooks("server", webhookOf(func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
				if _, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: r.Name}}, metav1.CreateOptions{}); err != nil {
					return deny(err.Error())(r)
				}
				if r.Name == "outrun" && r.Operation == admissionv1.Update {
					<-ctx.Done()
				}
				return allow(r)
			}))
			<-ctx.Done()
			return nil
		})
		env.Settle()
		if err := create("m"); err != nil {
			t.Errorf("while it serves: %v", err)
		}
		if keys := env.Cluster().Keys("secrets"); len(keys) != 1 || keys[0] != "default/m" {
			t.Errorf("the handler has written %v", keys)
		}
		done := make(chan error, 1)
		if err := create("outrun"); err != nil {
			t.Error(err)
		}
		env.Delete(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "outrun"}})
		go func() {
			_, err := maps.Patch(env.Context(), "outrun", types.MergePatchType, []byte(`{"data":{"a":"1"}}`), metav1.PatchOptions{})
			done <- err
		}()
		env.Settle()
		env.Crash("server")
		if err := <-done; err == nil || !strings.Contains(err.Error(), "EOF") {
			t.Errorf("the handler dies in the middle of a call: %v", err)
		}
		if err := create("late"); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("after it has died: %v", err)
		}
	})
}

// The story of a failure names the fault and what the webhook answered.
func TestStoriesNameWebhooks(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/strict", webhookOf(allow))
	o := simtest.Options{Webhooks: simtest.Webhooks{Handler: mux, Objects: []runtime.Object{validating(hookFor("strict.example.com", admissionregistrationv1.Ignore))}}, Mix: "none"}
	report := failure(t, o, func(env *simtest.Env) {
		env.Inject(fault.Fault{Kind: fault.WebhookTimeout, Target: "me"})
		_, err := mapsOf(env, "me").Create(env.Context(), configMap("m", ""), metav1.CreateOptions{})
		env.Eventually("no ConfigMap passes unseen", time.Minute, func() error { return errors.Join(err, errors.New("one has")) })
	})
	wantIn(t, report, "FAULT webhook-timeout hits /strict about configmaps default/m", "/strict, asked about the CREATE of me: context deadline exceeded", "webhook-timeout")
}

// The faults of webhooks are in the mixes of runs that have webhooks, and hit no write of the body's.
func TestMixesHitWebhooks(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/strict", webhookOf(allow))
	o := simtest.Options{Seeds: 8, Mix: "storm", Webhooks: simtest.Webhooks{Handler: mux, Objects: []runtime.Object{validating(hookFor("strict.example.com", admissionregistrationv1.Fail))}}}
	failed := 0
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Create(configMap("body", ""))
		maps := mapsOf(env, "me")
		for n := range 100 {
			if _, err := maps.Create(env.Context(), configMap(fmt.Sprint("m", n), ""), metav1.CreateOptions{}); err != nil && strings.Contains(err.Error(), "failed calling webhook") {
				failed++
			}
		}
	})
	if failed == 0 {
		t.Error("no call has failed in 800 writes")
	}
}

// What is no configuration is refused before anything runs.
func TestWebhookOptions(t *testing.T) {
	for want, hooks := range map[string]simtest.Webhooks{
		"there is no webhook configuration in": {Configurations: []string{"testdata/stages.yaml"}},
		"no such file":                         {Configurations: []string{"testdata/nothing.yaml"}},
		"*v1.Pod is no webhook configuration":  {Objects: []runtime.Object{&corev1.Pod{}}},
		"only v1 is served":                    {Configurations: []string{"apiVersion: admissionregistration.k8s.io/v1beta1\nkind: MutatingWebhookConfiguration\n"}},
	} {
		wantIn(t, failure(t, simtest.Options{Webhooks: hooks}, func(*simtest.Env) {}), "Options.Webhooks: ", want)
	}
}
