package rest_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/fault"
	fakerest "github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/sim"
)

// ending notes when and how a request ends.
type ending struct {
	k     *sim.Kernel
	began time.Duration
	saw   []string
}

func (e *ending) note(format string, args ...any) {
	e.saw = append(e.saw, fmt.Sprintf(format+" after %v", append(args, e.k.Elapsed()-e.began)...))
}

func (e *ending) Answer(code int, _ http.Header, _ fakerest.Body) { e.note("%d", code) }
func (e *ending) Open(code int, _ http.Header)                    { e.note("open %d", code) }
func (*ending) Frame([]byte)                                      {}
func (e *ending) Close(err error)                                 { e.note("close %v", err) }
func (e *ending) Fail(err error)                                  { e.note("broken: %v", err) }

// A fault without a duration makes a request wait until the faults end, the server's timeout, or the client's, whichever comes first. A watch has
// the timeout that it asks for. A slow write is done all the same, a late one is not.
func TestTimeoutsEndSlowAnswers(t *testing.T) {
	maps := "/api/v1/namespaces/default/configmaps"
	for _, tt := range []struct {
		kind         fault.Kind
		method, path string
		want         string
	}{
		{fault.ListSlow, "GET", maps, "504 after 1m0s"},
		{fault.ListSlow, "GET", maps + "?timeout=0s", "504 after 1m0s"},
		{fault.ListSlow, "GET", maps + "?timeout=7s", "504 after 7s"},
		{fault.ListSlow, "GET", maps + "?timeout=2m", "504 after 1m0s"},
		{fault.ListSlow, "GET", maps + "/none", "504 after 1m0s"},
		{fault.WriteSlow, "POST", maps, "504 after 1m0s"},
		{fault.WriteLate, "POST", maps, "504 after 1m0s"},
		{fault.WatchOpenSlow, "GET", maps + "?watch=1&timeoutSeconds=90", "open 200 after 1m30s, close <nil> after 1m30s"},
		{fault.WatchDelay, "GET", maps + "?watch=1&timeoutSeconds=90", "open 200 after 0s, close <nil> after 1m30s"},
	} {
		t.Run(string(tt.kind)+" "+tt.method+" "+tt.path, func(t *testing.T) {
			v := newVirtual(t, func(o *fakerest.Options) { o.Timeout = time.Minute })
			e := &ending{k: v.k}
			v.Do(func() {
				u, err := url.Parse(tt.path)
				if err != nil {
					t.Error(err)
					return
				}
				e.began = v.k.Elapsed()
				r := &fakerest.Request{Method: tt.method, URL: u, Header: http.Header{}, Client: "a", Body: []byte(`{"metadata":{"name":"made"}}`)}
				v.api.Serve(r, e)
				if err := v.cluster.Inject(fault.Fault{Kind: tt.kind, Count: 1}); err != nil {
					t.Error(err)
				}
			})
			if got := strings.Join(e.saw, ", "); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			id, _ := v.cluster.FindResource(schema.GroupResource{Resource: "configmaps"})
			if made, _ := v.cluster.Store().Get(id, "default", "made"); (made != nil) != (tt.kind == fault.WriteSlow) {
				t.Errorf("it is made: %t", made != nil)
			}
			if n := v.cluster.Client("a").InFlight(); n != 0 {
				t.Errorf("%d requests are left", n)
			}
		})
	}
}
