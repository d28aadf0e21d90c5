package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informersim/informersim/cmd/internal/cli"
)

const widgetsCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.x.dev}
spec:
  group: x.dev
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// as makes a request as the named client.
func (p *serving) as(client, method, url, body string) (int, string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("User-Agent", client+"/1.0")
	if body != "" && p.control != "" && strings.HasPrefix(url, p.control) {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, err.Error()
	}
	return resp.StatusCode, string(data)
}

func (p *serving) want(code int, contains, method, path, body string) string {
	p.t.Helper()
	root := p.root
	if path, ok := strings.CutPrefix(path, "control:"); ok {
		got, answer := p.as("test", method, p.control+path, body)
		if got != code || !strings.Contains(answer, contains) {
			p.t.Errorf("%s %s %s: %d %s, want %d with %q", method, path, body, got, answer, code, contains)
		}
		return answer
	}
	got, answer := p.as("test", method, root+path, body)
	if got != code || !strings.Contains(answer, contains) {
		p.t.Errorf("%s %s: %d %s, want %d with %q", method, path, got, answer, code, contains)
	}
	return answer
}

// interrupt sends Ctrl-C, after which the server must end.
func (p *serving) interrupt() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the server ended with %v: %s", err, p.stderr)
	}
}

// Definitions and objects are read from every form of file.
func TestServeFiles(t *testing.T) {
	gadgets := strings.NewReplacer("widgets", "gadgets", "Widget", "Gadget").Replace(widgetsCRD)
	inTemp(t, map[string]string{
		"widgets.yaml": "# a comment\n---\n" + widgetsCRD + "---\n",
		"gadgets.yaml": gadgets,
		"objects.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\n---\napiVersion: x.dev/v1\nkind: Widget\nmetadata: {name: w, namespace: a}\n",
		"objects.json": `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}},{"apiVersion":"x.dev/v1","kind":"Gadget","metadata":{"name":"g"}}]}`,
	})
	p := serveIn(t, "--crd", "widgets.yaml", "--crd", "gadgets.yaml", "--load", "objects.yaml", "--load", "objects.json", "--kubeconfig", "deep/kc", "--token", "secret")
	config, err := clientcmd.BuildConfigFromFlags("", "deep/kc")
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Namespaces().Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
		t.Errorf("with the kubeconfig: %v", err)
	}
	p.want(401, "Unauthorized", "GET", "/api/v1/namespaces", "")
	for _, path := range []string{"/api/v1/namespaces/a", "/apis/x.dev/v1/namespaces/a/widgets/w", "/api/v1/namespaces/default/configmaps/m", "/apis/x.dev/v1/namespaces/default/gadgets/g", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.x.dev"} {
		r, err := http.NewRequest("GET", p.root+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer secret")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != 200 {
			t.Errorf("GET %s: %s", path, resp.Status)
		}
	}
	p.interrupt()
}

