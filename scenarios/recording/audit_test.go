package recording

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/scenarios/script"
)

// audited renders a line of an audit log, as the apiserver writes it. With an answer that begins with a number, that is the code.
func audited(level, stage, verb, ref, answer string) string {
	resource, key, _ := strings.Cut(ref, " ")
	resource, sub, _ := strings.Cut(resource, "/")
	namespace, name, _ := strings.Cut(key, "/")
	code, object := "200", answer
	if answer != "" && answer[0] != '{' {
		code, object, _ = strings.Cut(answer, " ")
	}
	group := "probe.dev"
	if resource == "pods" {
		group = ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":%q,"auditID":"id-%s-%s","stage":%q,"requestURI":"/x","verb":%q,"user":{"username":"u"},`+
		`"objectRef":{"resource":%q,"namespace":%q,"name":%q,"apiGroup":%q,"apiVersion":"v1","subresource":%q}`, level, verb, ref, stage, verb, resource, namespace, name, group, sub)
	if stage == "ResponseComplete" {
		fmt.Fprintf(&b, `,"responseStatus":{"metadata":{},"code":%s}`, code)
	}
	if object != "" {
		fmt.Fprintf(&b, `,"responseObject":%s`, object)
	}
	b.WriteString(`,"requestReceivedTimestamp":"2026-01-01T00:00:00.000001Z","stageTimestamp":"2026-01-01T00:00:00.000002Z"}` + "\n")
	return b.String()
}

func answered(verb, ref, answer string) string {
	return audited("RequestResponse", "ResponseComplete", verb, ref, answer)
}

const statusOK = `{"kind":"Status","apiVersion":"v1","status":"Success"}`

// An audit log becomes the history that it shows: versions in the order of their revisions, whatever the order in which requests ended, and from
// whatever answer they are known. What it does not show is said, with the line.
func TestHistoryOfAnAuditLog(t *testing.T) {
	a := func(rv int64, uid ...string) string { return widget("n/a", rv, uid...) }
	dying := strings.Replace(a(9), `"metadata":{`, `"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["x"],`, 1)
	list := `{"kind":"WidgetList","apiVersion":"probe.dev/v1","metadata":{"resourceVersion":"9"},"items":[` + a(5) + "," + widget("n/b", 6) + `]}`
	for _, test := range []struct{ name, log, want, says string }{
		{"writes", answered("create", "widgets n/a", "201 "+a(5)) + answered("patch", "widgets/status n/a", a(7)) + answered("update", "widgets n/a", a(6)),
			"create n/a 5, update n/a 6, update n/a 7", ""},
		{"deleted, by a Status", answered("create", "widgets n/a", "201 "+a(5)) + answered("delete", "widgets n/a", statusOK) + answered("create", "widgets n/a", "201 "+a(8, "new")),
			"create n/a 5, delete n/a 6, create n/a 8", "are guessed"},
		{"deleted, by the object", answered("create", "widgets n/a", "201 "+a(5)) + answered("delete", "widgets n/a", a(8)), "create n/a 5, delete n/a 8", ""},
		{"a finalizer keeps it", answered("create", "widgets n/a", "201 "+a(5)) + answered("delete", "widgets n/a", dying), "create n/a 5, update n/a 9", ""},
		{"its last finalizer is taken", answered("create", "widgets n/a", "201 "+a(5)) + answered("delete", "widgets n/a", dying) +
			answered("patch", "widgets n/a", strings.Replace(dying, `,"finalizers":["x"]`, "", 1)) + answered("create", "widgets n/b", "201 "+widget("n/b", 12)),
			"create n/a 5, update n/a 9, delete n/a 10, create n/b 12", "are guessed"},
		{"applied", answered("patch", "widgets n/a", "201 "+a(5)), "create n/a 5", ""},
		{"reads", answered("list", "widgets n/", list) + answered("get", "widgets n/a", a(5)) + answered("update", "widgets n/b", widget("n/b", 8)),
			"create n/a 5, create n/b 6, update n/b 8", "Older than the log: 2 objects"},
		{"a missing write shows in a read", audited("Metadata", "ResponseComplete", "update", "widgets n/a", "") + answered("get", "widgets n/a", a(5)), "create n/a 5",
			"r:1: update widgets n/a: at level Metadata there is no responseObject"},
		{"a generated name", audited("Metadata", "ResponseComplete", "create", "widgets n/", "") + answered("get", "widgets n/a", a(5)), "create n/a 5",
			"r:1: create widgets n/an object with a generated name: at level Metadata"},
		{"refused", answered("create", "widgets n/a", "409 "+statusOK) + answered("get", "widgets n/a", a(5)), "create n/a 5", "1 request failed"},
		{"stages", audited("RequestResponse", "RequestReceived", "create", "widgets n/a", "") + audited("RequestResponse", "RequestReceived", "delete", "widgets n/c", "") +
			answered("create", "widgets n/a", "201 "+a(5)), "create n/a 5", "r:2: of 1 write, this one first, the log has no ResponseComplete stage"},
		{"a deletion of what was never seen", answered("delete", "widgets n/z", statusOK) + answered("create", "widgets n/a", "201 "+a(5)), "create n/a 5",
			"r:1: delete widgets n/z: no version of the object is known"},
		{"an eviction", answered("create", "pods/eviction n/p", "201 "+statusOK) + answered("get", "widgets n/a", a(5)), "create n/a 5", "r:1: create pods/eviction n/p: the answer is not the object"},
		{"a dry run", strings.Replace(answered("update", "widgets n/a", a(7)), `"/x"`, `"/x?dryRun=All"`, 1) + answered("get", "widgets n/a", a(5)), "create n/a 5", ""},
		{"a collection", answered("list", "widgets n/", list) + answered("deletecollection", "widgets n/", list), "create n/a 5, create n/b 6, delete n/a 7, delete n/b 8", "are guessed"},
		{"a collection with finalizers", answered("create", "widgets n/a", "201 "+a(5)) +
			answered("deletecollection", "widgets n/", `{"kind":"WidgetList","apiVersion":"probe.dev/v1","metadata":{},"items":[`+
				strings.Replace(a(5), `"metadata":{`, `"metadata":{"finalizers":["x"],`, 1)+`]}`), "create n/a 5", "r:2: deletecollection widgets n: n/a has finalizers"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := Import(strings.NewReader(test.log), Options{Name: "dir/r", Format: Audit})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range scriptSteps(t, r.File) {
				got = append(got, fmt.Sprintf("%s %s %d", s.verb, strings.TrimPrefix(s.key, "widgets "), s.rv))
			}
			if text := strings.Join(got, ", "); text != test.want {
				t.Errorf("the history is %s, want %s", text, test.want)
			}
			if said := strings.Join(r.Warnings, "\n"); !strings.Contains(said, test.says) || test.says == "" && said != "" && !strings.Contains(said, "Older than") {
				t.Errorf("it says %q, want %q", said, test.says)
			}
			fold(t, scriptSteps(t, r.File))
		})
	}
}

