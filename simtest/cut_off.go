package simtest

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest/internal/exchange"
)

// cutOff has the lives that are killed, or left at the end of a run, while a manager of controller-runtime starts in them. With their context the manager would spin, and its caches not be filled any more
// (kubernetes-sigs/controller-runtime#3440). What kill -9 ends does not spin, so such a life is cut off instead: its requests are not answered, and wait. When nobody looks any more, at the end of the run, they are
// answered here, so that the manager gets out of that loop before its context ends.
type cutOff struct {
	w     *world
	over  chan struct{} // closed then; of the bubble
	lives []*life
}

// kill ends a life.
func (c *cutOff) kill(name string, l *life) {
	if !slices.Contains(c.starting(l), l) {
		l.cancel(errCrashed)
		return
	}
	c.add(l)
	c.w.exited(name, l, errCrashed, "")
}

func (c *cutOff) add(l *life) {
	l.cut.Store(true)
	c.lives = append(c.lives, l)
	c.w.exchanges.Drop(l.number, errCrashed)
}

// starting returns those of some lives in which a manager starts. A manager that starts in none of them is nil.
func (c *cutOff) starting(lives ...*life) (found []*life) {
	for _, line := range c.w.bubble.StartingManagers() {
		i := slices.IndexFunc(lives, func(l *life) bool {
			at := l.goroutine.Load()
			return at != nil && slices.Contains(line, *at)
		})
		if i < 0 {
			found = append(found, nil)
		} else if !slices.Contains(found, lives[i]) {
			found = append(found, lives[i])
		}
	}
	return found
}

// startTimeout limits the virtual time that a manager may take to start once its requests are answered. client-go's reflectors wait for up to half a minute until they ask again, and a minute with jitter.
const startTimeout = 2 * time.Minute

// end has managers that start do so, before their contexts end. It does not return if one cannot: then all stay as they are.
func (c *cutOff) end() {
	w := c.w
	lives := slices.Clone(c.lives)
	w.mu.Lock()
	for _, name := range slices.Sorted(maps.Keys(w.processes)) {
		if l := w.processes[name].life; l != nil && !l.cut.Load() {
			lives = append(lives, l)
		}
	}
	w.mu.Unlock()
	starting := c.starting(lives...)
	if len(starting) == 0 {
		return
	}
	for _, l := range lives {
		switch {
		case l.cut.Load():
		case slices.Contains(starting, l):
			c.add(l)
		default:
			l.cancel(errOver)
		}
	}
	w.bubble.Quiesce()
	close(c.over)
	for waited := time.Duration(0); len(starting) > 0; starting = c.starting(lives...) {
		if waited >= startTimeout || slices.Contains(starting, nil) {
			w.ended.Store(true)
			w.bubble.Abandon(nil)
		}
		waited += max(w.bubble.Pass(startTimeout/100), time.Millisecond)
	}
}

// answer is the answer to a request of a life that was cut off, as of a server that has no objects.
func (c *cutOff) answer(hr *http.Request) (*http.Response, error) {
	select {
	case <-c.over:
	case <-hr.Context().Done():
		return nil, hr.Context().Err()
	}
	q := hr.URL.Query()
	switch {
	case exchange.IsDocument(hr.URL.Path), hr.Method != http.MethodGet, !isCollection(hr.URL.Path):
		return nil, errCrashed
	case q.Get("watch") == "" || q.Get("watch") == "false":
		return wholeJSON(hr, http.StatusOK, `{"metadata":{"resourceVersion":"1"},"items":[]}`), nil
	case q.Get("sendInitialEvents") != "": // the client lists in its place
		return wholeJSON(hr, http.StatusUnprocessableEntity, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"`+string(metav1.StatusReasonInvalid)+`","code":422}`), nil
	}
	resp := wholeJSON(hr, http.StatusOK, "")
	out, in := io.Pipe()
	context.AfterFunc(hr.Context(), func() { in.CloseWithError(errCrashed) })
	context.AfterFunc(c.w.ctx, func() { in.CloseWithError(errOver) })
	resp.ContentLength, resp.Body = -1, out
	return resp, nil
}

func wholeJSON(hr *http.Request, code int, body string) *http.Response {
	return exchange.Whole(hr, code, http.Header{"Content-Type": {"application/json"}}, []byte(body))
}

// isCollection reports whether a path is of all objects of a resource, everywhere or in a namespace.
func isCollection(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "apis" {
		parts = parts[1:]
	}
	parts = parts[min(2, len(parts)):]
	return len(parts) == 1 || len(parts) == 3 && parts[0] == "namespaces"
}
