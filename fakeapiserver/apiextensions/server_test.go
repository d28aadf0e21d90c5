package apiextensions_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/apiextensions"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
	"github.com/informersim/informersim/sim"
)

// world is a server of definitions alone. Requests drive its steps; time passes when the test says so.
type world struct {
	t       *testing.T
	k       *sim.Kernel
	cluster *fakeapiserver.Cluster
	server  *apiextensions.Server
	api     *rest.Server
	client  *http.Client
	id      sim.ActorID
	work    []func()
}

var kindAsk = sim.RegisterKind("ask", sim.ClassScript)

func (*world) Name() string { return "asker" }

func (w *world) Apply(sim.Choice) {
	work := w.work
	w.work = nil
	for _, f := range work {
		f()
	}
}

// Do implements transport.Driver: it runs f and every step that is possible without time passing.
func (w *world) Do(f func()) {
	w.work = append(w.work, f)
	w.k.Offer(w.id, kindAsk, 0)
	w.advance(0)
}

func (w *world) advance(d time.Duration) {
	w.k.Clock().LimitTo(d)
	for w.k.Step() {
	}
	if err := w.k.Err(); err != nil {
		w.t.Fatal(err)
	}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldWith(t, nil)
}

// newWorldWith is newWorld with rest.Options.Background.
func newWorldWith(t *testing.T, background func(work, then func())) *world {
	t.Helper()
	w := &world{t: t, k: sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewFIFO()})}
	w.cluster = fakeapiserver.NewCluster(w.k, fakeapiserver.ClusterOptions{})
	w.id = w.k.Register(w)
	api, err := rest.New(rest.Options{Cluster: w.cluster, Types: types.NewRegistry(), Background: background})
	if err != nil {
		t.Fatal(err)
	}
	if w.server, err = apiextensions.New(w.cluster, api); err != nil {
		t.Fatal(err)
	}
	w.api = api
	w.client = &http.Client{Transport: &transport.RoundTripper{Driver: w, API: api}}
	return w
}

