package simtest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
)

// hookedSecrets are webhooks that are asked about Secrets, and whose server fails for one of the name "three".
func hookedSecrets() simtest.Webhooks {
	hook := hookFor("secrets.example.com", admissionregistrationv1.Fail)
	hook.Rules[0].Resources = []string{"secrets"}
	allows := webhookOf(allow)
	return simtest.Webhooks{Objects: []runtime.Object{validating(hook)}, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || bytes.Contains(body, []byte(`"name":"three"`)) {
			http.Error(w, "the database is down", http.StatusInternalServerError)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		allows.ServeHTTP(w, r)
	})}
}

// What passes webhooks is sent in a later step than it comes in, and is its sender's all the same: who gives up what has failed is found.
func TestPropertiesKnowWhoseWebhooksWereAsked(t *testing.T) {
	k := secretMaker{children: true, blind: true}
	found := simtest.Find(t, simtest.Options{Seeds: seeds(6), Properties: just(simtest.NoLostDeletion), Mix: "none", Webhooks: hookedSecrets()}, keeps(k))
	if found == nil || found.Property != simtest.NoLostDeletion {
		t.Fatalf("found %v", found)
	}
}

// A controller whose request a webhook's failure refuses each time goes on trying, and may say so: that is neither an error of its own nor a failure that has passed.
func TestBrokenWebhooksAreNobodysError(t *testing.T) {
	o := simtest.Options{Seeds: seeds(20), CRDs: []string{gauges}, Properties: simtest.WellBehaved(), Webhooks: hookedSecrets()}
	simtest.Run(t, o, furnishing(func(g *unstructured.Unstructured, err error) error {
		say(g, said{of: "Ready", status: "False", message: err.Error()})
		return err
	}, func(g *unstructured.Unstructured) { say(g, said{of: "Ready", status: "True"}) }))
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Go("furnisher", func(ctx context.Context) error {
			client := kubernetes.NewForConfigOrDie(env.RESTConfig("furnisher"))
			return eachOf(ctx, env, "furnisher", "gauges", func(ctx context.Context, _ dynamic.ResourceInterface, g *unstructured.Unstructured) error {
				end := env.Reconciling("furnisher", "gauges default/"+g.GetName())
				_, err := client.CoreV1().Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: g.GetName()}}, metav1.CreateOptions{})
				if apierrors.IsAlreadyExists(err) {
					err = nil
				} else if err != nil {
					err = fmt.Errorf("no Secret: %w", err)
				}
				end(err)
				return err
			})
		})
		env.Create(gaugeNamed("one", map[string]any{"size": int64(1)}), gaugeNamed("three", map[string]any{"size": int64(1)}))
	})
}
