package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informersim/informersim/cmd/internal/cli"
)

// browse makes a request with these headers, as a browser may; Host is taken from them.
func (p *serving) browse(method, url string, header map[string]string, body string) (int, string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	for k, v := range header {
		r.Header.Set(k, v)
	}
	r.Host = header["Host"] // "" is that of the URL
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// A page that the user visits can neither read nor change anything, on either port.
func TestServeRefusesBrowsers(t *testing.T) {
	inTemp(t, nil)
	p := serveIn(t, "--control", "127.0.0.1:0")
	p.want(201, "", "POST", "/api/v1/namespaces/a/configmaps", `{"metadata":{"name":"x"}}`)
	before := p.want(200, "", "GET", "control:/revision", "")
	object := `{"metadata":{"name":"evil"}}`
	order := `{"kind":"list-500","count":1000}`
	for name, tt := range map[string]struct {
		header map[string]string
		want   string
	}{
		"rebinding":              {map[string]string{"Host": "evil.example", "Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"}, "DNS rebinding"},
		"rebinding, old GET":     {map[string]string{"Host": "evil.example:8080"}, "use http://127.0.0.1 or http://localhost"},
		"fetch without CORS":     {map[string]string{"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain"}, `the Origin "http://evil.example" is refused`},
		"a form":                 {map[string]string{"Origin": "null", "Sec-Fetch-Site": "cross-site", "Content-Type": "application/x-www-form-urlencoded"}, `the Origin "null" is refused`},
		"an image":               {map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, "Sec-Fetch-Site"},
		"a page on this machine": {map[string]string{"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site", "Content-Type": "application/json"}, `the Origin "http://localhost:3000" is refused`},
	} {
		for _, r := range []struct{ method, url, body string }{
			{"GET", p.root + "/api/v1/configmaps", ""},
			{"GET", p.root + "/api/v1/configmaps?watch=true", ""},
			{"POST", p.root + "/api/v1/namespaces/a/configmaps", object},
			{"DELETE", p.root + "/api/v1/namespaces/a/configmaps/x", ""},
			{"OPTIONS", p.root + "/api/v1/configmaps", ""},
			{"GET", p.control + "/revision", ""},
			{"GET", p.control + "/clients", ""},
			{"GET", p.control + "/faults", ""},
			{"POST", p.control + "/compact", ""},
			{"POST", p.control + "/restore?rev=1", ""},
			{"POST", p.control + "/fault", order},
			{"DELETE", p.control + "/faults", ""},
			{"OPTIONS", p.control + "/fault", ""},
		} {
			if code, answer := p.browse(r.method, r.url, tt.header, r.body); code != 403 || !strings.Contains(strings.ReplaceAll(answer, `\"`, `"`), tt.want) {
				t.Errorf("%s: %s %s: %d %s, want 403 with %s", name, r.method, r.url, code, answer, tt.want)
			}
		}
	}
	// What a page can send without asking is no application/json.
	for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp", "text/plain; application/json"} {
		header := map[string]string{}
		if media != "" {
			header["Content-Type"] = media
		}
		for _, path := range []string{"/fault", "/compact"} {
			if code, answer := p.browse("POST", p.control+path, header, order); code != 415 || !strings.Contains(answer, "send it as application/json (curl --json") {
				t.Errorf("POST %s of %q: %d %s", path, media, code, answer)
			}
		}
	}
	if after := p.want(200, "", "GET", "control:/revision", ""); after != before {
		t.Errorf("at %s before, at %s after it", before, after)
	}
	if faults := p.want(200, "", "GET", "control:/faults", ""); faults != "[\n]\n" {
		t.Errorf("faults: %s", faults)
	}
	if clients := p.want(200, `"name":"test"`, "GET", "control:/clients", ""); strings.Contains(clients, "Go-http-client") {
		t.Errorf("who was refused is listed: %s", clients)
	}
	// The same from the address bar, and from a page of the server's own.
	for _, header := range []map[string]string{{"Sec-Fetch-Site": "none"}, {"Origin": p.control, "Sec-Fetch-Site": "same-origin"}, {"Host": "localhost:1"}} {
		if code, answer := p.browse("GET", p.control+"/revision", header, ""); code != 200 {
			t.Errorf("%v: %d %s", header, code, answer)
		}
	}
	for _, media := range []string{"application/json", "Application/JSON; charset=utf-8"} {
		if code, answer := p.browse("POST", p.control+"/fault", map[string]string{"Content-Type": media}, `{"kind":"list-500"}`); code != 200 {
			t.Errorf("%s: %d %s", media, code, answer)
		}
	}
}

// The token guards both ports, in the words of the kubeconfig, too; it is not shown.
func TestServeTokenFile(t *testing.T) {
	inTemp(t, map[string]string{"token": "s3cr\n", "blank": "\n", "two": "s3cr\nmore\n"})
	p := serveIn(t, "--token-file", "token", "--kubeconfig", "kc", "--control", "127.0.0.1:0")
	config, err := clientcmd.BuildConfigFromFlags("", "kc")
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Namespaces().List(context.Background(), metav1.ListOptions{}); err != nil {
		t.Errorf("with the kubeconfig: %v", err)
	}
	for given, want := range map[string]int{"": 401, "Bearer other": 401, "s3cr": 401, "Bearer s3cr": 200, "bearer s3cr": 200, "BEARER s3cr": 200} {
		for _, url := range []string{p.root + "/api/v1/namespaces", p.control + "/revision"} {
			if code, answer := p.browse("GET", url, map[string]string{"Authorization": given}, ""); code != want || code == 401 && !strings.Contains(answer, "Unauthorized") {
				t.Errorf("GET %s with %q: %d %s, want %d", url, given, code, answer, want)
			}
		}
	}
	p.want(401, `present the token of --token as "Authorization: Bearer TOKEN"`, "POST", "control:/compact", "")
	// With the token, a proxy may use the API by any name, but no browser steers.
	foreign := map[string]string{"Authorization": "Bearer s3cr", "Host": "sim.example", "Origin": "http://ui.example"}
	if code, answer := p.browse("GET", p.root+"/api/v1/namespaces", foreign, ""); code != 200 {
		t.Errorf("the API: %d %s", code, answer)
	}
	if code, answer := p.browse("GET", p.control+"/revision", foreign, ""); code != 403 {
		t.Errorf("the control port: %d %s", code, answer)
	}
	p.interrupt()
	if strings.Contains(p.stderr.String(), "s3cr") {
		t.Errorf("the token is shown: %s", p.stderr)
	}
	for _, args := range [][]string{{"--token", ""}, {"--token", "  "}, {"--token", "s3cr\r\nX: y"}, {"--token-file", "blank"}, {"--token-file", "two"}, {"--token-file", "none"}, {"--token-file", os.DevNull}, {"--token", "s3cr", "--token-file", "token"}} {
		if got := command(t, append([]string{"serve", "--kubeconfig", "refused"}, args...)...); got.code != cli.BadInput || !strings.Contains(got.stderr, "--token") || strings.Contains(got.stderr, "s3cr") || strings.Contains(got.stdout, "serving") {
			t.Errorf("serve %q: %+v", args, got)
		}
	}
	if _, err := os.Stat("refused"); err == nil {
		t.Error("a refused server has written a kubeconfig")
	}
}
