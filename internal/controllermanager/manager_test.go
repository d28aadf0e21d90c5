package controllermanager

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
)

// roundTripper is a function as an http.RoundTripper.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Stop returns, and leaves nothing that runs, although the server answers no request or refuses each. Every controller can be started, as often
// as one likes.
func TestStop(t *testing.T) {
	klog.LogToStderr(false)
	klog.SetOutput(t.Output())
	before := goleak.IgnoreCurrent()
	for _, answers := range []bool{false, true} {
		var mu sync.Mutex
		agents := map[string]string{} // by client
		m, err := Start(Options{Names: Names(), Version: "v1.2.3", Transport: func(client string) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				mu.Lock()
				agents[client] = r.UserAgent()
				mu.Unlock()
				if answers {
					return nil, errors.New("refused")
				}
				<-r.Context().Done()
				return nil, r.Context().Err()
			})
		}})
		if err != nil {
			t.Fatal(err)
		}
		for asked := false; !asked; {
			mu.Lock()
			_, asked = agents[informerClient]
			mu.Unlock()
		}
		m.Stop()
		for client, agent := range agents {
			if !strings.HasPrefix(agent, "kube-controller-manager/v1.2.3 (") || !strings.HasSuffix(agent, "/"+client) {
				t.Errorf("%s is %q", client, agent)
			}
		}
		goleak.VerifyNone(t, before)
	}
}

// A name that is none is refused, and nothing of the others is left.
func TestStartRefuses(t *testing.T) {
	before := goleak.IgnoreCurrent()
	_, err := Start(Options{Names: []string{"deployment", "x"}, Transport: func(string) http.RoundTripper { return http.DefaultTransport }})
	if fmt.Sprint(err) != `there is no controller "x"` {
		t.Error(err)
	}
	goleak.VerifyNone(t, before)
}

// What controllers log in passing is told from what is worth a line.
func TestOrdinaryErrors(t *testing.T) {
	for text, want := range map[string]bool{
		`sync "default/web" failed with read version: 12 is not as new as written version: 14 for group resource pods`:                           true,
		`Operation cannot be fulfilled on pods "a": the object has been modified; please apply your changes to the latest version and try again`: true,
		`sync "default/web" failed with pods "web-" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`:           false,
		`Failed to watch *v1.Pod: failed to list *v1.Pod: an error on the server ("") has prevented the request from succeeding (get pods)`:      false,
	} {
		if isOrdinary(text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}