// What is no audit log is refused at its place, and of one some resources can be taken.
func TestAuditLogsThatAreNone(t *testing.T) {
	for log, want := range map[string]string{ // order: each by itself
		event("ADDED", widget("n/a", 5)): "r:1:1: document 1 (byte 0): this is not an audit event",
		answered("create", "widgets n/a", "201 "+widget("n/a", 5)) + `{"kind":"Event","apiVersion":"v1"}`:                  ":1: document 2",
		answered("create", "widgets n/a", `201 {"kind":7}`):                                                                "the responseObject is malformed",
		answered("create", "widgets n/a", `201 {"kind":"Widget","metadata":{"resourceVersion":"5"},"apiVersion":"a/b/c"}`): "apiVersion",
		answered("delete", "widgets n/a", widget("n/a", 5)):                                                                "nothing but deletions of objects that it never shows",
		"7": "this is not an audit event",
		"":  "the log has no objects",
	} {
		_, err := Import(strings.NewReader(log), Options{Name: "r", Format: Audit})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", log, err, want)
		}
	}
	if _, err := Import(strings.NewReader(event("DELETED", widget("n/a", 5))), Options{Name: "r", Format: WatchEvents}); err == nil ||
		!strings.Contains(err.Error(), "nothing but deletions") {
		t.Errorf("of a watch: %v", err)
	}
	log := answered("create", "widgets n/a", "201 "+widget("n/a", 5)) + answered("create", "pods n/p", `201 {"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n","resourceVersion":"6"}}`)
	for resource, want := range map[string]string{"pods": "pods n/p", "widgets": "widgets n/a", "widgets.probe.dev": "widgets n/a"} { // order: each by itself
		r, err := Import(strings.NewReader(log), Options{Name: "r", Format: Audit, Resources: []string{resource}})
		if err != nil {
			t.Fatal(err)
		}
		if steps := scriptSteps(t, r.File); len(steps) != 1 || steps[0].key != want {
			t.Errorf("of %s there is %v", resource, steps)
		}
	}
}

