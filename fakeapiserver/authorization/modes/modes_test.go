package modes

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for list, want := range map[string]string{
		"RBAC": "", "Node RBAC": "", "AlwaysAllow": "", "AlwaysDeny": "",
		"":               "names no mode: write one or more of AlwaysAllow, AlwaysDeny, Node, RBAC",
		"rbac":           `names "rbac", which is no mode: write one`,
		"RBAC Webhook":   "names Webhook, which asks a file or another server and is not there",
		"ABAC":           "names ABAC, which asks",
		"RBAC Node RBAC": "names RBAC twice: write it once",
	} {
		if err := Check(strings.Fields(list)); want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", list, err, want)
		}
	}
}
