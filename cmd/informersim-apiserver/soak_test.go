package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/cmd/internal/serveflags"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/transport"
)

var soakTime = flag.Duration("soak", 3*time.Second, "how long TestSoak runs")

const (
	soakWriters  = 8
	soakWatchers = 50
	soakKeys     = 20 // of each writer
	soakPause    = 40 * time.Millisecond
	soakMaps     = "/api/v1/namespaces/default/configmaps"
)

// soakObject is what the test reads of an object.
type soakObject struct {
	Metadata struct{ Name, ResourceVersion string }
	Data     map[string]string
	Code     int // of a Status
}

func (o *soakObject) revision() int64 {
	rev, _ := strconv.ParseInt(o.Metadata.ResourceVersion, 10, 64) // 0 is no revision, and is noticed
	return rev
}

// soakWrite is an acknowledged write.
type soakWrite struct{ event, name, value string }

// soak is a server under load.
type soak struct {
	t      *testing.T
	root   string
	world  *served
	id     store.ResourceID
	client *http.Client

	mu                                 sync.Mutex
	writes                             map[int64]soakWrite // by revision
	deletions, events, rewatch, relist atomic.Int64
}

// Eight writers and fifty watches, which faults end again and again: each watch has every write, once, and in order. What
// compaction frees is free.
func TestSoak(t *testing.T) {
	w, err := server{Flags: &serveflags.Flags{Replicas: 1, Seed: 1, Bare: true}}.world(t.Context(), &net.TCPAddr{})
	if err != nil {
		t.Fatal(err)
	}
	id, ok := w.cluster.FindResource(schema.GroupResource{Resource: "configmaps"})
	if !ok {
		t.Fatal("there are no configmaps")
	}
	s := &soak{t: t, world: w, id: id, writes: map[int64]soakWrite{}, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}}
	listening := httptest.NewServer(&transport.Handler{Driver: w.pump, API: w.api})
	defer listening.Close()
	s.root = listening.URL
	empty := heap()

	ctx, cancel := context.WithTimeout(t.Context(), *soakTime)
	defer cancel()
	var writers, watchers sync.WaitGroup
	for n := range soakWriters {
		writers.Go(func() { s.write(ctx, n) })
	}
	last := make(chan struct{})
	var end atomic.Int64
	seen := make([]*soakWatch, soakWatchers)
	for n := range seen {
		seen[n] = &soakWatch{soak: s, ended: last, end: &end}
		watchers.Go(seen[n].run)
	}
	s.harm(ctx)
	writers.Wait()
	w.pump.Look(func() { end.Store(w.cluster.Store().Revision() + 1) })
	close(last)
	s.put("POST", soakMaps, "ADDED", "last", "") // which every watch waits for
	watchers.Wait()
	for n, watch := range seen {
		watch.check(n)
	}
	total := int64(len(s.writes)) + s.deletions.Load()
	if total < 10 || s.events.Load() < total {
		t.Errorf("%d writes and %d events: the test has tested nothing", total, s.events.Load())
	}

	full, retained := heap(), s.retained()
	w.pump.Do(func() { err = w.cluster.Compact(0) })
	if err != nil {
		t.Fatal(err)
	}
	if left := s.retained(); left != 0 || retained == 0 {
		t.Errorf("the store had the history of %d writes, and after a compaction has that of %d", retained, left)
	}
	t.Logf("%s: %d writes, %d events to %d watches, %d watches reopened after their end, %d relists after 410", *soakTime, total, s.events.Load(), soakWatchers, s.rewatch.Load(), s.relist.Load())
	t.Logf("history of %d writes before the compaction, %d after; heap %d KiB at the start, %d before, %d after", retained, s.retained(), empty, full, heap())
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc >> 10
}

func (s *soak) retained() (n int64) {
	s.world.pump.Look(func() { n = s.world.cluster.Store().Timeline(s.id).Retained() })
	return n
}

// harm ends watches until ctx ends: cleanly, and with 410.
func (s *soak) harm(ctx context.Context) {
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(300 * time.Millisecond):
		}
		kind := fault.WatchEOF
		if n%4 == 3 {
			kind = fault.Watch410
		}
		var err error
		s.world.pump.Do(func() {
			err = s.world.cluster.Inject(fault.Fault{Kind: kind, Count: 10, Probability: 0.5})
		})
		if err != nil {
			s.t.Error(err)
			return
		}
	}
}

// send makes a request and reads the answer.
func (s *soak) send(method, path, body string, into any) error {
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.root+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode > 299 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, data)
	}
	return json.Unmarshal(data, into)
}

// write creates, updates and deletes the objects of a writer.
func (s *soak) write(ctx context.Context, writer int) {
	for n := 0; ctx.Err() == nil; n++ {
		name, value := fmt.Sprintf("w%d-%d", writer, n/3%soakKeys), fmt.Sprint(n)
		switch n % 3 {
		case 0:
			if !s.put("POST", soakMaps, "ADDED", name, value) {
				return
			}
		case 1:
			if !s.put("PUT", soakMaps+"/"+name, "MODIFIED", name, value) {
				return
			}
		default: // the answer has no revision
			if err := s.send("DELETE", soakMaps+"/"+name, "", &soakObject{}); err != nil {
				s.t.Error(err)
				return
			}
			s.deletions.Add(1)
		}
		time.Sleep(soakPause)
	}
}

