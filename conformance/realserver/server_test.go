package realserver

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

func get(t *testing.T, url string) (int, map[string]any) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(data, &body); err != nil {
		t.Fatalf("%s: %v in %q", url, err, data)
	}
	return resp.StatusCode, body
}

func TestServerServesAndRestarts(t *testing.T) {
	ctx := context.Background()
	s, err := Start(ctx, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	t.Logf("ready after %d ms, resident %s", s.ReadyMilliseconds, resident(t))
	gizmos := s.URL + "/apis/conformance.informersim.dev/v1/namespaces/a/gizmos"
	resp, err := http.Post(gizmos, "application/json", strings.NewReader(
		`{"apiVersion":"conformance.informersim.dev/v1","kind":"Gizmo","metadata":{"name":"g"},"spec":{"size":3}}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("create: %s", resp.Status)
	}
	if err := s.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	code, body := get(t, gizmos+"/g")
	if code != http.StatusOK || body["spec"].(map[string]any)["mode"] != "slow" {
		t.Fatalf("after a restart: %d %v", code, body)
	}
	if err := s.WaitPath(ctx, "/openapi/v3", "conformance.informersim.dev"); err != nil {
		t.Fatal(err)
	}
}

func resident(t *testing.T) string {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	for _, line := range strings.Split(string(data), "\n") {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			return strings.TrimSpace(rest)
		}
	}
	return "unknown"
}