// A bad command line or file is refused, the error names the file and the document, and nothing is served.
func TestServeRefuses(t *testing.T) {
	inTemp(t, map[string]string{
		"widgets.yaml": widgetsCRD,
		"pod.yaml":     "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: c}]}\n",
		"empty.yaml":   "---\n",
		"broken.yaml":  widgetsCRD + "---\nkind: [\n",
		"bad.yaml":     strings.Replace(widgetsCRD, "scope: Namespaced", "scope: Galaxy", 1),
		"unknown.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: y.dev/v1\nkind: Thing\nmetadata: {name: a}\n",
		"invalid.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A_B}\n",
	})
	for args, want := range map[string]string{
		"--addr 0.0.0.0:0":                "--addr 0.0.0.0:0 is not a loopback address",
		"--addr 8080":                     `--addr "8080" is not an address`,
		"--control 0.0.0.0:0 --token x":   "--control 0.0.0.0:0 is not a loopback address",
		"--crd nothing.yaml":              "--crd: open nothing.yaml: no such file",
		"--crd pod.yaml":                  `pod.yaml: document 1: Pod "a" is not a CustomResourceDefinition`,
		"--crd empty.yaml":                "empty.yaml: it contains no CustomResourceDefinition",
		"--crd broken.yaml":               "broken.yaml: document 2",
		"--crd bad.yaml":                  `bad.yaml: document 1: CustomResourceDefinition "widgets.x.dev" is invalid: spec.scope`,
		"--load unknown.yaml":             "unknown.yaml: document 2: kind Thing in y.dev/v1 is not served",
		"--load invalid.yaml":             `invalid.yaml: document 1: ConfigMap A_B: the server answers 422: ConfigMap "A_B" is invalid`,
		"--load pod.yaml --load pod.yaml": `pod.yaml: document 1: Pod a: the server answers 409: pods "a" already exists`,
		"--authorization-mode RBAC,RBAC":  "--authorization-mode names RBAC twice: write it once",
		"--authorization-mode Rbac":       `--authorization-mode names "Rbac", which is no mode`,
		"--controllers deploy":            `--controllers: there is no controller "deploy"`,
		"--controllers *,-deploy":         `--controllers: there is no controller "deploy"`,
		"--controller-lag -1s":            "must not be negative",
		"--fault-mix nothing":             "nothing",
		"--replicas 6":                    "--replicas 6 is out of range",
		"--kubeconfig pod.yaml/kc":        "--kubeconfig: ",
		"extra":                           "extra",
	} {
		if got := command(t, append([]string{"serve"}, strings.Fields(args)...)...); got.code != cli.BadInput || !strings.Contains(got.stderr, want) || strings.Contains(got.stdout, "serving") {
			t.Errorf("serve %s: %+v, want %q", args, got, want)
		}
	}
}

