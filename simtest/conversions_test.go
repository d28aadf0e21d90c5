package simtest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// converting are options with the CustomResourceDefinition of Alarms, whose objects a handler converts at any path.
func converting(handler http.Handler) simtest.Options {
	return simtest.Options{Seeds: 1, Strategy: "fifo", Verify: true, CRDs: []string{"testdata/alarms.yaml"}, Webhooks: simtest.Webhooks{Handler: handler}}
}

// inV1 is an Alarm in v1.
func inV1(name, after string) *unstructured.Unstructured {
	u := alarm(name, 0)
	u.SetAPIVersion("example.dev/v1")
	u.Object["spec"] = map[string]any{"after": after, "note": "get up"}
	return u
}

// specOf returns an Alarm's spec as a text.
func specOf(u *unstructured.Unstructured) string {
	if u == nil {
		return ""
	}
	return fmt.Sprint(u.Object["spec"])
}

// What is stored in one version is read, watched and written in another, as the webhook converts it, by clients and by the test's own helpers.
func TestConversions(t *testing.T) {
	o := converting(converterOf(convertAlarm))
	simtest.Run(t, o, func(env *simtest.Env) {
		ctx, old, now := env.Context(), alarms(env.RESTConfig("me"), "v1alpha1"), alarms(env.RESTConfig("me"), "v1")
		env.Create(alarm("a", 90))
		w, err := now.Watch(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			t.Error(err)
			return
		}
		defer w.Stop()
		if u, err := now.Get(ctx, "a", metav1.GetOptions{}); err != nil || specOf(u) != "map[after:1h30m0s note:get up]" {
			t.Errorf("a get in v1: %s, %v", specOf(u), err)
		}
		if u, err := now.Create(ctx, inV1("b", "2h"), metav1.CreateOptions{}); err != nil || specOf(u) != "map[after:2h0m0s note:get up]" {
			t.Errorf("a create in v1: %s, %v", specOf(u), err)
		}
		if u, err := old.Get(ctx, "b", metav1.GetOptions{}); err != nil || specOf(u) != "map[minutes:120 note:get up]" {
			t.Errorf("what it has stored: %s, %v", specOf(u), err)
		}
		if u, err := now.Patch(ctx, "b", types.MergePatchType, []byte(`{"spec":{"after":"3h"}}`), metav1.PatchOptions{}); err != nil || specOf(u) != "map[after:3h0m0s note:get up]" {
			t.Errorf("a patch in v1: %s, %v", specOf(u), err)
		}
		apply := []byte(`{"apiVersion":"example.dev/v1","kind":"Alarm","metadata":{"name":"b"},"spec":{"after":"4h"}}`)
		force := true
		if u, err := now.Patch(ctx, "b", types.ApplyPatchType, apply, metav1.PatchOptions{FieldManager: "me", Force: &force}); err != nil || specOf(u) != "map[after:4h0m0s note:get up]" {
			t.Errorf("an apply in v1: %s, %v", specOf(u), err)
		}
		if list, err := now.List(ctx, metav1.ListOptions{}); err != nil || len(list.Items) != 2 || specOf(&list.Items[1]) != "map[after:4h0m0s note:get up]" {
			t.Errorf("a list in v1: %v, %v", list, err)
		}
		for _, want := range []string{"a map[after:1h30m0s note:get up]", "b map[after:2h0m0s note:get up]", "b map[after:3h0m0s note:get up]", "b map[after:4h0m0s note:get up]"} {
			e := <-w.ResultChan()
			if u, ok := e.Object.(*unstructured.Unstructured); !ok || u.GetName()+" "+specOf(u) != want {
				t.Errorf("the watch has %v, want %s", e, want)
			}
		}
		env.Apply("apiVersion: example.dev/v1\nkind: Alarm\nmetadata: {name: c}\nspec: {after: 5m}\n")
		got := inV1("c", "")
		if err := env.Get(got); err != nil || specOf(got) != "map[after:5m0s]" {
			t.Errorf("the helper reads %s, %v", specOf(got), err)
		}
		got = alarm("c", 0)
		if err := env.Get(got); err != nil || specOf(got) != "map[minutes:5]" {
			t.Errorf("the helper has written %s, %v", specOf(got), err)
		}
		env.Update(inV1("c", "6m"))
		if err := env.Get(got); err != nil || specOf(got) != "map[minutes:6 note:get up]" {
			t.Errorf("after an update it is %s, %v", specOf(got), err)
		}
	})
}

