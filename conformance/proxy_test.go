package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/conformance/catalogue"
	"github.com/informersim/informersim/internal/probe"
)

const lateDeletion = "DELETED carries the revision before the deletion"

// A lie makes a real apiserver behind a proxy wrong in one way.
type lie struct {
	name string
	// probes matches the probes that must detect the lie.
	probes string
	// request changes a request before the server sees it; frame changes one line of a watch, nil dropping it and two
	// lines doubling it; body changes the body of any other answer.
	request func(*http.Request)
	frame   func(n int, line string) []string
	body    func(r *http.Request, code int, body string) (int, string)
}

func isWatch(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Query().Has("watch") && r.URL.Query().Get("watch") != "false" &&
		r.URL.Query().Get("watch") != "0" && !strings.HasSuffix(r.URL.Path, "/a")
}

func keep(_ int, line string) []string { return []string{line} }

var lies = []lie{
	{name: "a watch loses its third event", probes: "^watch/order-of-revisions$",
		frame: func(n int, line string) []string {
			if n == 2 {
				return nil
			}
			return []string{line}
		}},
	{name: "a watch sends an event twice", probes: "^watch/state-then-live$",
		frame: func(n int, line string) []string {
			if n == 1 {
				return []string{line, line}
			}
			return []string{line}
		}},
	{name: lateDeletion, probes: "^delete/event-revision$",
		frame: func(_ int, line string) []string {
			if !strings.Contains(line, `"DELETED"`) {
				return []string{line}
			}
			return []string{lower(line)}
		}},
	{name: "the initial state has no end", probes: "^watch/streaming-list$",
		frame: func(_ int, line string) []string {
			if strings.Contains(line, "initial-events-end") {
				return nil
			}
			return []string{line}
		}},
	{name: "an expired watch just ends", probes: "^watch/too-old$",
		frame: func(_ int, line string) []string {
			if strings.Contains(line, `"ERROR"`) {
				return nil
			}
			return []string{line}
		}},
	{name: "a list at revision 0 honours the limit", probes: "^list/limit-at-zero$",
		request: func(r *http.Request) {
			if q := r.URL.Query(); q.Get("resourceVersion") == "0" && q.Has("limit") {
				q.Del("resourceVersion")
				r.URL.RawQuery = q.Encode()
			}
		}},
	{name: "updates never conflict", probes: "^update/conflict$",
		request: func(r *http.Request) {
			if r.Method != http.MethodPut {
				return
			}
			data, _ := io.ReadAll(r.Body)
			data = regexp.MustCompile(`,?"resourceVersion":"[0-9]+"`).ReplaceAll(data, nil)
			r.Method, r.Body, r.ContentLength = http.MethodPatch, io.NopCloser(bytes.NewReader(data)), int64(len(data))
			r.Header.Set("Content-Type", "application/merge-patch+json")
		}},
	{name: "NotFound is worded differently", probes: "^get/absent$",
		body: func(_ *http.Request, code int, body string) (int, string) {
			return code, strings.ReplaceAll(body, "not found", "does not exist")
		}},
	{name: "a conflict is a 422", probes: "^create/exists$",
		body: func(_ *http.Request, code int, body string) (int, string) {
			if code == http.StatusConflict {
				return http.StatusUnprocessableEntity, body
			}
			return code, body
		}},
	{name: "lists do not say how many items remain", probes: "^list/remaining-item-count$",
		body: func(_ *http.Request, code int, body string) (int, string) {
			return code, regexp.MustCompile(`,"remainingItemCount":[0-9]+`).ReplaceAllString(body, "")
		}},
	{name: "a no-op is a write", probes: "^update/no-op$",
		request: func(r *http.Request) {
			if r.Header.Get("Content-Type") == "application/merge-patch+json" {
				data, _ := io.ReadAll(r.Body)
				data = append([]byte(`{"metadata":{"annotations":{"touched":"yes"}},`), data[1:]...)
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
			}
		}},
}

var versionInEvent = regexp.MustCompile(`"resourceVersion":"([0-9]+)"`)

