package transport_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/informersim/informersim/fakeapiserver/transport"
)

// guarded starts a server behind a guard.
func guarded(t *testing.T, g transport.Guard) string {
	t.Helper()
	server := httptest.NewServer(&transport.Handler{Driver: &direct{}, Guard: &g, API: apiFunc(func(_ *transport.Request, s transport.Sink) func() {
		s.Answer(http.StatusOK, http.Header{}, transport.Body{Head: []byte("in")})
		return func() {}
	})})
	t.Cleanup(server.Close)
	return server.URL
}

// send makes a request with these headers; Host is taken from them.
func send(t *testing.T, method, url string, header map[string]string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		r.Header.Set(k, v)
	}
	if host := header["Host"]; host != "" {
		r.Host = host
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// What no foreign page can have caused is let in; what one could is refused, and the answer says what to do.
func TestGuardRefusesBrowsers(t *testing.T) {
	url := guarded(t, transport.Guard{})
	own := strings.TrimPrefix(url, "http://")
	for name, header := range map[string]map[string]string{
		"curl":                       {},
		"localhost":                  {"Host": "localhost:8080"},
		"localhost, another case":    {"Host": "LocalHost."},
		"another loopback address":   {"Host": "127.3.2.1:80"},
		"IPv6":                       {"Host": "[::1]:8080"},
		"IPv6 without a port":        {"Host": "[::1]"},
		"the server's own page":      {"Origin": url, "Sec-Fetch-Site": "same-origin"},
		"own page by name":           {"Host": "localhost:8080", "Origin": "http://localhost:8080"},
		"typed into the address bar": {"Sec-Fetch-Site": "none"},
	} {
		if code, body := send(t, "GET", url, header); code != 200 {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
	for name, tt := range map[string]struct {
		header map[string]string
		want   string
	}{
		"DNS rebinding":           {map[string]string{"Host": "evil.example:8080"}, `the Host "evil.example:8080" is refused`},
		"a name like an address":  {map[string]string{"Host": "127.0.0.1.evil.example"}, "use http://127.0.0.1 or http://localhost"},
		"a name like localhost":   {map[string]string{"Host": "localhost.evil.example:1"}, "DNS rebinding"},
		"the unspecified address": {map[string]string{"Host": "0.0.0.0:8080"}, "or guard the server with a token"},
		"an address elsewhere":    {map[string]string{"Host": "192.168.0.7:8080"}, "is refused"},
		"a long name":             {map[string]string{"Host": strings.Repeat("a", 5000)}, "aaa…"},
		"a foreign page":          {map[string]string{"Origin": "http://evil.example"}, `the Origin "http://evil.example" is refused`},
		"a file, a sandbox":       {map[string]string{"Origin": "null"}, `the Origin "null" is refused`},
		"another port":            {map[string]string{"Origin": "http://127.0.0.1:1"}, "without the header Origin"},
		"another scheme":          {map[string]string{"Origin": "https://" + own}, "is refused"},
		"an image of a page":      {map[string]string{"Sec-Fetch-Site": "cross-site"}, `Sec-Fetch-Site "cross-site" is refused`},
		"a page of another port":  {map[string]string{"Sec-Fetch-Site": "same-site"}, `Sec-Fetch-Site "same-site" is refused`},
		"rebinding, own page":     {map[string]string{"Host": "evil.example", "Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"}, "the Host"},
	} {
		for _, method := range []string{"GET", "POST", "DELETE", "OPTIONS"} {
			code, body := send(t, method, url, tt.header)
			var status struct{ Reason, Message string }
			if err := json.Unmarshal([]byte(body), &status); err != nil || code != 403 || status.Reason != "Forbidden" || !strings.Contains(status.Message, tt.want) {
				t.Errorf("%s %s: %d %s %v, want a message with %s", name, method, code, body, err, tt.want)
			}
		}
	}
}

// The scheme of a token has no case; a token without its scheme is none.
func TestGuardToken(t *testing.T) {
	url := guarded(t, transport.Guard{Token: "secret"})
	basic := func(password string) string {
		r := httptest.NewRequest("GET", "/", nil)
		r.SetBasicAuth("anyone", password)
		return r.Header.Get("Authorization")
	}
	for given, want := range map[string]int{
		"":                        401,
		"Bearer":                  401,
		"Bearer ":                 401,
		"Bearer secre":            401,
		"Bearer secrets":          401,
		"Bearer SECRET":           401,
		"Basic secret":            401,
		"secret":                  401,
		"Token secret":            401,
		basic("other"):            401,
		"Bearer secret":           200,
		"bearer secret":           200,
		"BEARER secret":           200,
		"bEaReR  secret":          200,
		basic("secret"):           200,
		"b" + basic("secret")[1:]: 200,
	} {
		if code, body := send(t, "GET", url, map[string]string{"Authorization": given}); code != want {
			t.Errorf("%q: %d %s, want %d", given, code, body, want)
		}
	}
	// A token admits any client that has it, from anywhere; but a browser adds a remembered password to any page's requests.
	for name, tt := range map[string]struct {
		header map[string]string
		want   int
	}{
		"another name":                 {map[string]string{"Authorization": "Bearer secret", "Host": "sim.example"}, 200},
		"a page that has the token":    {map[string]string{"Authorization": "Bearer secret", "Origin": "http://ui.example", "Sec-Fetch-Site": "cross-site"}, 200},
		"a page that has no token":     {map[string]string{"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}, 401},
		"the password of someone else": {map[string]string{"Authorization": basic("secret"), "Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}, 403},
	} {
		if code, body := send(t, "GET", url, tt.header); code != tt.want {
			t.Errorf("%s: %d %s, want %d", name, code, body, tt.want)
		}
	}
	url = guarded(t, transport.Guard{Token: "secret", NoBrowsers: true})
	if code, body := send(t, "GET", url, map[string]string{"Authorization": "Bearer secret", "Origin": "http://ui.example"}); code != 403 || strings.Contains(body, "guard the server") {
		t.Errorf("a page with the token: %d %s", code, body)
	}
	if code, body := send(t, "GET", url, nil); code != 401 {
		t.Errorf("no token: %d %s", code, body)
	}
}