const failedConversion = "conversion webhook for example.dev/v1alpha1, Kind=Alarm failed: "

// What goes wrong with a call is answered as a real apiserver answers. A list fails as a whole, a watch ends, and nothing is stored of what
// cannot be converted to the version that is stored.
func TestFailuresOfConversions(t *testing.T) {
	o := converting(converterOf(convertAlarm))
	const call = `Post "https://webhook-service.system.svc:443/convert?timeout=30s": `
	simtest.Run(t, o, func(env *simtest.Env) {
		ctx, client := env.Context(), alarms(env.RESTConfig("me"), "v1")
		env.Create(alarm("a", 90))
		for _, line := range []struct {
			kind fault.Kind
			want string
		}{
			{fault.WebhookRefused, call + "dial tcp 10.0.0.10:443: connect: connection refused"},
			{fault.WebhookTimeout, call + "context deadline exceeded"},
			{fault.Webhook500, "an error on the server"},
			{fault.WebhookGarbage, "couldn't get version/kind; json parse error"},
		} {
			for n, do := range []func() error{
				func() error { _, err := client.Get(ctx, "a", metav1.GetOptions{}); return err },
				func() error { _, err := client.List(ctx, metav1.ListOptions{}); return err },
				func() error { _, err := client.Create(ctx, inV1("b", "1h"), metav1.CreateOptions{}); return err },
			} {
				env.Update(alarm("a", int64(n))) // what has been converted stays so
				env.Inject(fault.Fault{Kind: line.kind, Resource: "alarms"})
				began := env.Now()
				err := do()
				if err == nil || !strings.Contains(err.Error(), "conversion webhook for example.dev/") || !strings.Contains(err.Error(), line.want) {
					t.Errorf("%s, request %d: %v", line.kind, n, err)
				}
				if took := env.Now().Sub(began); (line.kind == fault.WebhookTimeout) != (took >= 30*time.Second) {
					t.Errorf("%s, request %d: the answer takes %v", line.kind, n, took)
				}
			}
			if err := env.Get(alarm("b", 0)); err == nil {
				t.Errorf("%s: what cannot be converted is stored", line.kind)
			}
		}
		w, err := client.Watch(ctx, metav1.ListOptions{})
		if err != nil {
			t.Error(err)
			return
		}
		e := <-w.ResultChan()
		env.Inject(fault.Fault{Kind: fault.WebhookRefused, Resource: "alarms"})
		env.Update(alarm("a", 1))
		if e, open := <-w.ResultChan(); open {
			t.Errorf("the watch goes on with %v", e)
		}
		if e.Type != watch.Added {
			t.Errorf("the watch began with %v", e)
		}
	})
}

// A webhook that fails for one object fails lists of all; what it converts can be read one by one. The test learns why it cannot read the object.
func TestConverterFailsForSome(t *testing.T) {
	o := converting(converterOf(func(u *unstructured.Unstructured, to string) error {
		if u.GetName() == "cursed" {
			return errors.New("it is cursed")
		}
		return convertAlarm(u, to)
	}))
	simtest.Run(t, o, func(env *simtest.Env) {
		ctx, client := env.Context(), alarms(env.RESTConfig("me"), "v1")
		env.Create(alarm("a", 90), alarm("cursed", 90))
		if _, err := client.List(ctx, metav1.ListOptions{}); err == nil || !strings.HasSuffix(err.Error(), failedConversion+"it is cursed") {
			t.Errorf("a list: %v", err)
		}
		if _, err := client.Get(ctx, "cursed", metav1.GetOptions{}); err == nil || !strings.Contains(err.Error(), "StorageError: corrupt object") {
			t.Errorf("a get: %v", err)
		}
		if u, err := client.Get(ctx, "a", metav1.GetOptions{}); err != nil || specOf(u) != "map[after:1h30m0s note:get up]" {
			t.Errorf("a get of another one: %s, %v", specOf(u), err)
		}
		if err := env.Get(inV1("a", "")); err != nil {
			t.Error(err)
		}
		if err := env.Get(inV1("cursed", "")); err == nil || !strings.HasSuffix(err.Error(), failedConversion+"it is cursed") {
			t.Errorf("the helper: %v", err)
		}
		env.Delete(alarm("cursed", 0))
		if _, err := client.List(ctx, metav1.ListOptions{}); err != nil {
			t.Errorf("a list without it: %v", err)
		}
	})
}

