package recording

import (
	"strings"
	"testing"

	"github.com/informersim/informersim/scenarios/script"
)

const secret = `{"apiVersion":"v1","data":{"user":"aHVudGVyMg==","pa\"ss":"aHVudGVyMg=="},"kind":"Secret","metadata":{"annotations":{"a":"b",` +
	`"kubectl.kubernetes.io/last-applied-configuration":"{\"stringData\":{\"pass\":\"hunter2\"}}"},"name":"s","namespace":"n","resourceVersion":"5"},` +
	`"stringData":{"pass":"hunter2"},"type":"Opaque"}`

const redactedWhole = `{"apiVersion":"v1","data":{"user":"cmVkYWN0ZWQ=","pa\"ss":"cmVkYWN0ZWQ="},"kind":"Secret","metadata":{"annotations":{"a":"b",` +
	`"kubectl.kubernetes.io/last-applied-configuration":"redacted"},"name":"s","namespace":"n","resourceVersion":"5"},` +
	`"stringData":{"pass":"redacted"},"type":"Opaque"}`

func TestSecretsAreRedacted(t *testing.T) {
	typed := strings.NewReplacer(`"apiVersion":"v1",`, "", `"kind":"Secret",`, "").Replace(secret)
	inputs := []struct {
		name   string
		format Format
		input  string
		want   []string
	}{
		{"watch", WatchEvents, event("ADDED", secret) + event("DELETED", strings.Replace(secret, `"5"`, `"6"`, 1)),
			[]string{redactedWhole, strings.Replace(redactedWhole, `"5"`, `"6"`, 1)}},
		{"list", List, `{"kind":"List","apiVersion":"v1","items":[` + secret + `]}`, []string{redactedWhole}},
		{"one object", List, secret, []string{redactedWhole}},
		{"typed list", List, `{"items":[` + typed + `],"kind":"SecretList","apiVersion":"v1"}`, nil},
		{"odd data", List, `{"items":[` + strings.Replace(secret, `{"user":"aHVudGVyMg==","pa\"ss":"aHVudGVyMg=="}`, `["aHVudGVyMg=="]`, 1) + `]}`, nil},
		{"odd case", List, strings.NewReplacer(`"data"`, `"DATA"`, `"stringData"`, `"string\u0044ata"`).Replace(secret), nil},
	}
	for _, tt := range inputs {
		t.Run(tt.name, func(t *testing.T) {
			r := importString(t, tt.format, tt.input, Options{})
			printed := string(script.Print(r.File))
			if strings.Contains(printed, "hunter2") || strings.Contains(printed, "aHVudGVyMg") {
				t.Errorf("a value was not redacted in\n%s", printed)
			}
			steps := scriptSteps(t, r.File)
			for i, want := range tt.want {
				if steps[i].object != want {
					t.Errorf("got\n%s\nwant\n%s", steps[i].object, want)
				}
			}
			if r.Redacted != len(steps) || !strings.Contains(printed, "# The values of Secrets are redacted.") {
				t.Errorf("%d redacted of %d:\n%s", r.Redacted, len(steps), printed)
			}
			kept := importString(t, tt.format, tt.input, Options{KeepSecrets: true})
			if got := scriptSteps(t, kept.File)[0].object; !strings.Contains(got, "hunter2") || kept.Redacted != 0 {
				t.Errorf("kept:\n%s", got)
			}
		})
	}
	other := strings.Replace(secret, `"apiVersion":"v1"`, `"apiVersion":"example.dev/v1"`, 1)
	if r := importString(t, List, other, Options{}); scriptSteps(t, r.File)[0].object != other {
		t.Error("an object other than a v1 Secret was redacted")
	}
}