// ask makes a request and returns the code and the body.
func (w *world) ask(method, path, body string) (int, string) {
	w.t.Helper()
	r, err := http.NewRequest(method, "http://sim"+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// want makes a request and checks its answer.
func (w *world) want(code int, contains, method, path, body string) string {
	w.t.Helper()
	got, answer := w.ask(method, path, body)
	if got != code || !strings.Contains(answer, contains) {
		w.t.Fatalf("%s %s: %d %s, want %d with %q", method, path, got, answer, code, contains)
	}
	return answer
}

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// definition returns the manifest of a definition with one version.
func definition(plural, kind, spec string) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%[1]s.x.dev"},"spec":{"group":"x.dev","scope":"Cluster",
"names":{"plural":"%[1]s","kind":"%[2]s"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":%[3]s}}}}]}}`, plural, kind, spec)
}

const anySize = `{"type":"object","properties":{"size":{"type":"integer"}}}`

func (w *world) conditions(name string) string {
	w.t.Helper()
	var d apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal([]byte(w.want(200, "", "GET", definitionsPath+"/"+name, "")), &d); err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, c := range d.Status.Conditions {
		all = append(all, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	return strings.Join(all, ", ")
}

func TestDefinitionLifecycle(t *testing.T) {
	w := newWorld(t)
	w.want(404, "page not found", "GET", "/apis/x.dev/v1/things", "")
	w.want(201, `"storedVersions":["v1"]`, "POST", definitionsPath, definition("things", "Thing", anySize))
	if got := w.conditions("things.x.dev"); got != "NamesAccepted=True NoConflicts, Established=True InitialNamesAccepted" {
		t.Errorf("conditions: %s", got)
	}
	w.want(200, `"name":"things"`, "GET", "/apis/x.dev/v1", "")
	w.want(201, `"size":1`, "POST", "/apis/x.dev/v1/things", `{"apiVersion":"x.dev/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"size":1}}`)
	w.want(200, `"reason":"InstanceDeletionPending"`, "DELETE", definitionsPath+"/things.x.dev", "")
	w.want(404, "not found", "GET", definitionsPath+"/things.x.dev", "")
	w.want(404, "page not found", "GET", "/apis/x.dev/v1/things/a", "")
	w.want(404, "page not found", "GET", "/apis/x.dev/v1", "")

	// A new definition of that name starts without objects.
	w.want(201, "", "POST", definitionsPath, definition("things", "Thing", anySize))
	w.want(200, `"items":[]`, "GET", "/apis/x.dev/v1/things", "")
}

// Objects stored before a change are read under the new schema.
func TestSchemaChanges(t *testing.T) {
	w := newWorld(t)
	w.want(201, "", "POST", definitionsPath, definition("things", "Thing", anySize))
	w.want(201, "", "POST", "/apis/x.dev/v1/things", `{"apiVersion":"x.dev/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"size":1}}`)
	next := `{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"color":{"type":"string","default":"red"}}}}}}}]}}`
	w.want(200, `"generation":2`, "PATCH", definitionsPath+"/things.x.dev", next)
	for _, path := range []string{"/apis/x.dev/v1/things/a", "/apis/x.dev/v1/things"} {
		if answer := w.want(200, `"color":"red"`, "GET", path, ""); strings.Contains(answer, `"size":1`) {
			t.Errorf("a field dropped from the schema is shown: %s", answer)
		}
	}
	w.want(200, `"color":"red"`, "PATCH", "/apis/x.dev/v1/things/a", `{"metadata":{"labels":{"a":"b"}}}`)
}

// The watches of the old resource end a second after a change, and earlier revisions cannot be watched.
func TestWatchesEnd(t *testing.T) {
	w := newWorld(t)
	w.want(201, "", "POST", definitionsPath, definition("things", "Thing", anySize))
	w.want(201, "", "POST", "/apis/x.dev/v1/things", `{"apiVersion":"x.dev/v1","kind":"Thing","metadata":{"name":"a","resourceVersion":""}}`)
	resp, err := w.client.Get("http://sim/apis/x.dev/v1/things?watch=true&resourceVersion=1004")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	w.want(200, "", "PATCH", definitionsPath+"/things.x.dev", `{"spec":{"names":{"shortNames":["th"]}}}`)
	w.advance(2 * time.Second)
	rest, err := io.ReadAll(resp.Body) // returns: the watch has ended
	if err != nil || len(rest) > 0 {
		t.Errorf("the watch ended with %q, %v", rest, err)
	}
	w.want(200, "too old resource version", "GET", "/apis/x.dev/v1/things?watch=true&resourceVersion=1004&timeoutSeconds=1", "")
}

// An object's finalizers block the deletion of its definition.
func TestFinalizersKeepDefinition(t *testing.T) {
	w := newWorld(t)
	w.want(201, "", "POST", definitionsPath, definition("things", "Thing", anySize))
	w.want(201, "", "POST", "/apis/x.dev/v1/things", `{"apiVersion":"x.dev/v1","kind":"Thing","metadata":{"name":"a","finalizers":["x.dev/wait"]}}`)
	w.want(201, "", "POST", "/apis/x.dev/v1/things", `{"apiVersion":"x.dev/v1","kind":"Thing","metadata":{"name":"b"}}`)
	w.want(200, "", "DELETE", definitionsPath+"/things.x.dev", "")
	if got := w.conditions("things.x.dev"); !strings.HasSuffix(got, "Terminating=True InstanceDeletionInProgress") {
		t.Errorf("conditions: %s", got)
	}
	w.want(404, "", "GET", "/apis/x.dev/v1/things/b", "")
	w.want(403, "create not allowed while custom resource definition is terminating", "POST", "/apis/x.dev/v1/things", `{"apiVersion":"x.dev/v1","kind":"Thing","metadata":{"name":"c"}}`)
	w.advance(70 * time.Second)
	if got := w.conditions("things.x.dev"); !strings.HasSuffix(got, "Terminating=True InstanceDeletionCheck") && !strings.HasSuffix(got, "Terminating=True InstanceDeletionInProgress") {
		t.Errorf("conditions after a minute: %s", got)
	}
	w.want(200, "", "PATCH", "/apis/x.dev/v1/things/a", `{"metadata":{"finalizers":null}}`)
	w.advance(10 * time.Second)
	w.want(404, "not found", "GET", definitionsPath+"/things.x.dev", "")
}

// A name that another definition of the group has is accepted once that one is gone.
func TestNameConflict(t *testing.T) {
	w := newWorld(t)
	w.want(201, "", "POST", definitionsPath, definition("things", "Thing", anySize))
	w.want(201, "", "POST", definitionsPath, definition("others", "Thing", anySize))
	if got := w.conditions("others.x.dev"); got != "NamesAccepted=False ListKindConflict, Established=False NotAccepted" {
		t.Errorf("conditions: %s", got)
	}
	w.want(404, "", "GET", "/apis/x.dev/v1/others", "")
	w.want(200, "", "DELETE", definitionsPath+"/things.x.dev", "")
	if got := w.conditions("others.x.dev"); got != "NamesAccepted=True NoConflicts, Established=True InitialNamesAccepted" {
		t.Errorf("conditions: %s", got)
	}
	w.want(200, "", "GET", "/apis/x.dev/v1/others", "")
}

func TestProtectedGroup(t *testing.T) {
	w := newWorld(t)
	d := strings.ReplaceAll(definition("things", "Thing", anySize), "x.dev", "x.k8s.io")
	w.want(422, "protected groups must have approval annotation", "POST", definitionsPath, d)
	d = strings.Replace(d, `"metadata":{`, `"metadata":{"annotations":{"api-approved.kubernetes.io":"unapproved, a test"},`, 1)
	w.want(201, "", "POST", definitionsPath, d)
	if got := w.conditions("things.x.k8s.io"); !strings.Contains(got, "KubernetesAPIApprovalPolicyConformant=False UnapprovedAnnotation") {
		t.Errorf("conditions: %s", got)
	}
}

// Versions that need a webhook to convert are served only to the extent that they are stored.
func TestWebhookConversion(t *testing.T) {
	w := newWorld(t)
	d := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.x.dev"},"spec":{"group":"x.dev","scope":"Cluster",
"names":{"plural":"things","kind":"Thing"},"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://nowhere.x.dev/"}}},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
	w.want(201, "", "POST", definitionsPath, d)
	w.want(201, "", "POST", "/apis/x.dev/v1/things", `{"apiVersion":"x.dev/v1","kind":"Thing","metadata":{"name":"a"}}`)
	w.want(200, "", "GET", "/apis/x.dev/v1/things/a", "")
	w.want(500, "this server calls no webhooks", "GET", "/apis/x.dev/v2/things/a", "")
}

// A restore of the Store brings definitions back, and what they serve.
func TestRestore(t *testing.T) {
	w := newWorld(t)
	before := w.cluster.Store().Revision()
	w.want(201, "", "POST", definitionsPath, definition("things", "Thing", anySize))
	w.want(200, "", "GET", "/apis/x.dev/v1/things", "")
	w.Do(func() {
		if err := w.cluster.Restore(before, 1000); err != nil {
			t.Error(err)
		}
	})
	w.want(404, "page not found", "GET", "/apis/x.dev/v1/things", "")
}

// Install creates, updates, or is a no-op.
func TestInstall(t *testing.T) {
	w := newWorld(t)
	install := func(manifest string) (err error) {
		t.Helper()
		all, err := crd.LoadManifests(strings.NewReader(manifest))
		if err != nil {
			t.Fatal(err)
		}
		w.Do(func() { err = w.server.Install(all[0]) })
		return err
	}
	if err := install(definition("things", "Thing", anySize)); err != nil {
		t.Fatal(err)
	}
	at := w.cluster.Store().Revision()
	if err := install(definition("things", "Thing", anySize)); err != nil || w.cluster.Store().Revision() != at {
		t.Errorf("installed again: %v, at revision %d, was %d", err, w.cluster.Store().Revision(), at)
	}
	if err := install(definition("things", "Thing", `{"type":"string"}`)); err != nil {
		t.Error(err)
	}
	w.want(422, "must be of type string", "POST", "/apis/x.dev/v1/things", `{"apiVersion":"x.dev/v1","kind":"Thing","metadata":{"name":"a"},"spec":{}}`)
	if err := install(definition("others", "Thing", anySize)); err == nil || !strings.Contains(err.Error(), `ListKindConflict: "ThingList" is already in use`) {
		t.Errorf("a name already in use: %v", err)
	}
	if err := install(strings.Replace(definition("things", "Thing", anySize), "Cluster", "Namespaced", 1)); err == nil || !strings.Contains(err.Error(), "spec.scope: Invalid value") {
		t.Errorf("another scope: %v", err)
	}
}