// Kubernetes' own checks of an answer are made.
func TestConvertersMayNot(t *testing.T) {
	var spoil func(u *unstructured.Unstructured)
	handler := converterOf(func(u *unstructured.Unstructured, to string) error {
		err := convertAlarm(u, to)
		spoil(u)
		return err
	})
	simtest.Run(t, converting(handler), func(env *simtest.Env) {
		client := alarms(env.RESTConfig("me"), "v1")
		env.Create(alarm("a", 90))
		for _, line := range []struct {
			want  string
			spoil func(*unstructured.Unstructured)
		}{
			{"must have the same name: a != b", func(u *unstructured.Unstructured) { u.SetName("b") }},
			{"must have the same UID", func(u *unstructured.Unstructured) { u.SetUID("other") }},
			{"invalid kind (expected Alarm, received Bell)", func(u *unstructured.Unstructured) { u.SetKind("Bell") }},
			{"metadata.labels: Invalid value: \"no label\"", func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"no label": ""}) }},
		} {
			spoil = line.spoil
			if _, err := client.Get(env.Context(), "a", metav1.GetOptions{}); err == nil || !strings.Contains(err.Error(), line.want) {
				t.Errorf("%s: %v", line.want, err)
			}
		}
		// Labels and annotations may change, other metadata is restored.
		spoil = func(u *unstructured.Unstructured) {
			u.SetAnnotations(map[string]string{"by": "converter"})
			u.SetFinalizers([]string{"example.dev/mine"})
		}
		u, err := client.Get(env.Context(), "a", metav1.GetOptions{})
		if err != nil || u.GetAnnotations()["by"] != "converter" || len(u.GetFinalizers()) != 0 {
			t.Errorf("metadata: %v, %v", u, err)
		}
	})
	answers := map[string]string{
		"returned 0 objects, expected 1":                                         `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"UID","result":{"status":"Success"}}}`,
		`failed: expected response.uid="00000001-0000-4000-9000-`:                `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"other"}}`,
		"failed: response.result.status was '', not 'Success'":                   `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"UID"}}`,
		"failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview)": `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1beta1","response":{"uid":"UID"}}`,
	}
	for want, answer := range answers {
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			_, uid, _ := strings.Cut(string(body), `"uid":"`)
			uid, _, _ = strings.Cut(uid, `"`)
			if err != nil || uid == "" {
				t.Errorf("asked is %s, %v", body, err)
			}
			_, _ = io.WriteString(w, strings.ReplaceAll(answer, "UID", uid))
		})
		simtest.Run(t, converting(handler), func(env *simtest.Env) {
			env.Create(alarm("a", 90))
			if _, err := alarms(env.RESTConfig("me"), "v1").Get(env.Context(), "a", metav1.GetOptions{}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", want, err)
			}
		})
	}
}

// A converter that loses a field is found by what the stored object is after a controller has written the other version.
func TestConverterLosesAField(t *testing.T) {
	o := simtest.Options{CRDs: []string{"testdata/alarms.yaml"}, Mix: "none", Webhooks: simtest.Webhooks{Handler: converterOf(func(u *unstructured.Unstructured, to string) error {
		err := convertAlarm(u, to)
		unstructured.RemoveNestedField(u.Object, "spec", "note")
		return err
	})}}
	report := failure(t, o, func(env *simtest.Env) {
		env.Go("alarms", func(ctx context.Context) error { return setAlarms(ctx, env.RESTConfig("alarms")) })
		u := alarm("early", 90)
		env.Create(u)
		env.Always("the note stays", func() error {
			if err := env.Get(u); err != nil {
				return err
			}
			if note, _, _ := unstructured.NestedString(u.Object, "spec", "note"); note != "get up" {
				return fmt.Errorf("it is %q", note)
			}
			return nil
		})
		env.Eventually("it is set", time.Hour, func() error {
			if err := env.Get(u); err != nil || u.GetAnnotations()["set-for"] == "" {
				return errors.Join(err, errors.New("it is not"))
			}
			return nil
		})
	})
	wantIn(t, report, `the note stays`, `it is ""`, "/convert, asked to convert example.dev/v1 to example.dev/v1alpha1: 200 converted")
}

