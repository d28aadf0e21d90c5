package simtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// webhookOf answers reviews as a function says.
func webhookOf(answer func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = answer(review.Request)
		review.Response.UID = review.Request.UID
		_ = json.NewEncoder(w).Encode(review)
	})
}

// ownerless gives each Secret an owner that has none.
func ownerless(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	var s corev1.Secret
	if err := json.Unmarshal(r.Object.Raw, &s); err != nil || s.Labels["owner"] != "" {
		return &admissionv1.AdmissionResponse{Allowed: true}
	}
	kind := admissionv1.PatchTypeJSONPatch
	return &admissionv1.AdmissionResponse{Allowed: true, PatchType: &kind, Patch: []byte(`[{"op":"add","path":"/metadata/labels","value":{"owner":"nobody"}}]`)}
}

// The program has a controller and a webhook that labels Secrets. Calls of the webhook time out, are refused while the program is down, and meet
// other faults; its failure policy is Fail, so no Secret is stored without the label.
func ExampleEnv_ServeWebhooks() {
	o := simtest.Options{Seeds: 10, Webhooks: simtest.Webhooks{Configurations: []string{"testdata/webhook.yaml"}}}
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Go("issuer", func(ctx context.Context) error {
			mux := http.NewServeMux()
			mux.Handle("/mutate-v1-secret", webhookOf(ownerless))
			env.ServeWebhooks("issuer", mux)
			return issue(ctx, env.RESTConfig("issuer"))
		})
		env.Inject(fault.Fault{Kind: fault.WebhookTimeout, Target: "issuer", Resource: "secrets"})
		env.Always("every Secret has an owner", func() error {
			var secrets corev1.SecretList
			if err := env.List(&secrets, ""); err != nil {
				return err
			}
			for _, s := range secrets.Items {
				if s.Labels["owner"] == "" {
					return fmt.Errorf("%s has none", s.Name)
				}
			}
			return nil
		})
		m := configMap("app", "")
		m.Data = nil
		env.Create(m)
		env.Advance(time.Minute)
		env.StopFaults()
		env.Eventually("the ConfigMap has its token", 10*time.Minute, func() error {
			if err := env.Get(m); err != nil || m.Data["token"] == "" {
				return fmt.Errorf("it has %v, %v", m.Data, err)
			}
			return nil
		})
	})
	fmt.Println("every Secret has an owner")
	// Output: every Secret has an owner
}