func FuzzImportAudit(f *testing.F) {
	f.Add([]byte(answered("create", "widgets n/a", "201 "+widget("n/a", 5)) + answered("delete", "widgets n/a", statusOK)))
	f.Add([]byte(answered("delete", "widgets n/a", widget("n/a", 5)) + answered("get", "widgets n/a", widget("n/a", 4))))
	f.Add([]byte(audited("Metadata", "Panic", "patch", "widgets n/a", "") + answered("list", "pods n/", `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a","resourceVersion":"1"}}]}`)))
	f.Fuzz(func(t *testing.T, input []byte) {
		r, err := Import(bytes.NewReader(input), Options{Name: "r", Format: Audit})
		if err != nil {
			var placed *script.Error
			if !errors.As(err, &placed) || placed.Pos.File != "r" {
				t.Fatalf("an error without a position in the recording: %v", err)
			}
			return
		}
		fold(t, scriptSteps(t, r.File))
	})
}

// The log of a real kube-apiserver becomes what its watches have told, but for the versions that no line has.
func TestAuditLogOfARealServer(t *testing.T) {
	log, err := os.ReadFile("testdata/kube-requestresponse.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	history, err := os.ReadFile("testdata/kube-requestresponse.history")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Import(bytes.NewReader(log), Options{Name: "testdata/kube-requestresponse.jsonl", Format: Audit})
	if err != nil {
		t.Fatal(err)
	}
	steps := scriptSteps(t, r.File)
	for _, resource := range r.Kinds { // the script has one after the other
		name, _, _ := strings.Cut(resource.Resource, "/")
		var of []step
		for _, s := range steps {
			if strings.HasPrefix(s.key, name+" ") {
				of = append(of, s)
			}
		}
		fold(t, of)
	}
	got := map[string]bool{}
	words := map[string]string{"create": "ADDED", "update": "MODIFIED", "delete": "DELETED"}
	for _, s := range steps {
		got[fmt.Sprintf("%d %s %s", s.rv, words[s.verb], strings.Replace(s.key, ".apps ", " ", 1))] = true
	}
	var missing []string
	for line := range strings.Lines(string(history)) {
		if line = strings.TrimSpace(line); !got[line] && !got[strings.Replace(line, "widgets ", "widgets.probe.dev ", 1)] {
			missing = append(missing, line)
		}
		delete(got, line)
		delete(got, strings.Replace(line, "widgets ", "widgets.probe.dev ", 1))
	}
	want := []string{
		"244 MODIFIED pods probe/p1", "245 MODIFIED pods probe/p1", "246 DELETED pods probe/p1", // the eviction's answer is a Status
		"248 MODIFIED pods probe/p2",                               // the binding's, too
		"250 MODIFIED pods probe/p2", "253 MODIFIED pods probe/p3", // the server's own, before a graceful deletion ends
		"256 MODIFIED deployments probe/d", // the answer is a Scale
	}
	if !slices.Equal(missing, want) {
		t.Errorf("the history lacks\n%s\nwant\n%s", strings.Join(missing, "\n"), strings.Join(want, "\n"))
	}
	if len(got) > 0 {
		t.Errorf("it has what never was: %v", slices.Sorted(maps.Keys(got)))
	}
	said := strings.Join(r.Warnings, "\n")
	for _, want := range []string{
		"3 requests failed", "kube-requestresponse.jsonl:89: create pods/eviction probe/p1: the answer is not the object", ":93: create pods/binding probe/p2: ", ":105: update deployments/scale probe/d: ",
		":67: deletecollection configmaps probe: probe/c3 has finalizers",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the import does not say %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "Older than the log") || strings.Contains(string(script.Print(r.File)), "not a real one") {
		t.Errorf("something is older than the log, or a secret is told:\n%s", said)
	}
}

// At level Metadata a log has no objects, and the import says which level has.
func TestAuditLogOfMetadata(t *testing.T) {
	log, err := os.ReadFile("testdata/kube-metadata.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Import(bytes.NewReader(log), Options{Name: "r", Format: Audit}); err == nil || !strings.Contains(err.Error(), "the log has no objects; the level RequestResponse writes them down") {
		t.Errorf("the import says %v", err)
	}
}