// A handler lives with its process: while that is down, nothing is converted. The test reads all the same.
func TestConverterOfAProcess(t *testing.T) {
	o := converting(nil)
	simtest.Run(t, o, func(env *simtest.Env) {
		ctx, client := env.Context(), alarms(env.RESTConfig("me"), "v1")
		get := func() error { _, err := client.Get(ctx, "a", metav1.GetOptions{}); return err }
		env.Create(alarm("a", 90))
		if err := get(); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("before anybody serves: %v", err)
		}
		if err := env.Get(inV1("a", "")); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("the helper, before anybody serves: %v", err)
		}
		env.Go("server", func(ctx context.Context) error {
			env.ServeWebhooks("server", converterOf(convertAlarm))
			<-ctx.Done()
			return nil
		})
		env.Settle()
		if err := get(); err != nil {
			t.Errorf("while it serves: %v", err)
		}
		if u := inV1("a", ""); env.Get(u) != nil || specOf(u) != "map[after:1h30m0s note:get up]" {
			t.Errorf("the helper reads %s", specOf(u))
		}
		env.Crash("server")
		env.Update(alarm("a", 60))
		if err := get(); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("after it has died: %v", err)
		}
		if u := inV1("a", ""); env.Get(u) != nil || specOf(u) != "map[after:1h0m0s note:get up]" {
			t.Errorf("the helper reads %s, after the converter has died", specOf(u))
		}
	})
}

// A conversion waits for nothing: who asks is in the middle of a step.
func TestConvertersThatMisbehave(t *testing.T) {
	for want, handler := range map[string]http.Handler{
		"context deadline exceeded": converterOf(func(*unstructured.Unstructured, string) error { time.Sleep(time.Second); return nil }),
		"EOF":                       http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("on purpose") }),
		"404":                       http.NotFoundHandler(),
	} {
		simtest.Run(t, converting(handler), func(env *simtest.Env) {
			env.Create(alarm("a", 90))
			began := env.Now()
			_, err := alarms(env.RESTConfig("me"), "v1").Get(env.Context(), "a", metav1.GetOptions{})
			if want == "404" {
				want = "the server could not find the requested resource"
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", want, err)
			}
			if took := env.Now().Sub(began); (took >= 30*time.Second) != (want == "context deadline exceeded") {
				t.Errorf("%s: after %v", want, took)
			}
		})
	}
	report := failure(t, converting(nil), func(env *simtest.Env) {
		env.Create(alarm("a", 90))
		_, err := alarms(env.RESTConfig("me"), "v1").Get(env.Context(), "a", metav1.GetOptions{})
		env.Eventually("it can be read", 0, func() error { return err })
	})
	wantIn(t, report, "connection refused", "nobody serves it yet: its handler is Options.Webhooks.Handler")
	report = failure(t, converting(converterOf(func(*unstructured.Unstructured, string) error { time.Sleep(time.Minute); return nil })), func(env *simtest.Env) {
		env.Create(alarm("a", 90))
		_ = env.Get(inV1("a", ""))
	})
	wantIn(t, report, "a conversion webhook waits for something, while env.Get or env.List waits for its answer")
	report = failure(t, converting(converterOf(func(*unstructured.Unstructured, string) error { time.Sleep(time.Minute); return nil })), func(env *simtest.Env) {
		env.Create(alarm("a", 90))
		env.Always("it is there", func() error { return env.Get(inV1("a", "")) })
		env.Settle()
	})
	wantIn(t, report, "it is there", "context deadline exceeded")
}

// A conversion that reads what itself has to convert would never come to an end: the read fails, and says so. One that reads anything else gets it.
func TestConvertersThatRead(t *testing.T) {
	for name, read := range map[string]func(env *simtest.Env) error{
		"the converted version": func(env *simtest.Env) error { return env.Get(inV1("a", "")) },
		"all of the converted version": func(env *simtest.Env) error {
			var list unstructured.UnstructuredList
			list.SetAPIVersion("example.dev/v1")
			list.SetKind("AlarmList")
			return env.List(&list, "")
		},
		"the stored version": func(env *simtest.Env) error { return env.Get(alarm("a", 0)) },
		"another kind":       func(env *simtest.Env) error { return env.Get(configMap("settings", "")) },
	} {
		for by, ask := range map[string]func(env *simtest.Env) error{
			"env.Get": func(env *simtest.Env) error { return env.Get(inV1("a", "")) },
			"a client": func(env *simtest.Env) error {
				_, err := alarms(env.RESTConfig("me"), "v1").Get(env.Context(), "a", metav1.GetOptions{})
				return err
			},
		} {
			t.Run(name+" for "+by, func(t *testing.T) {
				o := converting(nil)
				o.RealQuiescenceTimeout = 5 * time.Second
				simtest.Run(t, o, func(env *simtest.Env) {
					env.ServeWebhooks("me", converterOf(func(u *unstructured.Unstructured, to string) error {
						if err := read(env); err != nil {
							return err
						}
						return convertAlarm(u, to)
					}))
					env.Create(alarm("a", 90), configMap("settings", ""))
					err := ask(env)
					const sentence = "env.Get and env.List cannot be called by a conversion webhook that is called for one of them"
					if fails := err != nil && strings.Contains(err.Error(), sentence); err != nil != fails || fails != (by == "env.Get" || strings.Contains(name, "converted")) {
						t.Errorf("it reads %s, and is called for %s: %v", name, by, err)
					}
				})
			})
		}
	}
}

