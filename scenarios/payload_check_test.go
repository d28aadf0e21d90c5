package scenarios

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/json"

	"github.com/informersim/informersim/scenarios/script"
)

// Fields that a kind does not have, and fields that are given twice, are errors at their place.
func TestPayloadFields(t *testing.T) {
	const head = "resource pods\nresource secrets\nresource widgets.probe.dev/v1 kind=Widget scope=namespaced\n"
	for _, tt := range []struct{ name, script, want string }{
		{"unknown", `create pods default/a {"spec": {"contaners": []}}`, `x.sim:4:33: create: a Pod has no field "spec.contaners"; did you mean "containers"?`},
		{"in a list", `create pods default/a {"spec":{"containers":[{},{"nmae":"x"}]}}`, `x.sim:4:50: create: a Pod has no field "spec.containers[1].nmae"; did you mean "name"?`},
		{"of another case", `update pods default/a {"Spec":{}}`, `x.sim:4:24: update: a Pod has no field "Spec"; did you mean "spec"?`},
		{"unlike any", `delete pods default/a {"frobnicate":1}`, `x.sim:4:24: delete: a Pod has no field "frobnicate"; leave it out, or declare the resource with fields=any`},
		{"on a later line", "create pods default/a {\n  \"spec\": {\n\t\"nodename\": \"\"}}", `x.sim:6:2: create: a Pod has no field "spec.nodename"; did you mean "nodeName"?`},
		{"with CRLF", "create pods default/a {\r\n  \"spec\": {\r\n\t\"nodename\": \"\"}}", `x.sim:6:2: create: a Pod has no field "spec.nodename"`},
		{"twice", `create pods default/a {"metadata":{"labels":{"a":"1","a":"2"}}}`, `x.sim:4:54: create: the payload has the field "metadata.labels.a" twice; give it once`},
		{"object twice", `create pods default/a {"spec":{},"spec":{}}`, `x.sim:4:34: create: the payload has the field "spec" twice`},
		{"twice, escaped", `create pods default/a {"spec":{},"sp\u0065c":{}}`, `x.sim:4:34: create: the payload has the field "spec" twice`},
		{"in metadata", `create widgets default/a {"metadata":{"lables":{}},"spec":{"any":1}}`, `x.sim:4:39: create: a Widget has no field "metadata.lables"; did you mean "labels"?`},
		{"twice, without a type", `create widgets default/a {"spec":{"x":[{"y":1,"y":2}]}}`, `x.sim:4:47: create: the payload has the field "spec.x[0].y" twice`},
		{"type", `create pods default/a {"spec": {"nodeName": 7, "priority": 1}}`, `x.sim:4:45: create: the payload is not a Pod: spec.nodeName is a number, want string; write the object as its API does`},
		{"of a fault, twice", `fault cluster leader=loss {"from":"1s","from":"2s"}`, `x.sim:4:40: fault: the payload has the field "from" twice`},
		{"several", `create pods default/a {"a1b2c3":1, "q9q9q9":2}`, "a1b2c3\"; leave it out, or declare the resource with fields=any\nx.sim:4:36: "},
		{"data", `create secrets default/a {"data":{"a":"YQ==","b":"Yg=="},"stringData":{"c":""}}`, ""},
		{"types that read JSON themselves", `create pods default/a {"metadata":{"creationTimestamp":null,"managedFields":[{"fieldsV1":{"f:x":{}}}]},"spec":{"containers":[{"resources":{"limits":{"cpu":"1","memory":1}},"livenessProbe":{"httpGet":{"port":"x"}}}]}}`, ""},
	} {
		_, err := Parse("x.sim", []byte(head+tt.script+"\n"))
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: got\n%v\nwant\n%s", tt.name, err, tt.want)
		}
	}
	if _, err := Parse("x.sim", []byte("resource pods fields=any\ncreate pods default/a {\"x\":1,\"x\":2}\n")); err != nil {
		t.Errorf("with fields=any: %v", err)
	}
}

// The strict decoder of the API machinery finds a mistake in the same payloads.
func TestPayloadFieldsAsAPIMachinery(t *testing.T) {
	names := []string{"metadata", "spec", "status", "kind", "name", "labels", "containers", "env", "valueFrom", "nodeSelector", "volumes", "emptyDir", "sizeLimit", "Name", "x"}
	rapid.Check(t, func(t *rapid.T) {
		var value func(depth int) string
		value = func(depth int) string {
			switch n := rapid.IntRange(0, 3).Draw(t, "kind"); {
			case depth == 0 || n == 0:
				return "null"
			case n == 1:
				return "[" + value(depth-1) + "]"
			}
			var members []string
			for range rapid.IntRange(0, 3).Draw(t, "members") {
				members = append(members, `"`+rapid.SampledFrom(names).Draw(t, "name")+`":`+value(depth-1))
			}
			return "{" + strings.Join(members, ",") + "}"
		}
		payload := value(6)
		if payload[0] != '{' {
			return
		}
		strict, err := json.UnmarshalStrict([]byte(payload), &corev1.Pod{})
		if err != nil {
			return // something has the wrong type: it is not decoded to the end
		}
		_, got := Parse("x.sim", []byte("resource pods\ncreate pods default/a "+payload+"\n"))
		if (got == nil) != (len(strict) == 0) {
			t.Fatalf("%s: got %v, the API machinery %v", payload, got, strict)
		}
	})
}

// A trace of a version that took such payloads still replays.
func TestPayloadFieldsOfTraces(t *testing.T) {
	f, err := script.Parse("x.sim", []byte("resource pods\ncreate pods default/a {\"x\":1,\"x\":2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FromScript(f); err == nil {
		t.Error("a script takes unknown fields")
	}
	if _, err := fromScript(f, true); err != nil {
		t.Errorf("a trace does not: %v", err)
	}
}
