package simtest

import (
	"os/exec"
	"strings"
	"testing"
)

func TestClientVersion(t *testing.T) {
	for file, want := range map[string]string{
		"/src/go/pkg/mod/k8s.io/client-go@v0.34.1/rest/transport.go":            "v0.34.1",
		"k8s.io/client-go@v0.35.0-beta.0/rest/transport.go":                     "v0.35.0-beta.0",
		"/go/pkg/mod/github.com/me/client-go@v0.34.1-patched/rest/transport.go": "v0.34.1-patched of client-go",
		"/go/pkg/mod/example.com/fork@v1.2.3/rest/transport.go":                 "v1.2.3 of fork",
		"/src/project/vendor/k8s.io/client-go/rest/transport.go":                "",
		"/src/kubernetes/staging/src/k8s.io/client-go/rest/transport.go":        "",
		"": "",
	} {
		if got := versionIn(file); got != want {
			t.Errorf("versionIn(%q) = %q, want %q", file, got, want)
		}
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "k8s.io/client-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := clientVersion(), strings.TrimSpace(string(out)); got != want {
		t.Errorf("client-go is %q, want %q", got, want)
	}
}