// Mixes hit conversions, each run repeats, and a controller that tries again comes to its end.
func TestMixesHitConversions(t *testing.T) {
	o := converting(converterOf(convertAlarm))
	o.Seeds, o.Strategy, o.Mix = seeds(8), "", "storm"
	failed := 0
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Go("alarms", func(ctx context.Context) error { return setAlarms(ctx, env.RESTConfig("alarms")) })
		client := alarms(env.RESTConfig("me"), "v1")
		for n := range 20 {
			env.Create(alarm(fmt.Sprint("a", n), int64(n)))
			if _, err := client.Get(env.Context(), fmt.Sprint("a", n), metav1.GetOptions{}); err != nil && strings.Contains(err.Error(), "conversion webhook") {
				failed++
			}
		}
		env.StopFaults()
		env.Eventually("all are set", 10*time.Minute, func() error {
			var list unstructured.UnstructuredList
			list.SetAPIVersion("example.dev/v1")
			list.SetKind("AlarmList")
			if err := env.List(&list, ""); err != nil {
				return err
			}
			for n := range list.Items {
				if u := &list.Items[n]; u.GetAnnotations()["set-for"] != u.Object["spec"].(map[string]any)["after"] {
					return fmt.Errorf("%s is not: %v", u.GetName(), u.GetAnnotations())
				}
			}
			return nil
		})
	})
	if failed == 0 {
		t.Errorf("no get of %d has failed", 20*o.Seeds)
	}
}

// The limit of a mix is one for all of its faults, and counts those that have happened: one that is picked for a conversion counts once a call meets it.
func TestMixLimitsFaultsOfConversions(t *testing.T) {
	o := converting(converterOf(convertAlarm))
	o.Seeds, o.Strategy = 5, ""
	o.FaultMix = &fault.Mix{Rates: map[string]float64{"webhook-500": 0.5, "list-500": 0.2}, Max: 6}
	converted, listed := 0, 0
	simtest.Run(t, o, func(env *simtest.Env) {
		failed := 0
		client := alarms(env.RESTConfig("me"), "v1")
		for n := range 60 {
			if n == 0 {
				env.Create(alarm("a", 0))
			} else {
				env.Update(alarm("a", int64(n))) // what has been converted stays so
			}
			_, err := client.Get(env.Context(), "a", metav1.GetOptions{})
			if err == nil {
				continue
			}
			if failed++; strings.Contains(err.Error(), "conversion webhook") {
				converted++
			} else {
				listed++
			}
		}
		if failed != 6 {
			t.Errorf("seed %d: %d gets have failed, and the mix has 6 faults at most", env.Seed(), failed)
		}
	})
	if converted == 0 || listed == 0 {
		t.Errorf("%d conversions and %d gets have failed", converted, listed)
	}
}

// A definition that is created during a run has its webhook called, too, and one that changes is converted by its new one.
func TestServedDefinitionsAreConverted(t *testing.T) {
	manifest, err := os.ReadFile("testdata/alarms.yaml")
	if err != nil {
		t.Fatal(err)
	}
	o := converting(converterOf(convertAlarm))
	o.CRDs, o.ServeCRDs = nil, true
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Apply(string(manifest))
		client := alarms(env.RESTConfig("me"), "v1")
		env.Eventually("it is served", time.Minute, func() error {
			_, err := client.Create(env.Context(), inV1("a", "1h"), metav1.CreateOptions{})
			return err
		})
		if u := alarm("a", 0); env.Get(u) != nil || specOf(u) != "map[minutes:60 note:get up]" {
			t.Errorf("stored is %s", specOf(u))
		}
	})
}
