package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/conformance/kubeserver"
	"github.com/informersim/informersim/conformance/realserver"
)

// auditFolder has what audit records, from the folder of this module.
const auditFolder = "../scenarios/recording/testdata"

// auditCommand records audit logs of a real kube-apiserver.
func auditCommand(s *settings) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "audit",
		Short: "Record audit logs of a real kube-apiserver, for the tests of informersim import",
		Long: `audit plays a short workload against a kube-apiserver that writes an audit log, at level RequestResponse and again at level Metadata, and
asks its watches what really became of each object. It writes kube-LEVEL.jsonl, and kube-requestresponse.history. Addresses, uids, audit ids and the date
are replaced, in the order in which they come; revisions stay.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, level := range []string{"RequestResponse", "Metadata"} {
				if err := s.audit(c.Context(), dir, level); err != nil {
					return fmt.Errorf("at level %s: %w", level, err)
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", auditFolder, "folder to write to")
	return c
}

// auditNamespace is the one whose requests are in the log.
const auditNamespace = "probe"

// auditPolicy has only what the workload does.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitManagedFields: true
rules:
- {level: %[1]s, namespaces: [%[2]s]}
- {level: None}
`

const auditCRD = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.probe.dev"},"spec":{"group":"probe.dev","scope":"Namespaced",
"names":{"plural":"widgets","singular":"widget","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// auditWorkload is what is in the logs: lines of a method, a path below the namespace's of a group (core for v1), the expected code, and the body. Of a
// PATCH, the path begins with the kind of the patch; of a GET, with what it accepts.
const auditWorkload = `
POST core configmaps 201 {"metadata":{"name":"a","labels":{"app":"x"}},"data":{"k":"1"}}
POST core configmaps 409 {"metadata":{"name":"a"}}
PUT core configmaps/a 200 {"metadata":{"name":"a","labels":{"app":"x"}},"data":{"k":"2"}}
PUT core configmaps/a 409 {"metadata":{"name":"a","resourceVersion":"1"},"data":{"k":"lost"}}
PUT core configmaps/a?dryRun=All 200 {"metadata":{"name":"a"},"data":{"k":"dry"}}
PATCH core merge:configmaps/a 200 {"data":{"k":"3"}}
PATCH core merge:configmaps/a 200 {"data":{"k":"3"}}
PATCH core json:configmaps/a 200 [{"op":"add","path":"/data/j","value":"4"}]
PATCH core apply:configmaps/b?fieldManager=me 201 {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{"k":"1"}}
PATCH core apply:configmaps/b?fieldManager=me 200 {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{"k":"2"}}
POST core configmaps?dryRun=All 201 {"metadata":{"name":"dry"}}
POST core configmaps 201 {"metadata":{"generateName":"gen-"}}
GET core configmaps/nobody 404
GET core configmaps/a 200
POST core configmaps 201 {"metadata":{"name":"f","finalizers":["probe.dev/wait"]}}
DELETE core configmaps/f 200
PATCH core merge:configmaps/f 200 {"data":{"dying":"yes"}}
PATCH core merge:configmaps/f 200 {"metadata":{"finalizers":null}}
POST core configmaps 201 {"metadata":{"name":"g","finalizers":["probe.dev/wait"]}}
DELETE core configmaps/g 200
PUT core configmaps/g 200 {"metadata":{"name":"g"}}
POST core configmaps 201 {"metadata":{"name":"g"},"data":{"again":"yes"}}
DELETE core configmaps/g 200
POST core configmaps 201 {"metadata":{"name":"c1","labels":{"all":"of-them"}}}
POST core configmaps 201 {"metadata":{"name":"c2","labels":{"all":"of-them"}}}
POST core configmaps 201 {"metadata":{"name":"c3","labels":{"all":"of-them"},"finalizers":["probe.dev/wait"]}}
GET core configmaps?limit=2 200
GET core table:configmaps 200
GET core metadata:configmaps 200
GET core configmaps?watch=true&timeoutSeconds=1&resourceVersion=0 200
DELETE core configmaps?labelSelector=all%3Dof-them 200
PATCH core merge:configmaps/c3 200 {"metadata":{"finalizers":null}}
POST core secrets 201 {"metadata":{"name":"s"},"stringData":{"password":"not a real one"}}
PUT core secrets/s 200 {"metadata":{"name":"s"},"stringData":{"password":"another one"}}
DELETE core secrets/s 200
POST core serviceaccounts 201 {"metadata":{"name":"sa"}}
POST core serviceaccounts/sa/token 201 {"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"audiences":["x"]}}
POST core pods 201 {"metadata":{"name":"p1"},"spec":{"containers":[{"name":"c","image":"i"}]}}
PATCH core strategic:pods/p1/status 200 {"status":{"phase":"Running","podIP":"192.0.2.7"}}
POST core pods/p1/eviction 201 {"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p1"}}
POST core pods 201 {"metadata":{"name":"p2"},"spec":{"containers":[{"name":"c","image":"i"}]}}
POST core pods/p2/binding 201 {"apiVersion":"v1","kind":"Binding","metadata":{"name":"p2"},"target":{"kind":"Node","name":"n"}}
DELETE core pods/p2 200
DELETE core pods/p2?gracePeriodSeconds=0 200
POST core pods 201 {"metadata":{"name":"p3"},"spec":{"containers":[{"name":"c","image":"i"}]}}
DELETE core pods/p3 200 {"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":0}
POST apps/v1 deployments 201 {"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}
PUT apps/v1 deployments/d/scale 200 {"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d","namespace":"probe"},"spec":{"replicas":3}}
PUT apps/v1 deployments/d/status 200 {"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"name":"c","image":"i"}]}}},"status":{"observedGeneration":1}}
DELETE apps/v1 deployments/d?propagationPolicy=Orphan 200
POST probe.dev/v1 widgets 201 {"apiVersion":"probe.dev/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":1}}
PATCH probe.dev/v1 merge:widgets/w/status 200 {"status":{"seen":true}}
PATCH probe.dev/v1 merge:widgets/w 200 {"spec":{"size":2}}
GET probe.dev/v1 widgets 200
DELETE probe.dev/v1 widgets/w 200
POST probe.dev/v1 widgets 201 {"apiVersion":"probe.dev/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":3}}
DELETE probe.dev/v1 widgets 200
`

// auditResources are those whose watches tell what really happened.
var auditResources = []string{"/api/v1/configmaps", "/api/v1/secrets", "/api/v1/serviceaccounts", "/api/v1/pods", "/apis/apps/v1/deployments", "/apis/probe.dev/v1/widgets"}

// audit records a log at a level.
func (s *settings) audit(ctx context.Context, dir, level string) error {
	work, err := os.MkdirTemp("", "audit-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	policy, log := filepath.Join(work, "policy.yaml"), filepath.Join(work, "audit.log")
	if err := os.WriteFile(policy, fmt.Appendf(nil, auditPolicy, level, auditNamespace), 0o600); err != nil {
		return err
	}
	server, err := startKube(ctx, realserver.Options{
		Launch: kubeserver.With("--audit-policy-file="+policy, "--audit-log-path="+log, "--audit-log-mode=blocking-strict"),
	})
	if err != nil {
		return err
	}
	history, err := playAudited(ctx, server.URL)
	server.Stop() // the log is whole then
	if err != nil {
		return err
	}
	lines, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	files := map[string][]byte{"jsonl": scrubbed(lines)}
	if level == "RequestResponse" {
		files["history"] = history
	}
	for name, text := range files { // order: each is a file of its own
		file := filepath.Join(dir, "kube-"+strings.ToLower(level)+"."+name)
		if err := os.WriteFile(file, text, 0o666); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "%s: %d lines, %d bytes\n", file, bytes.Count(text, []byte("\n")), len(text))
	}
	return nil
}

// playAudited plays the workload, and returns what became of its objects.
func playAudited(ctx context.Context, url string) ([]byte, error) {
	for path, body := range map[string]string{ // order: they are independent
		"/api/v1/namespaces": fmt.Sprintf(`{"metadata":{"name":%q}}`, auditNamespace),
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": auditCRD,
	} {
		if _, err := ask(ctx, "POST", url+path, "", body, http.StatusCreated); err != nil {
			return nil, err
		}
	}
	for begin := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		_, err := ask(ctx, "GET", url+"/apis/probe.dev/v1/widgets", "", "", http.StatusOK)
		if err == nil {
			break
		}
		if time.Since(begin) > time.Minute {
			return nil, err
		}
	}
	from := map[string]string{}
	for _, path := range auditResources {
		list, err := ask(ctx, "GET", url+path, "", "", http.StatusOK)
		if err != nil {
			return nil, err
		}
		var head struct {
			Metadata struct{ ResourceVersion string }
		}
		if err := json.Unmarshal(list, &head); err != nil {
			return nil, err
		}
		from[path] = head.Metadata.ResourceVersion
	}
	for line := range strings.Lines(strings.TrimPrefix(auditWorkload, "\n")) {
		if err := playLine(ctx, url, strings.TrimSpace(line)); err != nil {
			return nil, err
		}
	}
	return truth(ctx, url, from)
}

