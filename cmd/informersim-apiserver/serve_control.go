package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

// controlHandler serves the control endpoints.
func (w *served) controlHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /revision", func(rw http.ResponseWriter, _ *http.Request) {
		var rev int64
		var err error
		w.pump.Look(func() { rev, err = w.cluster.Store().Revision(), w.sync() })
		if err != nil {
			http.Error(rw, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(rw, rev)
	})
	mux.HandleFunc("POST /compact", w.steer([]string{"rev", "cache"}, func(r *http.Request) error {
		rev, err := intParam(r, "rev", 0)
		if err != nil {
			return err
		}
		switch cache := r.URL.Query().Get("cache"); cache {
		case "":
			return w.cluster.Compact(rev)
		case "keep":
			return w.cluster.CompactStore(rev)
		default:
			return fmt.Errorf("cache=%s is unknown: use cache=keep or leave it out", cache)
		}
	}))
	mux.HandleFunc("POST /restart", w.steer([]string{"replica"}, func(r *http.Request) error {
		i, err := intParam(r, "replica", 0)
		if err != nil {
			return err
		}
		return w.cluster.Inject(fault.Fault{Kind: fault.ReplicaRestart, Target: fmt.Sprintf("replica/%d", i)})
	}))
	mux.HandleFunc("POST /restore", w.steer([]string{"rev", "bump"}, func(r *http.Request) error {
		if !r.URL.Query().Has("rev") {
			return errors.New("rev= is missing: give the revision to restore")
		}
		rev, err := intParam(r, "rev", 0)
		if err != nil {
			return err
		}
		bump, err := intParam(r, "bump", 0)
		if err != nil {
			return err
		}
		return w.cluster.Restore(rev, bump)
	}))
	mux.HandleFunc("POST /fault", w.steer(nil, func(r *http.Request) error {
		var f fault.Fault
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		if err := d.Decode(&f); errors.Is(err, io.EOF) {
			return errors.New(`the body is empty: send a fault as JSON, like {"kind":"watch-410"}`)
		} else if err != nil {
			return fmt.Errorf("the body is not a fault as JSON: %w", err)
		}
		return w.inject(f)
	}))
	return mux
}

// maxSteering limits the body of a control request, in bytes.
const maxSteering = 1 << 20

// steer runs an operation inside a step and answers with the revision after it, or 400 with the error. It reads the request
// first, so that a slow sender does not block the server.
func (w *served) steer(params []string, op func(*http.Request) error) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxSteering))
		if err == nil {
			err = onlyParams(r, params)
		}
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		done, saved := errors.New("the server has stopped"), error(nil)
		var rev int64
		w.pump.Do(func() {
			done = op(r)
			saved = w.sync()
			rev = w.cluster.Store().Revision()
		})
		switch {
		case done != nil:
			http.Error(rw, done.Error(), http.StatusBadRequest)
		case saved != nil:
			http.Error(rw, saved.Error(), http.StatusInternalServerError)
		default:
			fmt.Fprintln(rw, rev)
		}
	}
}

// onlyParams refuses unknown query parameters.
func onlyParams(r *http.Request, known []string) error {
	for _, name := range slices.Sorted(maps.Keys(r.URL.Query())) {
		if !slices.Contains(known, name) {
			if len(known) == 0 {
				return fmt.Errorf("there is no parameter %q: this endpoint takes none", name)
			}
			return fmt.Errorf("there is no parameter %q: there are %s", name, strings.Join(known, " and "))
		}
	}
	return nil
}

// inject injects a fault whose times count from now. Its client need not have sent a request yet.
func (w *served) inject(f fault.Fault) error {
	now := w.kernel.Elapsed()
	if f.From > 0 {
		f.From += now
	}
	if f.Until > 0 {
		f.Until += now
	}
	if name := strings.TrimPrefix(f.Target, "conn/"); f.Target != "" && w.cluster.Client(name) == nil && w.clients.of(name) != "" {
		w.cluster.Connect(name, w.policy)
	}
	return w.cluster.Inject(f)
}

func intParam(r *http.Request, name string, def int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return def, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s=%q is not a number", name, text)
	}
	return n, nil
}
