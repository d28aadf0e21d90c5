package recording

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informersim/informersim/scenarios/script"
)

const busyPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n","resourceVersion":"5","uid":"u-1","generateName":"a-","labels":{"app":"x"},` +
	`"annotations":{"note":"hunter2"},"finalizers":["x.dev/f"],"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"u-2"}],` +
	`"creationTimestamp":"2026-01-02T03:04:05Z","managedFields":[{"manager":"kubectl","fieldsV1":{"f:x":{}}}]},` +
	`"spec":{"nodeName":"n1","nodeSelector":{"disk":"hunter2"},"containers":[{"name":"c","image":"hunter2:1","args":["--password=hunter2"],` +
	`"env":[{"name":"A","value":"hunter2"},{"name":"B","value":"same"},{"name":"C","value":"same"},{"name":"E","value":""}],"resources":{"limits":{"cpu":"100m","memory":"1Gi"}},` +
	`"livenessProbe":{"httpGet":{"port":8080,"path":"/hunter2"}}}],` +
	`"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"t","labelSelector":{"matchLabels":{"app":"x"}}}]}}},"status":{"phase":"Running","podIP":"10.0.0.1"}}`

// With RedactAll no string is left that no selector needs, and the object is still one of its kind.
func TestRedactAll(t *testing.T) {
	later := strings.NewReplacer(`"5"`, `"6"`, "hunter2", "hunter3").Replace(busyPod)
	input := event("ADDED", busyPod) + event("MODIFIED", later)
	r := importString(t, WatchEvents, input, Options{RedactAll: true})
	printed := string(script.Print(r.File))
	for _, gone := range []string{"hunter", "same", "100m", "1Gi", "kubectl", `"c"`} {
		if strings.Contains(printed, gone) {
			t.Errorf("%s is left in\n%s", gone, printed)
		}
	}
	if r.Redacted != 2 || len(r.Warnings) != 0 || !strings.Contains(printed, "# Every string that no selector needs is replaced by a hash.") {
		t.Errorf("%d redacted, warnings %q", r.Redacted, r.Warnings)
	}
	steps := scriptSteps(t, r.File)
	var before, after corev1.Pod
	for i, into := range []*corev1.Pod{&before, &after} {
		if err := json.Unmarshal([]byte(steps[i].object), into); err != nil {
			t.Fatalf("%v\n%s", err, steps[i].object)
		}
	}
	o := before.OwnerReferences
	if before.Name != "a" || before.Namespace != "n" || before.UID != "u-1" || before.GenerateName != "a-" || before.Labels["app"] != "x" || before.Finalizers[0] != "x.dev/f" ||
		len(o) != 1 || o[0].Kind != "ReplicaSet" || o[0].Name != "rs" || o[0].UID != "u-2" || before.CreationTimestamp.Year() != 2026 ||
		before.Spec.NodeName != "n1" || before.Status.Phase != "Running" || before.Status.PodIP != "10.0.0.1" ||
		before.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels["app"] != "x" {
		t.Errorf("lost: %s", steps[0].object)
	}
	env := before.Spec.Containers[0].Env
	if env[0].Value == after.Spec.Containers[0].Env[0].Value || env[1].Value != env[2].Value || env[1].Value != after.Spec.Containers[0].Env[1].Value || env[3].Value != "" {
		t.Errorf("the values do not differ where they did: %v, %v", env, after.Spec.Containers[0].Env)
	}
	if again := string(script.Print(importString(t, WatchEvents, input, Options{RedactAll: true}).File)); again != printed {
		t.Error("two imports differ")
	}
	kept := importString(t, WatchEvents, input, Options{RedactAll: true, KeepFields: []string{"spec.containers.env.value"}})
	if steps := scriptSteps(t, kept.File); !strings.Contains(steps[0].object, `"value":"hunter2"`) || strings.Contains(steps[0].object, "password=hunter2") {
		t.Errorf("with KeepFields: %s", steps[0].object)
	}
	if got := scriptSteps(t, importString(t, List, secret, Options{RedactAll: true}).File)[0].object; strings.Contains(got, "hunter2") || !strings.Contains(got, `"user":"cmVkYWN0ZWQ="`) ||
		!strings.Contains(got, `"type":"Opaque"`) || strings.Contains(got, `"a":"b"`) {
		t.Errorf("a Secret: %s", got)
	}
	if _, err := Import(strings.NewReader(secret), Options{Format: List, RedactAll: true, KeepSecrets: true}); err == nil {
		t.Error("RedactAll and KeepSecrets go together")
	}
}