// patchTypes and accepts are what the words before a path mean.
var (
	patchTypes = map[string]string{
		"merge": "application/merge-patch+json", "json": "application/json-patch+json", "strategic": "application/strategic-merge-patch+json", "apply": "application/apply-patch+yaml",
	}
	accepts = map[string]string{
		"table": "application/json;as=Table;v=v1;g=meta.k8s.io", "metadata": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
	}
)

// playLine sends a request of the workload. A list with a limit is read page by page.
func playLine(ctx context.Context, url, line string) error {
	words := strings.SplitN(line, " ", 5)
	if len(words) < 4 {
		return fmt.Errorf("%q is no line of the workload", line)
	}
	method, group, path, body := words[0], words[1], words[2], strings.Join(words[4:], "")
	code, err := strconv.Atoi(words[3])
	if err != nil {
		return fmt.Errorf("%q: %w", line, err)
	}
	root := "/api/v1"
	if group != "core" {
		root = "/apis/" + group
	}
	kind, rest, typed := strings.Cut(path, ":")
	media := ""
	if typed {
		media, path = cmp.Or(patchTypes[kind], accepts[kind]), rest
	}
	at := url + root + "/namespaces/" + auditNamespace + "/" + path
	for page := ""; ; {
		answer, err := ask(ctx, method, at+page, media, body, code)
		if err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		var list struct{ Metadata struct{ Continue string } }
		if !strings.Contains(path, "limit=") || json.Unmarshal(answer, &list) != nil || list.Metadata.Continue == "" {
			return nil
		}
		page = "&continue=" + list.Metadata.Continue
	}
}

