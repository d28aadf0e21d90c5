package main

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// startConverter starts a conversion webhook: what is spec.size in v1 is spec.length in v2.
func startConverter(t *testing.T, calls *atomic.Int64) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		var review apiextensionsv1.ConversionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
		for _, raw := range review.Request.Objects {
			u := &unstructured.Unstructured{}
			if err := u.UnmarshalJSON(raw.Raw); err != nil {
				t.Error(err)
			}
			if u.GetName() == "cursed" {
				review.Response.Result = metav1.Status{Status: metav1.StatusFailure, Message: "it is cursed"}
				break
			}
			from, to := "size", "length"
			if strings.HasSuffix(review.Request.DesiredAPIVersion, "/v1") {
				from, to = to, from
			}
			if value, has, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", from); has {
				u.Object["spec"] = map[string]any{to: value}
			}
			u.SetAPIVersion(review.Request.DesiredAPIVersion)
			review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Object: u})
		}
		review.Request = nil
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Log(err)
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// A conversion webhook converts what is stored in another version than the one that is asked for, and what is sent in another than the one that is stored.
func TestConversionWebhooks(t *testing.T) {
	t.Parallel()
	p := serveIn(t)
	var calls atomic.Int64
	hook := startConverter(t, &calls)
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw}))
	schema := func(field string) string {
		return `"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"` + field + `":{"type":"integer"}}}}}}`
	}
	p.want(201, "gadgets", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.x.dev"},
		"spec":{"group":"x.dev","scope":"Namespaced","names":{"plural":"gadgets","kind":"Gadget"},
		"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":%q,"caBundle":%q}}},
		"versions":[{"name":"v1","served":true,"storage":true,%s},{"name":"v2","served":true,"storage":false,%s}]}}`, hook.URL, ca, schema("size"), schema("length")))
	for !p.established("gadgets.x.dev") {
		time.Sleep(time.Millisecond)
	}
	const v1, v2 = "/apis/x.dev/v1/namespaces/default/gadgets", "/apis/x.dev/v2/namespaces/default/gadgets"
	p.want(201, `"size":3`, "POST", v1, `{"apiVersion":"x.dev/v1","kind":"Gadget","metadata":{"name":"a","labels":{"l":"m"}},"spec":{"size":3}}`)
	p.want(200, `"size":3`, "GET", v1+"/a", "")
	if n := calls.Load(); n != 0 {
		t.Errorf("%d calls, where the version is the stored one", n)
	}
	p.want(200, `"length":3`, "GET", v2+"/a", "")
	p.want(200, `"length":3`, "GET", v2, "")
	p.want(201, `"length":4`, "POST", v2, `{"apiVersion":"x.dev/v2","kind":"Gadget","metadata":{"name":"b"},"spec":{"length":4}}`)
	p.want(200, `"size":4`, "GET", v1+"/b", "")
	var b unstructured.Unstructured
	if err := json.Unmarshal([]byte(p.want(200, "", "GET", v2+"/b", "")), &b.Object); err != nil {
		t.Fatal(err)
	}
	b.Object["spec"] = map[string]any{"length": 5}
	body, err := json.Marshal(b.Object)
	if err != nil {
		t.Fatal(err)
	}
	p.want(200, `"length":5`, "PUT", v2+"/b", string(body))
	p.want(200, `"size":5`, "GET", v1+"/b", "")

	p.want(201, "", "POST", v1, `{"apiVersion":"x.dev/v1","kind":"Gadget","metadata":{"name":"cursed"}}`)
	p.want(500, `"message":"Internal error occurred: StorageError: corrupt object, Code: 7, Key: /x.dev/gadgets/default/cursed, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=`, "GET", v2+"/cursed", "")
	p.want(500, `conversion webhook for x.dev/v1, Kind=Gadget failed: it is cursed`, "DELETE", v2+"/cursed", "")
	p.want(500, `conversion webhook for x.dev/v1, Kind=Gadget failed: it is cursed`, "GET", v2, "")
	p.want(200, `"length":5`, "GET", v2+"?watch=1", "") // ends, in good order, before the object that cannot be sent
	p.want(200, `"cursed"`, "GET", v1+"/cursed", "")
	hook.Close()
	p.want(201, "", "POST", v1, `{"apiVersion":"x.dev/v1","kind":"Gadget","metadata":{"name":"late"}}`)
	p.want(500, `conversion webhook for x.dev/v1, Kind=Gadget failed: Post`, "GET", v2+"/late", "")
	p.want(500, `conversion webhook for x.dev/v2, Kind=Gadget failed: Post`, "POST", v2, `{"apiVersion":"x.dev/v2","kind":"Gadget","metadata":{"name":"later"},"spec":{"length":4}}`)
}
