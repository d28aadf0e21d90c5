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

	"github.com/informersim/informersim/internal/controllermanager/basic"
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
		m, err := Start(basic.Options{Names: Names(), Version: "v1.2.3", Transport: func(client string) http.RoundTripper {
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
			_, asked = agents["shared-informers"]
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
	_, err := Start(basic.Options{Names: []string{"deployment", "x"}, Transport: func(string) http.RoundTripper { return http.DefaultTransport }})
	if fmt.Sprint(err) != `there is no controller "x"` {
		t.Error(err)
	}
	goleak.VerifyNone(t, before)
}
