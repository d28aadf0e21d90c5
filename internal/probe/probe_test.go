package probe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRoundTrip(t *testing.T) {
	text := "probe a/b I1 S2 !brief !slow\n~ x = create gizmos/a {spec: {size: 1}}\nget gizmos/${x.name} [Accept: a/b] [Pick: /c]\nevents w end\n"
	probes, err := Parse("f", "# comment\n\n"+text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, probes[0].String()); diff != "" {
		t.Error(diff)
	}
	s := probes[0].Steps[1]
	want := Step{Text: s.Text, Line: 5, Times: 1, Verb: "get", Target: "gizmos/${x.name}",
		Headers: []Header{{"Accept", "a/b"}, {"Pick", "/c"}}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}

func TestParseErrorsHavePlaces(t *testing.T) {
	for text, want := range map[string]string{
		"get x":               "f:1: a step before the first probe line",
		"probe p\n\nfetch x":  `f:3: unknown verb "fetch"`,
		"probe p\nget":        "f:2: get needs a target",
		"probe p !quick":      `f:1: unknown option "!quick" (want !brief, !managedFields, !form, !bookmarks, !anyRevision or !slow)`,
		"probe p\n~ 3y get x": `f:2: unknown verb "3y"`,
	} {
		if _, err := Parse("f", text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func normalised(t *testing.T, p Probe, text string) string {
	t.Helper()
	v, err := decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return compact(newNormaliser(p, 100).document(v))
}

func TestNormalise(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"revisions are offsets", `{"metadata":{"resourceVersion":"103"}}`, `{"metadata":{"resourceVersion":"R+3"}}`},
		{"revisions from before and literals stay", `{"a":{"resourceVersion":"99"},"b":{"resourceVersion":"abc"}}`,
			`{"a":{"resourceVersion":"99"},"b":{"resourceVersion":"abc"}}`},
		{"other numbers stay", `{"size":"103","n":103}`, `{"n":103,"size":"103"}`},
		{"revisions in messages", `{"message":"Too large resource version: 105, current: 101; limit 103"}`,
			`{"message":"Too large resource version: R+5, current: R+1; limit 103"}`},
		{"the oldest revision", `{"message":"too old resource version: 1 (88)"}`, `{"message":"too old resource version: 1 (<oldest>)"}`},
		{"uids are numbered", `{"a":"11111111-1111-1111-1111-111111111111","b":"21111111-1111-1111-1111-111111111111","c":"11111111-1111-1111-1111-111111111111"}`,
			`{"a":"<uid 1>","b":"<uid 2>","c":"<uid 1>"}`},
		{"times", `{"a":"2026-01-02T03:04:05Z","b":"2026-01-02T03:04:05.123456Z","c":"1999-01-01T00:00:00Z"}`,
			`{"a":"<time>","b":"<microtime>","c":"1999-01-01T00:00:00Z"}`},
		{"generated names", `{"metadata":{"generateName":"g-","name":"g-x7k2q"},"other":"g-x7k2q"}`,
			`{"metadata":{"generateName":"g-","name":"g-<generated 1>"},"other":"g-<generated 1>"}`},
		{"a name that is not generated", `{"metadata":{"generateName":"g-","name":"given"}}`, `{"metadata":{"generateName":"g-","name":"given"}}`},
		{"continue tokens are opened", `{"metadata":{"continue":"` + forgeToken("102", "/a\x00") + `"}}`,
			`{"metadata":{"continue":"<token rv=R+2 start=\"/a\\x00\">"}}`},
		{"other tokens are opaque", `{"metadata":{"continue":"zzz"}}`, `{"metadata":{"continue":"<opaque token>"}}`},
		{"managers", `{"managedFields":[{"manager":"z","operation":"Apply"},{"manager":"a","operation":"Update","subresource":"status","time":"2026-01-02T03:04:05Z"}]}`,
			`{"managedFields":["a Update status","z Apply untimed"]}`},
		{"causes have no order", `{"kind":"Status","message":"x is invalid: [b: two, a: one]","details":{"causes":[{"field":"b","message":"two"},{"field":"a","message":"one"}]}}`,
			`{"details":{"causes":[{"field":"a","message":"one"},{"field":"b","message":"two"}]},"kind":"Status","message":"x is invalid: [a: one, b: two]"}`},
		{"ages", `{"rows":[{"cells":["a","12s",3]}]}`, `{"rows":[{"cells":["a","<age>",3]}]}`},
	} {
		if diff := cmp.Diff(c.want, normalised(t, Probe{}, c.in)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestNormaliseBriefly(t *testing.T) {
	got := normalised(t, Probe{Brief: true}, `{"type":"ADDED","object":{"metadata":{"name":"a","namespace":"n","resourceVersion":"101","labels":{"x":"y"}},"spec":{"size":1}}}`)
	if want := `"ADDED n/a R+1 labels={\"x\":\"y\"} spec={\"size\":1}"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestDiffShowsWhatDiffers(t *testing.T) {
	want := Transcript{Steps: []Result{{Do: "one", Code: 200}, {Do: "two", Code: 200, Body: "x"}, {Do: "three"}}}
	got := Transcript{Steps: []Result{{Do: "one", Code: 200}, {Do: "two", Code: 404, Body: "x"}}}
	diff := Diff(want, got)
	for _, part := range []string{"step 2: two", `-  "code": 200`, `+  "code": 404`, "step 3: three\n  missing"} {
		if !strings.Contains(diff, part) {
			t.Errorf("no %q in\n%s", part, diff)
		}
	}
	if strings.Contains(diff, "step 1") {
		t.Errorf("an equal step is shown:\n%s", diff)
	}
	if Diff(want, want) != "" {
		t.Error("a transcript differs from itself")
	}
}

func TestGoldenRoundTrip(t *testing.T) {
	dir := t.TempDir()
	a := Transcript{Name: "x/a", Cites: []string{"S1"}, Steps: []Result{{Do: "get <a>", Code: 200, Headers: map[string]string{"Warning": "w"}}}}
	for _, transcripts := range [][]Transcript{{a, {Name: "x/b"}}, {a}} {
		if n, err := WriteGoldens(dir, transcripts); err != nil || n == 0 {
			t.Fatalf("%d files changed, %v", n, err)
		}
	}
	got, err := ReadGolden(dir, "x/a")
	if err != nil || Diff(a, got) != "" || got.Name != a.Name {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := ReadGolden(dir, "x/b"); err == nil {
		t.Error("the golden of a removed probe still exists")
	}
}

func TestTargets(t *testing.T) {
	for target, want := range map[string]string{
		"gizmos":               "/apis/conformance.informersim.dev/v1/namespaces/ns1/gizmos",
		"*gizmos?limit=1":      "/apis/conformance.informersim.dev/v1/gizmos?limit=1",
		"gizmos@ns2/a/status":  "/apis/conformance.informersim.dev/v1/namespaces/ns2/gizmos/a/status",
		"sprockets/s":          "/apis/conformance.informersim.dev/v1/sprockets/s",
		"/version":             "/version",
		"gizmos/a/status/x?y=": "/apis/conformance.informersim.dev/v1/namespaces/ns1/gizmos/a/status/x?y=",
	} {
		if got := parseTarget(target).path(); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
}