// ask sends a request, and returns the answer's body.
func ask(ctx context.Context, method, url, media, body string, code int) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "probe")
	r.Header.Set("Content-Type", "application/json")
	if media != "" {
		r.Header.Set(map[bool]string{true: "Content-Type", false: "Accept"}[method == "PATCH"], media)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != code {
		err = fmt.Errorf("%s %s: the answer is %d, want %d: %s", method, url, resp.StatusCode, code, answer)
	}
	return answer, err
}

// truth asks watches what happened since some revisions. A line is a revision, what happened, and the object.
func truth(ctx context.Context, url string, from map[string]string) ([]byte, error) {
	type event struct {
		rv   int
		text string
	}
	var all []event
	for _, path := range auditResources {
		answer, err := ask(ctx, "GET", url+path+"?watch=true&timeoutSeconds=2&resourceVersion="+from[path], "", "", http.StatusOK)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(bytes.NewReader(answer))
		lines.Buffer(nil, len(answer)+1)
		for lines.Scan() {
			var e struct {
				Type   string
				Object struct {
					Metadata struct{ Name, Namespace, ResourceVersion string }
				}
			}
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				return nil, err
			}
			m := e.Object.Metadata
			rv, err := strconv.Atoi(m.ResourceVersion)
			if err != nil || m.Namespace != auditNamespace {
				return nil, fmt.Errorf("a watch of %s sends %s", path, lines.Text())
			}
			all = append(all, event{rv, fmt.Sprintf("%d %s %s %s/%s\n", rv, e.Type, filepath.Base(path), m.Namespace, m.Name)})
		}
	}
	slices.SortStableFunc(all, func(x, y event) int { return cmp.Compare(x.rv, y.rv) })
	var b bytes.Buffer
	for _, e := range all {
		b.WriteString(e.text)
	}
	return b.Bytes(), nil
}

var (
	someID      = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	someTime    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	someAddress = regexp.MustCompile(`127\.0\.0\.1|\[::1\]`)
	someToken   = regexp.MustCompile(`"token":"[^"]*"`)
)

// scrubbed replaces what is another in each recording and means nothing, and what tells of the machine.
func scrubbed(log []byte) []byte {
	ids := map[string]string{}
	log = someID.ReplaceAllFunc(log, func(id []byte) []byte {
		if ids[string(id)] == "" {
			ids[string(id)] = fmt.Sprintf("00000000-0000-4000-8000-%012d", len(ids)+1)
		}
		return []byte(ids[string(id)])
	})
	var first time.Time
	log = someTime.ReplaceAllFunc(log, func(text []byte) []byte {
		at, err := time.Parse(time.RFC3339Nano, string(text))
		if err != nil {
			return text
		}
		if first.IsZero() {
			first = at.Truncate(time.Second)
		}
		moved := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(at.Sub(first))
		if bytes.Contains(text, []byte(".")) {
			return []byte(moved.Format("2006-01-02T15:04:05.000000Z"))
		}
		return []byte(moved.Format(time.RFC3339))
	})
	return someToken.ReplaceAll(someAddress.ReplaceAll(log, []byte("192.0.2.1")), []byte(`"token":"redacted"`))
}
