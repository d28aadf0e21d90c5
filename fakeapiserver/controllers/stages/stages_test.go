package stages

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func decode(t *testing.T, text string) (m map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func stage(t *testing.T, spec string) *Stage {
	t.Helper()
	text := "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: s}\nspec:\n  resourceRef: {apiGroup: v1, kind: Pod}\n" + spec
	all, err := Parse("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// The sets are read, and each template makes YAML of some object that its stage is for: that is tested by controllers and simtest.
func TestSets(t *testing.T) {
	for _, name := range []string{"pod", "pod-faults", "node-faults", "workload", "workload-faults"} {
		if all, err := Set(name); err != nil || len(all) == 0 {
			t.Errorf("%s: %d stages, %v", name, len(all), err)
		}
	}
	if _, err := Set("gpu"); err == nil || !strings.Contains(err.Error(), "there are pod, pod-faults, node-faults, workload and workload-faults") {
		t.Error(err)
	}
}

// A Pod that ends by itself says with KWOK's annotations when that is: one that serves until somebody deletes it, and yet is not to be restarted, puts it off.
func TestPodEndsWhenItsAnnotationsSay(t *testing.T) {
	all, err := Set("pod")
	if err != nil {
		t.Fatal(err)
	}
	const running = `"spec":{"restartPolicy":"Never"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
	for pod, want := range map[string]time.Duration{
		`{` + running: time.Second,
		`{"metadata":{"annotations":{"pod-complete.stage.kwok.x-k8s.io/delay":"90h","pod-complete.stage.kwok.x-k8s.io/jitter-delay":"100h"}},` + running: 90 * time.Hour,
	} {
		s := Choose(all, decode(t, pod), func(int) int { return 0 })
		if s == nil || s.Name != "pod-complete" {
			t.Fatalf("%s goes on by %v", pod, s)
		}
		if got := s.Delay(decode(t, pod), time.Time{}, func(int) int { return 0 }); got != want {
			t.Errorf("%s ends after %v, want %v", pod, got, want)
		}
	}
}

// Errors name the line at which the Stage begins, and the field.
func TestParseErrors(t *testing.T) {
	const head = "# one\n---\n\napiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: s}\nspec:\n  resourceRef: {kind: Pod}\n"
	for spec, want := range map[string]string{
		"  selector: {matchExpressions: [{key: '.a[', operator: Exists}]}":           `f.yaml:4: Stage s: spec.selector.matchExpressions[0]: ".a[" is no jq expression`,
		"  selector: {matchExpressions: [{key: .a, operator: Is, values: [b]}]}":     `operator is "Is": want In, NotIn, Exists or DoesNotExist`,
		"  selector: {matchExpressions: [{key: .a, operator: In}]}":                  "operator In needs values",
		"  selector: {matchExpressions: [{key: .a, operator: Exists, values: [b]}]}": "operator Exists takes no values",
		"  weight: -1":                                   "spec.weight is -1",
		"  delay: {durationMilliseconds: -5}":            "spec.delay.durationMilliseconds is -5: want 0 to",
		"  delay: {durationFrom: {expressionFrom: )}}":   "spec.delay.durationFrom.expressionFrom",
		"  next: {statusTemplate: '{{ Sprig }}'}":        `function "Sprig" not defined; the functions are Quote,`,
		"  next: {patches: [{type: json, template: x}]}": `spec.next.patches[0].type is "json"`,
		"  nxt: {}": `unknown field "nxt"`,
	} {
		if _, err := Parse("f.yaml", []byte(head+spec)); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "f.yaml:4: ") {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	for text, want := range map[string]string{
		"kind: Stage":              `f.yaml:1: apiVersion "", kind "Stage": want kwok.x-k8s.io/v1alpha1, Stage`,
		"kind: [":                  "f.yaml:1: a Stage cannot be read",
		"# nothing\n---\n# here\n": "",
	} {
		if _, err := Parse("f.yaml", []byte(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestMatches(t *testing.T) {
	pod := decode(t, `{"metadata":{"labels":{"app":"a"},"annotations":{"x":"v"}},"status":{"phase":"Running","n":3,"conditions":[{"type":"Ready","status":"True"}]}}`)
	for selector, want := range map[string]bool{
		"matchLabels: {app: a}": true, "matchLabels: {app: b}": false, "matchAnnotations: {x: v}": true, "matchAnnotations: {x: z}": false,
		"matchExpressions: [{key: .status.phase, operator: In, values: [Pending, Running]}]":                                     true,
		"matchExpressions: [{key: .status.phase, operator: NotIn, values: [Pending, Running]}]":                                  false,
		"matchExpressions: [{key: .status.none, operator: NotIn, values: [a]}]":                                                  true,
		"matchExpressions: [{key: .status.none, operator: DoesNotExist}]":                                                        true,
		"matchExpressions: [{key: .status.none, operator: Exists}]":                                                              false,
		"matchExpressions: [{key: .status.n, operator: In, values: ['3']}]":                                                      true,
		"matchExpressions: [{key: '.status.phase.deeper', operator: Exists}]":                                                    false,
		`matchExpressions: [{key: '.status.conditions[] | select(.type == "Ready") | .status', operator: In, values: ["True"]}]`: true,
		"matchExpressions: [{key: 'def f: f; f', operator: Exists}]":                                                             false,
		"matchExpressions: [{key: 'repeat(1)', operator: Exists}]":                                                               true,
		"matchExpressions: [{key: now, operator: Exists}]":                                                                       false,
		"matchExpressions: [{key: '$ENV.PATH', operator: Exists}]":                                                               false,
	} {
		if got := stage(t, "  selector: {"+selector+"}").Matches(pod); got != want {
			t.Errorf("%s: %v", selector, got)
		}
	}
}

// Stages are drawn from by weight; without weights, all have the same chance.
func TestChoose(t *testing.T) {
	light, heavy, none := stage(t, "  weight: 1"), stage(t, "  weight: 3"), stage(t, "")
	other := stage(t, "  weight: 100\n  selector: {matchLabels: {a: b}}")
	byObject := stage(t, "  weight: 1\n  weightFrom: {expressionFrom: .metadata.annotations.weight}")
	pod := decode(t, `{"metadata":{"annotations":{"weight":"5"}}}`)
	for _, test := range []struct {
		all   []*Stage
		n, at int
		want  *Stage
	}{
		{[]*Stage{other}, 0, 0, nil},
		{[]*Stage{other, light}, 0, 0, light},
		{[]*Stage{light, heavy}, 4, 0, light},
		{[]*Stage{light, heavy}, 4, 1, heavy},
		{[]*Stage{light, heavy, none}, 4, 3, heavy},
		{[]*Stage{none, none}, 2, 1, none},
		{[]*Stage{light, byObject}, 6, 1, byObject},
	} {
		asked := 0
		got := Choose(test.all, pod, func(n int) int { asked = n; return test.at })
		if got != test.want || asked != test.n {
			t.Errorf("of %d: %v, of %d", len(test.all), got, asked)
		}
	}
}

// A Stage that is made likely is chosen most of the time, and comes soon; the set itself stays as it was.
func TestLikely(t *testing.T) {
	rare := stage(t, "  weight: 5\n  delay: {durationMilliseconds: 2000, jitterDurationMilliseconds: 600000}")
	all := []*Stage{rare, stage(t, "  weight: 100")}
	all[1] = &Stage{Name: "stays", labels: all[1].labels, annotations: all[1].annotations, weight: all[1].weight}
	zero := func(int) int { return 0 }
	last := func(n int) int { return n - 1 }
	likely := Likely(all, "s")
	var total int
	Choose(likely, nil, func(n int) int { total = n; return 0 })
	if total != 200 || Choose(likely, nil, func(int) int { return 99 }) != likely[0] {
		t.Errorf("the weights are %d in all, want 100 of 200", total)
	}
	if least, most := likely[0].Delay(nil, time.Time{}, zero), likely[0].Delay(nil, time.Time{}, last); least != 200*time.Millisecond || most > time.Minute {
		t.Errorf("it takes %v to %v", least, most)
	}
	if rare.weight.fixed != 5 || all[0] != rare || Likely(all, "other")[0] != rare {
		t.Error("the set has changed")
	}
}

func TestDelay(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pod := decode(t, `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:30Z","annotations":{"wait":"7s"}}}`)
	for spec, want := range map[string]time.Duration{
		"":                                      0,
		"  delay: {durationMilliseconds: 1500}": 1500 * time.Millisecond,
		"  delay: {durationMilliseconds: 1000, jitterDurationMilliseconds: 3000}":                                   1000*time.Millisecond + 1999*time.Millisecond,
		"  delay: {durationMilliseconds: 3000, jitterDurationMilliseconds: 1000}":                                   time.Second,
		"  delay: {durationFrom: {expressionFrom: .metadata.deletionTimestamp}}":                                    30 * time.Second,
		"  delay: {durationFrom: {expressionFrom: .metadata.annotations.wait}}":                                     7 * time.Second,
		"  delay: {durationMilliseconds: 5, durationFrom: {expressionFrom: .metadata.annotations.no}}":              5 * time.Millisecond,
		"  delay: {durationMilliseconds: 60000, jitterDurationFrom: {expressionFrom: .metadata.deletionTimestamp}}": 30 * time.Second,
	} {
		if got := stage(t, spec).Delay(pod, now, func(n int) int { return n - 1 }); got != want {
			t.Errorf("%s: %v, want %v", spec, got, want)
		}
	}
}

func TestApply(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pod := decode(t, `{"metadata":{"name":"p","uid":"1","finalizers":["a","b"]},"spec":{"nodeName":"n1","containers":[{"name":"<c>","image":"i: 1"}]},
		"status":{"phase":"Pending","conditions":[{"type":"A","status":"False"}]}}`)
	for _, test := range []struct {
		name, spec string
		typed      any
		path, want string
	}{
		{"status, merged by type", "statusTemplate: |\n      phase: Running\n      conditions: [{type: B, status: \"True\"}]", &corev1.Pod{}, "status", `{"conditions":[{"type":"B","status":"True"},{"type":"A","status":"False"}],"phase":"Running"}`},
		{"status of a custom resource", "statusTemplate: |\n      conditions: [{type: B}]", nil, "status", `{"conditions":[{"type":"B"}],"phase":"Pending"}`},
		{"values are quoted", "statusTemplate: |\n      {{ range .spec.containers }}\n      message: {{ Quote (print .name .image) }}\n      {{ end }}", &corev1.Pod{}, "status.message", `"\u003cc\u003ei: 1"`},
		{"a place", "statusTemplate: |\n      startTime: {{ Now }}\n      hostIP: {{ NodeIP }}", &corev1.Pod{}, "status.startTime", `"2026-01-01T00:00:00Z"`},
		{"finalizers", "finalizers: {add: [{value: c}, {value: b}], remove: [{value: a}]}", &corev1.Pod{}, "metadata.finalizers", `["b","c"]`},
		{"no finalizers", "finalizers: {empty: true}", &corev1.Pod{}, "metadata.finalizers", `null`},
		{"a patch of the whole", "patches: [{type: merge, template: '{metadata: {labels: {x: {{ NodeName }} }}}'}]", &corev1.Pod{}, "metadata.labels", `{"x":"n1"}`},
		{"a patch at its root", "patches: [{root: spec, template: 'hostNetwork: true'}]", &corev1.Pod{}, "spec.hostNetwork", "true"},
	} {
		out, err := stage(t, "  next:\n    "+test.spec).Apply(pod, test.typed, now, now)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var v any = decode(t, string(out.JSON))
		for _, p := range strings.Split(test.path, ".") {
			m, _ := v.(map[string]any)
			v = m[p]
		}
		if got, _ := json.Marshal(v); string(got) != string(compact(t, test.want)) {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	out, err := stage(t, "  next: {delete: true, event: {type: Normal, reason: R, message: m}}").Apply(pod, nil, now, now)
	if err != nil || out.JSON != nil || !out.Delete || out.Reason != "R" {
		t.Errorf("%+v, %v", out, err)
	}
	for spec, want := range map[string]string{
		"statusTemplate: '{{ .a.b.c }}: ['":                "Stage s: spec.next.statusTemplate makes no YAML",
		"statusTemplate: '{{ index .spec.containers 9 }}'": "Stage s: template: spec.next.statusTemplate",
	} {
		if _, err := stage(t, "  next:\n    "+spec).Apply(pod, &corev1.Pod{}, now, now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

func compact(t *testing.T, text string) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(v)
	return b
}

// Addresses are within their networks, and follow from the names.
func TestAddresses(t *testing.T) {
	for i := range 1000 {
		a := nodeIP(fmt.Sprint(i))
		if !strings.HasPrefix(a, "172.18.") || a == "172.18.0.0" || a == "172.18.255.255" || a != nodeIP(fmt.Sprint(i)) {
			t.Fatal(a)
		}
	}
}

func FuzzParse(f *testing.F) {
	data, err := sets.ReadFile("sets/pod.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: a}\nspec: {resourceRef: {kind: Pod}, weight: 2, next: {delete: true}}\n---\n{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := Parse("f.yaml", data)
		if err != nil && !strings.HasPrefix(err.Error(), "f.yaml:") {
			t.Errorf("an error without its place: %v", err)
		}
		for _, s := range all {
			if s.Matches(map[string]any{}) {
				_ = s.Delay(map[string]any{}, time.Time{}, func(n int) int { return n - 1 })
			}
		}
	})
}