func TestServeControl(t *testing.T) {
	inTemp(t, nil)
	p := serveIn(t, "--control", "127.0.0.1:0", "--replicas", "2")
	revision := func() int64 {
		t.Helper()
		n, err := strconv.ParseInt(strings.TrimSpace(p.want(200, "", "GET", "control:/revision", "")), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	maps := "/api/v1/namespaces/default/configmaps"
	for i := range 5 {
		p.want(201, "", "POST", maps, fmt.Sprintf(`{"metadata":{"name":"m-%d"}}`, i))
	}
	at := revision()
	old := fmt.Sprintf("%s?resourceVersionMatch=Exact&resourceVersion=%d", maps, at-2)
	p.want(200, `"m-2"`, "GET", old, "")
	p.want(200, "", "POST", "control:/compact?cache=keep", "")
	p.want(200, `"m-2"`, "GET", old, "") // the caches have it
	p.want(400, "compacted already", "POST", "control:/compact?rev=1", "")
	p.want(201, "", "POST", maps, `{"metadata":{"name":"last"}}`)
	p.want(200, "", "POST", "control:/compact", "")
	p.want(410, "Expired", "GET", old, "")
	p.want(200, "", "POST", "control:/restart?replica=1", "")
	p.want(200, "", "POST", fmt.Sprintf("control:/restore?rev=%d&bump=1000", revision()), "")
	if got := revision(); got != at+1001 {
		t.Errorf("at %d after the restore, want %d", got, at+1001)
	}
	for request, want := range map[string]string{
		"/compact?rev=x":                   `rev="x" is not a number`,
		"/compact?revision=5":              `there is no parameter "revision": there are rev and cache`,
		"/compact?cache=drop":              "cache=drop is unknown",
		"/compact?rev=999999999999":        "cannot compact to 999999999999",
		"/restart?replica=7":               "there is no replica",
		"/restart?replica=-1":              "there is no replica",
		"/restart?replica=":                "replica= is empty",
		"/restore":                         "rev= is missing",
		"/restore?rev=1":                   "cannot restore to 1",
		"/restore?rev=99999999":            "cannot restore to 99999999",
		"/compact?rev=-5":                  "rev=-5 must not be negative",
		"/compact?rev=":                    "rev= is empty",
		"/compact?rev=%zz":                 `the query "rev=%zz" cannot be read`,
		"/compact?rev=1;rev=2":             "cannot be read",
		"/compact?rev=1&rev=2":             "rev is given 2 times",
		"/compact?rev=1e3":                 `rev="1e3" is not a number`,
		"/restore?rev=-1":                  "rev=-1 must not be negative",
		"/restore?rev=1&bump=-1":           "bump=-1 must not be negative",
		"/restore?rev=9223372036854775808": "rev=9223372036854775808 is out of range",
		fmt.Sprintf("/restore?rev=%d&bump=9223372036854775807", at+1001): "too large",
		"/fault":     "there is no body",
		"/fault?x=1": `there is no parameter "x": there are none`,
	} {
		p.want(400, want, "POST", "control:"+request, "")
	}
	for body, want := range map[string]string{
		`{"kind":"watch-41O"}`:                                            `did you mean "watch-410"?`,
		`{"kind":"list-500","ressource":"pods"}`:                          `unknown field "ressource"`,
		`{"kind":"list-500","resource":"podz"}`:                           `there is no resource "podz"`,
		`{"kind":"list-500","verb":"post"}`:                               `there is no verb "post"`,
		`{"kind":"list-500","from":5}`:                                    "5 is not a duration",
		`{"kind":"list-500","probability":2}`:                             "probability is 2",
		`{"kind":"list-500","replica":"9"}`:                               "there is no replica",
		`[]`:                                                              "the body is not a fault as JSON",
		`null`:                                                            "there is no fault",
		`{"kind":"list-500"} x`:                                           `there is something after the fault, from "x"`,
		`{"kind":"list-500"}{"kind":"list-500"}`:                          "send one fault per request",
		`{"kind":"list-500","kind":"list-503"}`:                           `duplicate field "kind"`,
		`{"kind":"list-500","count":-1}`:                                  "count is -1: it must not be negative",
		`{"kind":"list-500","count":1.5}`:                                 "the body is not a fault as JSON",
		`{"kind":"compact","revision":-1}`:                                "revision is -1: it must not be negative",
		`{"kind":"list-500","from":"-1s"}`:                                "must not be negative",
		`{"kind":"list-500","after":{"count":-1}}`:                        "count is -1: it must not be negative",
		`{"kind":"list-500","after":{"count":1,"evnt":"x"}}`:              `unknown field "evnt"`,
		`{"kind":"list-500","after":{"count":1,"count":2}}`:               `duplicate field "after.count"`,
		`{"kind":"list-500","target":"` + strings.Repeat("a", 100) + `"}`: "there is no client",
	} {
		p.want(400, want, "POST", "control:/fault", body)
	}
	if answer := p.want(200, "", "GET", "control:/faults", ""); answer != "[\n]\n" {
		t.Errorf("refused faults wait: %s", answer)
	}
	for _, path := range []string{"/compact", "/restart", "/restore?rev=1"} {
		p.want(400, "takes no body", "POST", "control:"+path, `{"rev":1}`)
	}
	p.want(413, "the body is too large", "POST", "control:/fault", strings.Repeat(" ", 1<<20+1))
	p.want(400, `there is no parameter "x"`, "GET", "control:/revision?x=1", "")
	p.want(405, "", "GET", "control:/compact", "")
	p.want(404, "", "POST", "control:/nothing", "")
}

// A fault hits its target, and nothing else.
func TestServeFaults(t *testing.T) {
	inTemp(t, nil)
	p := serveIn(t, "--control", "127.0.0.1:0", "--replicas", "2")
	maps, secrets := "/api/v1/namespaces/a/configmaps", "/api/v1/namespaces/a/secrets"
	get := func(client, method, path, body string) int {
		code, _ := p.as(client, method, p.root+path, body)
		return code
	}
	if code := get("alice", "POST", maps, `{"metadata":{"name":"x"}}`); code != 201 {
		t.Fatalf("create: %d", code)
	}
	type request struct{ client, method, path, body string }
	list := request{"alice", "GET", maps, ""}
	for fault, tt := range map[string]struct {
		hit    request
		code   int
		spared []request
	}{
		`{"kind":"list-500","target":"alice"}`:                                      {list, 500, []request{{"bob", "GET", maps, ""}}},
		`{"kind":"list-503","target":"carol"}`:                                      {request{"carol", "GET", maps, ""}, 503, []request{list}}, // this client is not known yet
		`{"kind":"list-500","resource":"secrets"}`:                                  {request{"alice", "GET", secrets, ""}, 500, []request{list}},
		`{"kind":"list-500","verb":"get"}`:                                          {request{"alice", "GET", maps + "/x", ""}, 500, []request{list}},
		`{"kind":"list-500","verb":"list"}`:                                         {list, 500, []request{{"alice", "GET", maps + "/x", ""}}},
		`{"kind":"write-429","verb":"delete"}`:                                      {request{"alice", "DELETE", maps + "/none", ""}, 429, []request{{"alice", "POST", maps + "?dryRun=All", `{"metadata":{"name":"y"}}`}, list}},
		`{"kind":"list-504","namespace":"b"}`:                                       {request{"alice", "GET", "/api/v1/namespaces/b/configmaps", ""}, 504, []request{list}},
		`{"kind":"write-500","name":"z"}`:                                           {request{"alice", "DELETE", maps + "/z", ""}, 500, []request{{"alice", "DELETE", maps + "/none", ""}}},
		`{"kind":"list-500","name":"x"}`:                                            {request{"alice", "GET", maps + "/x", ""}, 500, []request{list, {"alice", "GET", maps + "/none", ""}}},
		`{"kind":"list-500","after":{"event":"request","count":2}}`:                 {list, 500, []request{list}},
		`{"kind":"list-500","after":{"event":"commit","key":"a/w","type":"ADDED"}}`: {list, 500, []request{list, {"alice", "POST", maps, `{"metadata":{"name":"w"}}`}}},
		`{"kind":"list-500","until":"1h"}`:                                          {list, 500, nil},
	} {
		p.want(200, "", "POST", "control:/fault", fault)
		for _, r := range tt.spared {
			if code := get(r.client, r.method, r.path, r.body); code >= 429 || code == 0 {
				t.Errorf("%s: %+v is hit: %d", fault, r, code)
			}
		}
		if code := get(tt.hit.client, tt.hit.method, tt.hit.path, tt.hit.body); code != tt.code {
			t.Errorf("%s: %+v: %d, want %d", fault, tt.hit, code, tt.code)
		}
		if code := get(tt.hit.client, tt.hit.method, tt.hit.path, tt.hit.body); code >= 429 {
			t.Errorf("%s: %+v is hit twice: %d", fault, tt.hit, code)
		}
	}

	// A count, a time in the past, one in the future, a replica, a probability of almost zero.
	p.want(200, "", "POST", "control:/fault", `{"kind":"list-500","count":3}`)
	for i, want := range []int{500, 500, 500, 200} {
		if code := get("alice", "GET", maps, ""); code != want {
			t.Errorf("request %d of a fault with a count: %d", i, code)
		}
	}
	p.want(200, "", "POST", "control:/fault", `{"kind":"list-500","from":"1h"}`)
	p.want(200, "", "POST", "control:/fault", `{"kind":"list-500","until":"1ms"}`)
	time.Sleep(5 * time.Millisecond)
	p.want(200, "", "POST", "control:/fault", `{"kind":"list-500","probability":0.000001,"count":1}`)
	if code := get("alice", "GET", maps, ""); code != 200 {
		t.Errorf("a fault outside its time, or against all odds: %d", code)
	}
}

// The third event of a key ends the watch, in the middle of the frame.
func TestServeFaultOfFrame(t *testing.T) {
	inTemp(t, nil)
	p := serveIn(t, "--control", "127.0.0.1:0")
	maps := "/api/v1/namespaces/a/configmaps"
	p.want(200, "", "POST", "control:/fault", `{"kind":"watch-eof","target":"watcher","after":{"event":"frame","key":"a/x","count":2}}`)
	r, err := http.NewRequestWithContext(t.Context(), "GET", p.root+maps+"?watch=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", "watcher/1")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for _, name := range []string{"y", "x", "z"} {
		p.want(201, "", "POST", maps, fmt.Sprintf(`{"metadata":{"name":%q}}`, name))
	}
	p.want(200, "", "DELETE", maps+"/x", "")
	data, err := io.ReadAll(resp.Body)
	if err == nil || bytes.Count(data, []byte("\n")) != 4 {
		t.Errorf("the watch ended with %v after %s", err, data)
	}
}

// Ctrl-C ends watches cleanly.
func TestServeInterrupt(t *testing.T) {
	inTemp(t, nil)
	p := serveIn(t)
	resp, err := http.Get(p.root + "/api/v1/configmaps?watch=true")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	p.want(201, "", "POST", "/api/v1/namespaces/a/configmaps", `{"metadata":{"name":"x"}}`)
	lines := bufio.NewReader(resp.Body)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, `"ADDED"`) {
		t.Fatalf("%q, %v", line, err)
	}
	p.interrupt()
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("the watch ended with %q, %v", rest, err)
	}
}