// put writes an object, and notes the write.
func (s *soak) put(method, path, event, name, value string) bool {
	var o soakObject
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"n":%q}}`, name, value)
	if err := s.send(method, path, body, &o); err != nil {
		s.t.Error(err)
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes[o.revision()] = soakWrite{event, name, value}
	return true
}

// soakWatch is one watch, through all of its ends.
type soakWatch struct {
	*soak
	ended chan struct{} // closed when the writers are done
	end   *atomic.Int64 // the last revision, then

	at    int64            // the revision that has been reached
	state map[string]int64 // the objects at that revision, by name, with theirs
	wrong []string
	seen  []seenEvent
}

type seenEvent struct {
	rev int64
	soakWrite
}

func (w *soakWatch) fail(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// done reports whether everything has been seen.
func (w *soakWatch) done() bool {
	select {
	case <-w.ended:
		return w.at >= w.end.Load()
	default:
		return false
	}
}

var errSoakExpired = errors.New("410")

func (w *soakWatch) run() {
	fresh := true
	for !w.done() && len(w.wrong) == 0 && w.t.Context().Err() == nil {
		if fresh {
			if err := w.list(); err != nil {
				w.fail("list: %v", err)
				return
			}
		}
		err := w.watch()
		if fresh = errors.Is(err, errSoakExpired); fresh {
			w.relist.Add(1)
		} else if err != nil {
			w.fail("watch from %d: %v", w.at, err)
		} else {
			w.rewatch.Add(1)
		}
	}
}

// list starts over, as after a 410. What the list has must be what the writes before led to.
func (w *soakWatch) list() error {
	var list struct {
		Metadata struct{ ResourceVersion string }
		Items    []soakObject
	}
	if err := w.send("GET", soakMaps, "", &list); err != nil {
		return err
	}
	rev, err := strconv.ParseInt(list.Metadata.ResourceVersion, 10, 64)
	if err != nil {
		return err
	}
	state := map[string]int64{}
	for _, o := range list.Items {
		state[o.Metadata.Name] = o.revision()
	}
	if rev < w.at {
		w.fail("a list has revision %d, and %d had been seen", rev, w.at)
	}
	if rev == w.at && w.state != nil && !maps.Equal(state, w.state) {
		w.fail("a list at %d has %v, and the watch led to %v", rev, state, w.state)
	}
	w.at, w.state = rev, state
	return nil
}

// watch follows the watch until it ends; a 410 is errSoakExpired.
func (w *soakWatch) watch() error {
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	go func() {
		select {
		case <-w.ended:
			select {
			case <-time.After(time.Minute): // an event is lost
				cancel()
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
	}()
	r, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("%s%s?watch=1&resourceVersion=%d", w.root, soakMaps, w.at), nil)
	if err != nil {
		return err
	}
	resp, err := w.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusGone {
		return errSoakExpired
	}
	for d := json.NewDecoder(resp.Body); !w.done(); {
		var e struct {
			Type   string
			Object soakObject
		}
		switch err := d.Decode(&e); {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case e.Type == "ERROR" && e.Object.Code == http.StatusGone:
			return errSoakExpired
		}
		w.event(e.Type, &e.Object)
	}
	return nil
}

// event takes an event. Nothing else is written, so each has the revision after that of the one before.
func (w *soakWatch) event(kind string, o *soakObject) {
	w.events.Add(1)
	rev, name := o.revision(), o.Metadata.Name
	_, exists := w.state[name]
	switch {
	case rev != w.at+1:
		w.fail("after %d comes %s %s at %d", w.at, kind, name, rev)
	case exists != (kind != "ADDED"):
		w.fail("%s %s at %d, but it existed: %v", kind, name, rev, exists)
	}
	w.at = rev
	w.state[name] = rev
	if kind == "DELETED" {
		delete(w.state, name)
	}
	w.seen = append(w.seen, seenEvent{rev, soakWrite{kind, name, o.Data["n"]}})
}

// check compares what was seen with what was acknowledged.
func (w *soakWatch) check(n int) {
	w.t.Helper()
	for _, e := range w.seen {
		if want, known := w.writes[e.rev]; (known || e.event != "DELETED") && e.soakWrite != want {
			w.fail("at %d it saw %+v, and %+v was acknowledged", e.rev, e.soakWrite, want)
		}
	}
	if w.at != w.end.Load() {
		w.fail("it reached %d of %d", w.at, w.end.Load())
	}
	if len(w.wrong) > 0 {
		w.t.Errorf("watch %d: %q", n, slices.Concat(w.wrong[:min(3, len(w.wrong))]))
	}
}