func TestManagedFieldsAreLeftOut(t *testing.T) {
	without := strings.Replace(busyPod, `,"managedFields":[{"manager":"kubectl","fieldsV1":{"f:x":{}}}]`, "", 1)
	for _, tt := range []struct {
		keep bool
		want string
	}{{false, without}, {true, busyPod}} {
		if got := scriptSteps(t, importString(t, List, busyPod, Options{KeepManagedFields: tt.keep}).File)[0].object; got != tt.want {
			t.Errorf("keep %v: got\n%s\nwant\n%s", tt.keep, got, tt.want)
		}
	}
	for raw, want := range map[string]string{
		`{"metadata":{"managedFields":[1]}}`: `{"metadata":{}}`, `{"metadata":{"managedFields":[1],"a":1,"b":2}}`: `{"metadata":{"a":1,"b":2}}`,
		`{"metadata":{"a":1,"managedFields":[1]}}`: `{"metadata":{"a":1}}`, `{"managedFields":[1],"metadata":null}`: `{"managedFields":[1],"metadata":null}`,
		`{"metadata":{"managedFields":1,"managedFields":2,"a":1}}`: `{"metadata":{"a":1}}`,
	} {
		if got, err := dropManagedFields([]byte(raw)); err != nil || string(got) != want {
			t.Errorf("%s became %s, %v, want %s", raw, got, err, want)
		}
	}
}

// What is kept and could be secret is named, and its value is not.
func TestSuspectsAreNamed(t *testing.T) {
	object := func(kind, rest string) string {
		return `{"apiVersion":"v1","kind":"` + kind + `","metadata":{"name":"a","namespace":"n","resourceVersion":"5"` + rest + `}`
	}
	pod := func(env string) string { return object("Pod", `},"spec":{"containers":[{"name":"c",`+env+`}]}`) }
	for _, tt := range []struct{ object, want string }{
		{object("Secret", `,"annotations":{"argocd.dev/copy":"hunter2"}}`), `the annotation "argocd.dev/copy" of Secrets ("n/a"; versions: 1)`},
		{object("Secret", `,"annotations":{"kubernetes.io/service-account.name":"hunter2"}}`), ""},
		{object("Secret", `},"data":{"password":"aHVudGVyMg=="}`), ""},
		{pod(`"env":[{"name":"DB_PASSWORD","value":"hunter2"}]`), `the env value "DB_PASSWORD" of Pod objects ("n/a"; versions: 1)`},
		{pod(`"env":[{"name":"X","value":"postgres://u:hunter2@db/x"}]`), `the env value "X" of Pod objects`},
		{pod(`"env":[{"name":"DB_PASSWORD","valueFrom":{"secretKeyRef":{"name":"s","key":"hunter2"}}},{"name":"TOKEN_FILE","value":"/hunter2"},{"name":"EMPTY_TOKEN","value":""},{"name":"MODE","value":"hunter2"}]`), ""},
		{pod(`"args":["--db-password=hunter2"]`), `a value of "args" in Pod objects`},
		{pod(`"command":["-----BEGIN RSA PRIVATE KEY-----hunter2"]`), `a value of "command" in Pod objects`},
		{pod(`"args":["AKIAHUNTER2HUNTER2HU"]`), `a value of "args" in Pod objects`},
		{pod(`"args":["ghs_hunter2hunter2hunter2"]`), `a value of "args" in Pod objects`},
		{pod(`"args":["xoxb-hunter2"]`), `a value of "args" in Pod objects`},
		{pod(`"args":["eyJhunter2hunter2.eyJhunter2"]`), `a value of "args" in Pod objects`},
		{pod(`"args":["https://db/eyJ/xox/AKIA"]`), ""},
		{object("ConfigMap", `},"data":{"api-key":"hunter2"}`), `the value of "api-key" in ConfigMaps`},
		{object("ConfigMap", `},"data":{"app.ini":"[db]\nuser = x\npassword = hunter2\n"}`), `the value of "app.ini" in ConfigMaps`},
		{object("ConfigMap", `},"data":{"app.ini":"[db]\nuser = hunter2\n","auth-url":"http://x"}`), ""},
		{object("ConfigMap", `,"annotations":{"x.dev/token":"hunter2"}}`), `the annotation "x.dev/token" of ConfigMap objects`},
	} {
		r := importString(t, List, tt.object, Options{})
		warnings := strings.Join(r.Warnings, "\n")
		if tt.want == "" && warnings != "" || !strings.Contains(warnings, tt.want) || strings.Contains(warnings, "hunter2") {
			t.Errorf("%s:\n%s\nwant %q", tt.object, warnings, tt.want)
		}
		if tt.want != "" && !strings.Contains(string(script.Print(r.File)), "# It could be secret and is kept: "+tt.want) {
			t.Errorf("%s: the script does not say it", tt.object)
		}
	}
}

func TestBookmarksAreCounted(t *testing.T) {
	mark := event("BOOKMARK", `{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"9"}}`)
	r := importString(t, WatchEvents, event("ADDED", busyPod)+mark+mark, Options{})
	if r.Documents != 3 || r.Bookmarks != 2 || !strings.Contains(string(script.Print(r.File)), ": 3 watch events, of which bookmarks: 2.\n") {
		t.Errorf("%d documents, %d bookmarks\n%s", r.Documents, r.Bookmarks, script.Print(r.File))
	}
}
