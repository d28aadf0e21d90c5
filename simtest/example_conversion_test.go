package simtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// conversionReview is what a conversion webhook gets and answers. With controller-runtime, the handler is that of its package
// webhook/conversion, and the types are those of apiextensions.k8s.io/v1.
type conversionReview struct {
	metav1.TypeMeta `json:",inline"`
	Request         *struct {
		UID               string                       `json:"uid"`
		DesiredAPIVersion string                       `json:"desiredAPIVersion"`
		Objects           []*unstructured.Unstructured `json:"objects"`
	} `json:"request,omitempty"`
	Response struct {
		UID              string                       `json:"uid"`
		ConvertedObjects []*unstructured.Unstructured `json:"convertedObjects"`
		Result           metav1.Status                `json:"result"`
	} `json:"response"`
}

// converterOf answers reviews with what a function makes of each object, in place.
func converterOf(convert func(u *unstructured.Unstructured, to string) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review conversionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := &review.Response
		answer.UID, answer.Result.Status = review.Request.UID, metav1.StatusSuccess
		for _, u := range review.Request.Objects {
			if err := convert(u, review.Request.DesiredAPIVersion); err != nil {
				answer.ConvertedObjects, answer.Result = nil, metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}
				break
			}
			u.SetAPIVersion(review.Request.DesiredAPIVersion)
			answer.ConvertedObjects = append(answer.ConvertedObjects, u)
		}
		review.Request = nil
		_ = json.NewEncoder(w).Encode(review)
	})
}

// convertAlarm converts between v1alpha1, which has minutes, and v1, which has a duration.
func convertAlarm(u *unstructured.Unstructured, to string) error {
	spec, _, _ := unstructured.NestedMap(u.Object, "spec")
	if strings.HasSuffix(to, "/v1") {
		minutes, _ := spec["minutes"].(int64)
		spec["after"] = (time.Duration(minutes) * time.Minute).String()
		delete(spec, "minutes")
	} else {
		text, _ := spec["after"].(string)
		after, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("spec.after: %w", err)
		}
		spec["minutes"] = int64(after / time.Minute)
		delete(spec, "after")
	}
	return unstructured.SetNestedMap(u.Object, spec, "spec")
}

// alarms returns clients of Alarms in a version.
func alarms(config *rest.Config, version string) dynamic.ResourceInterface {
	return dynamic.NewForConfigOrDie(config).Resource(schema.GroupVersionResource{Group: "example.dev", Version: version, Resource: "alarms"}).Namespace("default")
}

// alarm is one in v1alpha1, the version that is stored.
func alarm(name string, minutes int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1alpha1", "kind": "Alarm", "metadata": map[string]any{"namespace": "default", "name": name},
		"spec": map[string]any{"minutes": minutes, "note": "get up"},
	}}
}

// setAlarms notes in an annotation for when each Alarm is set. It knows v1 only.
func setAlarms(ctx context.Context, config *rest.Config) error {
	client := alarms(config, "v1")
	gvr := schema.GroupVersionResource{Group: "example.dev", Version: "v1", Resource: "alarms"}
	informer := dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(config), 0).ForResource(gvr).Informer()
	go informer.Run(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil
	}
	for ctx.Err() == nil {
		keys := informer.GetStore().ListKeys()
		slices.Sort(keys)
		for _, key := range keys {
			obj, has, _ := informer.GetStore().GetByKey(key)
			if !has {
				continue
			}
			u := obj.(*unstructured.Unstructured).DeepCopy()
			after, _, _ := unstructured.NestedString(u.Object, "spec", "after")
			if u.GetAnnotations()["set-for"] == after {
				continue
			}
			u.SetAnnotations(map[string]string{"set-for": after})
			_, _ = client.Update(ctx, u, metav1.UpdateOptions{}) // the next round sees to it if it fails
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
		}
	}
	return nil
}

// Alarms are stored as v1alpha1, and the controller reads and writes v1: whatever it sees or sends is converted by its webhook, which it serves
// itself, so that nothing is converted while it is down. Calls meet other faults, too. No Alarm may lose its note on the way.
func ExampleWebhooks_conversion() {
	o := simtest.Options{Seeds: 10, CRDs: []string{"testdata/alarms.yaml"}}
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Go("alarms", func(ctx context.Context) error {
			mux := http.NewServeMux()
			mux.Handle("/convert", converterOf(convertAlarm))
			env.ServeWebhooks("alarms", mux)
			return setAlarms(ctx, env.RESTConfig("alarms"))
		})
		env.Inject(fault.Fault{Kind: fault.WebhookRefused, Resource: "alarms"})
		u := alarm("early", 90)
		env.Always("the Alarm has its note", func() error {
			if err := env.Get(u); err != nil {
				return nil // not yet
			}
			if note, _, _ := unstructured.NestedString(u.Object, "spec", "note"); note != "get up" {
				return fmt.Errorf("it is %q", note)
			}
			return nil
		})
		env.Create(u)
		env.Advance(time.Minute)
		env.StopFaults()
		env.Eventually("the Alarm is set", 10*time.Minute, func() error {
			if err := env.Get(u); err != nil || u.GetAnnotations()["set-for"] != "1h30m0s" {
				return fmt.Errorf("its annotations are %v, %v", u.GetAnnotations(), err)
			}
			return nil
		})
	})
	fmt.Println("every Alarm has its note, and is set")
	// Output: every Alarm has its note, and is set
}
