package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informersim/informersim/internal/probe/resources"
)

// A Server is a server to measure.
type Server struct {
	// Root is the URL without a trailing slash; Client sends the requests.
	Root   string
	Client *http.Client
}

// A Result is one measurement: the duration of a number of operations.
type Result struct {
	Name       string
	Operations int
	Duration   time.Duration
	// Unit names the operations: creates, lists, events.
	Unit string
}

// PerSecond returns the rate.
func (r Result) PerSecond() float64 { return float64(r.Operations) / r.Duration.Seconds() }

// String returns the line of a Go benchmark, without the prefix.
func (r Result) String() string {
	return fmt.Sprintf("%s\t%d\t%.0f ns/op\t%.0f %s/s", r.Name, r.Operations,
		float64(r.Duration.Nanoseconds())/float64(r.Operations), r.PerSecond(), r.Unit)
}

// stallTimeout bounds the time from the last update until a watch has delivered all of them.
const stallTimeout = 2 * time.Minute

const collection = resources.GroupVersionPath + "/namespaces/bench/gizmos"

func body(name string, size int) string {
	return fmt.Sprintf(`{"apiVersion":"%s/%s","kind":"Gizmo","metadata":{"name":%q,"labels":{"app":"x"}},"spec":{"color":"red","size":%d}}`,
		resources.Group, resources.Version, name, size%1000)
}

// send sends a request and returns an error unless it succeeds. The caller reads and closes the body.
func (s Server) send(ctx context.Context, method, path, contentType, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.Root+path, strings.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("build the request: %w", err)
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Accept", "application/json")
	resp, err := s.Client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if resp.StatusCode/100 != 2 {
		data, _ := io.ReadAll(resp.Body) // as much of it as there is
		resp.Body.Close()
		return nil, fmt.Errorf("%s %s: %s %.300s", method, path, resp.Status, data)
	}
	return resp, nil
}

// do makes a request that must succeed and returns its body.
func (s Server) do(ctx context.Context, method, path, contentType, body string) ([]byte, error) {
	resp, err := s.send(ctx, method, path, contentType, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var data bytes.Buffer
	data.Grow(int(max(resp.ContentLength, 0)) + bytes.MinRead)
	if _, err := data.ReadFrom(resp.Body); err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return data.Bytes(), nil
}

// Create creates objects with several concurrent clients.
func (s Server) Create(ctx context.Context, prefix string, objects, clients int) (Result, error) {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var workers sync.WaitGroup
	began := time.Now()
	for range clients {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := next.Add(1); i <= int64(objects) && failed.Load() == nil; i = next.Add(1) {
				if _, err := s.do(ctx, http.MethodPost, collection, "application/json", body(fmt.Sprintf("%s-%06d", prefix, i), int(i))); err != nil {
					failed.Store(&err)
				}
			}
		}()
	}
	workers.Wait()
	result := Result{fmt.Sprintf("create/clients=%d", clients), objects, time.Since(began), "creates"}
	if err := failed.Load(); err != nil {
		return result, *err
	}
	return result, nil
}

// List lists everything a number of times, with the parameters in query.
func (s Server) List(ctx context.Context, name, query string, times, want int) (Result, error) {
	began := time.Now()
	for range times {
		resp, err := s.send(ctx, http.MethodGet, collection+"?"+query, "", "")
		if err != nil {
			return Result{Name: name}, err
		}
		n, err := count(resp.Body, []byte(`"uid"`))
		resp.Body.Close()
		if err != nil {
			return Result{Name: name}, fmt.Errorf("read a list: %w", err)
		}
		if n != want {
			return Result{Name: name}, fmt.Errorf("%d objects, want %d", n, want)
		}
	}
	return Result{name, times, time.Since(began), "lists"}, nil
}

// count reads everything and counts the occurrences of a word, without buffering the input.
func count(from io.Reader, word []byte) (n int, err error) {
	buffer := make([]byte, readAtOnce)
	kept := 0 // bytes carried over from the previous read, which may begin a word
	for {
		m, err := from.Read(buffer[kept:])
		data := buffer[:kept+m]
		n += bytes.Count(data, word)
		kept = copy(buffer, data[max(0, len(data)-len(word)+1):])
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// readAtOnce is the number of bytes of an answer per read.
const readAtOnce = 64 << 10

// Page lists everything in pages, a number of times.
func (s Server) Page(ctx context.Context, limit, times, want int) (Result, error) {
	result := Result{Name: fmt.Sprintf("page/limit=%d", limit), Unit: "pages"}
	began, seen, token := time.Now(), 0, ""
	for round := 0; round < times; {
		data, err := s.do(ctx, http.MethodGet, fmt.Sprintf("%s?limit=%d&continue=%s", collection, limit, url.QueryEscape(token)), "", "")
		if err != nil {
			return result, err
		}
		result.Operations++
		seen += bytes.Count(data, []byte(`"uid"`))
		if token = continueIn(data); token == "" {
			round++
		}
	}
	if seen != times*want {
		return result, fmt.Errorf("%d objects in %d pages, want %d times %d", seen, result.Operations, times, want)
	}
	result.Duration = time.Since(began)
	return result, nil
}

// continueIn finds the continue token of a list of custom resources, whose metadata comes last. No object of the measurements
// has such a field, and a token has no quotes in it.
func continueIn(list []byte) string {
	_, token, found := bytes.Cut(list[max(0, bytes.LastIndex(list, []byte(`"continue":"`))):], []byte(`"continue":"`))
	if !found {
		return ""
	}
	token, _, _ = bytes.Cut(token, []byte(`"`))
	return string(token)
}

// FanOut opens watches, makes updates sequentially, and waits until every watch has delivered all of them. A watch that the
// server closes because its client is slow (I105) is reopened where it ended, as an informer would.
func (s Server) FanOut(ctx context.Context, watchers, updates int) (Result, error) {
	result := Result{Name: fmt.Sprintf("fan-out/watchers=%d", watchers), Operations: watchers * updates, Unit: "events"}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	object := fmt.Sprintf("fan-out-%d", watchers)
	data, err := s.do(ctx, http.MethodPost, collection, "application/json", body(object, 0))
	if err != nil {
		return result, err
	}
	var created struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.Unmarshal(data, &created); err != nil {
		return result, fmt.Errorf("decode the object: %w", err)
	}
	failures := make(chan error, watchers)
	var reading sync.WaitGroup
	for range watchers {
		w, err := s.open(ctx, created.Metadata.ResourceVersion)
		if err != nil {
			return result, err
		}
		reading.Add(1)
		go func() {
			defer reading.Done()
			if err := w.read(ctx, updates); err != nil {
				failures <- err
			}
		}()
	}
	began := time.Now()
	for i := range updates {
		patch := fmt.Sprintf(`{"spec":{"size":%d}}`, (i+1)%1000)
		if _, err := s.do(ctx, http.MethodPatch, collection+"/"+object, "application/merge-patch+json", patch); err != nil {
			return result, err
		}
	}
	stalled := time.AfterFunc(stallTimeout, cancel)
	reading.Wait()
	stalled.Stop()
	result.Duration = time.Since(began)
	select {
	case err := <-failures:
		return result, err
	default:
		return result, nil
	}
}