// A body may have 3 MiB, as with a real apiserver.
func TestServeBodyLimit(t *testing.T) {
	inTemp(t, nil)
	p := serveIn(t)
	p.want(413, "limit is 3145728", "POST", "/api/v1/namespaces/a/configmaps", strings.Repeat("x", 3<<20+1))
	p.want(400, "", "POST", "/api/v1/namespaces/a/configmaps", strings.Repeat("x", 3<<20))
}

// Under a fault mix, errors are still the API's, and everything in --load is loaded.
func TestServeFaultMix(t *testing.T) {
	inTemp(t, map[string]string{"objects.yaml": strings.Repeat("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: m-, namespace: a}\n", 100)})
	p := serveIn(t, "--fault-mix", "storm", "--seed", "3", "--load", "objects.yaml")
	deadline := time.Now().Add(time.Minute)
	for {
		code, answer := p.as("test", "GET", p.root+"/api/v1/namespaces/a/configmaps", "")
		if code == 200 {
			if n := strings.Count(answer, `"generateName"`); n != 100 {
				t.Errorf("found %d objects", n)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no list under faults: %d %s", code, answer)
		}
	}
}

// Deleted namespaces are emptied; with the garbage collector, dependents are deleted with their owners.
func TestServeControllers(t *testing.T) {
	inTemp(t, map[string]string{"widgets.yaml": widgetsCRD})
	gone := func(p *serving, path string) {
		t.Helper()
		deadline := time.Now().Add(30 * time.Second)
		for code := 0; code != 404; {
			var answer string
			if code, answer = p.as("test", "GET", p.root+path, ""); time.Now().After(deadline) {
				t.Fatalf("GET %s: %d %s", path, code, answer)
			}
			time.Sleep(time.Millisecond)
		}
	}
	p := serveIn(t, "--crd", "widgets.yaml")
	p.want(201, "", "POST", "/api/v1/namespaces", `{"metadata":{"name":"a"}}`)
	p.want(201, "", "POST", "/api/v1/namespaces/a/configmaps", `{"metadata":{"name":"m"}}`)
	p.want(201, "", "POST", "/apis/x.dev/v1/namespaces/a/widgets", `{"apiVersion":"x.dev/v1","kind":"Widget","metadata":{"name":"w"}}`)
	p.want(200, "", "DELETE", "/api/v1/namespaces/a", "")
	gone(p, "/api/v1/namespaces/a")
	gone(p, "/apis/x.dev/v1/namespaces/a/widgets/w")
	gone(p, "/api/v1/namespaces/a/configmaps/m")

	p = serveIn(t, "--controllers", "garbage-collector", "--controller-delay", "10ms")
	p.want(201, "", "POST", "/api/v1/namespaces/a/configmaps", `{"metadata":{"name":"owner"}}`)
	_, owner := p.as("test", "GET", p.root+"/api/v1/namespaces/a/configmaps/owner", "")
	_, uid, _ := strings.Cut(owner, `"uid":"`)
	uid, _, _ = strings.Cut(uid, `"`)
	p.want(201, "", "POST", "/api/v1/namespaces/a/configmaps", fmt.Sprintf(`{"metadata":{"name":"owned","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":%q}]}}`, uid))
	p.want(200, "", "DELETE", "/api/v1/namespaces/a/configmaps/owner", "")
	gone(p, "/api/v1/namespaces/a/configmaps/owned")
}