// lower decrements the resourceVersion of an event.
func lower(line string) string {
	return versionInEvent.ReplaceAllStringFunc(line, func(match string) string {
		var rv int
		fmt.Sscanf(versionInEvent.FindStringSubmatch(match)[1], "%d", &rv)
		return fmt.Sprintf(`"resourceVersion":"%d"`, rv-1)
	})
}

// tell serves root through a proxy that tells the lie.
func (l lie) tell(t *testing.T, root string) probe.Target {
	backend, err := url.Parse(root)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(backend)
	proxy.FlushInterval = -1
	proxy.ModifyResponse = l.answer
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.request != nil {
			l.request(r)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return probe.RemoteTarget{URL: front.URL}
}

// answer rewrites a response.
func (l lie) answer(resp *http.Response) error {
	if isWatch(resp.Request) && resp.StatusCode == http.StatusOK {
		if l.frame != nil {
			resp.Body = rewriteFrames(resp.Body, l.frame)
		}
		return nil
	}
	if l.body == nil {
		return nil
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	code, body := l.body(resp.Request, resp.StatusCode, string(data))
	resp.StatusCode, resp.Body, resp.ContentLength = code, io.NopCloser(strings.NewReader(body)), int64(len(body))
	resp.Header.Set("Content-Length", fmt.Sprint(len(body)))
	return nil
}

// rewriteFrames forwards a stream line by line through frame.
func rewriteFrames(from io.ReadCloser, frame func(int, string) []string) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		defer from.Close()
		reader := bufio.NewReader(from)
		for n := 0; ; n++ {
			line, err := reader.ReadString('\n')
			if err != nil {
				in.CloseWithError(err)
				return
			}
			for _, l := range frame(n, line) {
				if _, err := io.WriteString(in, l); err != nil {
					return
				}
			}
		}
	}()
	return out
}

// TestProbesFindLies tests the harness itself: each lie must be found by its probe, and the proxy alone must change
// nothing.
func TestProbesFindLies(t *testing.T) {
	ctx := context.Background()
	targets, stop, err := realTargets(ctx, 1, startReal)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	all, err := catalogue.All()
	if err != nil {
		t.Fatal(err)
	}
	honest := lie{frame: keep, body: func(_ *http.Request, code int, body string) (int, string) { return code, body }}
	for _, l := range lies {
		pattern := regexp.MustCompile(l.probes)
		found := false
		for _, p := range all {
			if !pattern.MatchString(p.Name) {
				continue
			}
			want, err := probe.ReadGolden(filepath.Join("testdata", "golden"), p.Name)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := probe.Run(ctx, honest.tell(t, targets[0].Root()), p); err != nil || probe.Diff(want, got) != "" {
				t.Errorf("%s: an honest proxy differs: %v\n%s", p.Name, err, probe.Diff(want, got))
			}
			got, err := probe.Run(ctx, l.tell(t, targets[0].Root()), p)
			found = found || err != nil || probe.Diff(want, got) != ""
		}
		if !found {
			t.Errorf("%s: not found by the probes %s", l.name, l.probes)
		}
	}
}

// TestSequencesFindLies checks that generated sequences find a lie, and reduces one that does.
func TestSequencesFindLies(t *testing.T) {
	ctx := context.Background()
	targets, stop, err := realTargets(ctx, 2, startReal)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	// A lie about what an event says. One that keeps an event back is waited for, which is slow, and on a loaded machine an honest
	// server may keep one back, too: each attempt then differs in a way of its own, and little of the sequence can be removed.
	liar := lies[slices.IndexFunc(lies, func(l lie) bool { return l.name == lateDeletion })]
	var out bytes.Buffer
	c := &comparison{
		settings:   &settings{out: &out, reference: "real", seeds: 6, firstSeed: 1, steps: 25},
		references: targets[:1],
		shorten:    1,
		kinds:      map[string]int{},
		targets:    []probe.Target{liar.tell(t, targets[1].Root())},
	}
	if err := c.sequences(ctx); err != nil {
		t.Fatal(err)
	}
	if c.played != 6 || c.differing == 0 {
		t.Fatalf("%s: %d of %d sequences differ\n%s", liar.name, c.differing, c.played, out.String())
	}
	script, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n\n")
	if n := strings.Count(script, "\n"); n > 10 {
		t.Errorf("the first finding has %d steps, want it short:\n%s", n, script)
	}
}
