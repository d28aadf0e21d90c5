package clients

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bound is how long a cache may take to be right. Clients wait up to 30 seconds between watches.
const bound = 2 * time.Minute

// Whatever faults a client meets while ConfigMaps come, change and go: when the faults have ended, its cache is what a list says. An error
// restarts the informer, as client-node's documentation has it.
func TestConverges(t *testing.T) {
	t.Parallel()
	for _, r := range releases {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			var seeds, connects atomic.Int64
			for seed := range uint64(3) {
				t.Run(fmt.Sprintf("seed=%d", seed+1), func(t *testing.T) {
					t.Parallel()
					connects.Add(int64(converges(t, r, seed+1)))
					seeds.Add(1)
				})
			}
			t.Cleanup(func() { // after the seeds
				if n := seeds.Load(); n > 0 && connects.Load() < 3*n {
					t.Errorf("in %d runs the client connected %d times: hardly a fault has hit it", n, connects.Load())
				}
			})
		})
	}
}

// converges makes a run and returns how often the client connected while there were faults.
func converges(t *testing.T, r release, seed uint64) int {
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, "--data", data, "--seed", fmt.Sprint(seed), "--fault-mix", "default")
	c := r.start(t, s.url, "50")
	c.do("start")
	random := rand.New(rand.NewPCG(seed, 0))
	exists := map[string]bool{}
	broken := []string{"watch-close", "watch-eof", "watch-reset", "watch-410", "watch-500", "list-500", "list-lost", "watch-open-503", "watch-delay"}
	for i := range 300 {
		if i%20 == 10 {
			s.fault(broken[random.IntN(len(broken))], 1)
		}
		name := fmt.Sprintf("c%d", random.IntN(12))
		switch {
		case !exists[name]:
			s.write("POST", name, fmt.Sprint(i))
			exists[name] = true
		case random.IntN(3) == 0:
			s.write("DELETE", name, "")
			exists[name] = false
		default:
			s.write("PUT", name, fmt.Sprint(i))
		}
		if i%3 == 0 {
			c.state() // lets the client work meanwhile
			time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond)
		}
	}
	before := c.state()

	// A mix goes on for as long as its server does, so the same cluster is served without one, at the same address.
	address, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	s.stop()
	s = serve(t, "--data", data, "--addr", address.Host)
	s.write("POST", "last", "last")
	want := s.list()
	after, ok := c.until(bound, has(want))
	t.Logf("%d objects; the client saw %+v, and %d errors", len(want), after.Seen, len(after.Errors))
	if !ok {
		t.Errorf("seed %d: the cache is not what a list says (-list +cache):\n%s\nerrors: %q", seed, cmp.Diff(want, plain(after.Objects)), after.Errors)
	}
	return before.Seen.Connect
}
