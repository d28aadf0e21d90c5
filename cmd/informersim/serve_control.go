package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/informersim/informersim/fakeapiserver"
)

// controlHandler steers a served world.
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
	mux.HandleFunc("POST /compact", w.steer(func(r *http.Request) error {
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
			return fmt.Errorf("cache=%s means nothing: use cache=keep or leave it out", cache)
		}
	}))
	mux.HandleFunc("POST /restart", w.steer(func(r *http.Request) error {
		i, err := intParam(r, "replica", 0)
		if err != nil {
			return err
		}
		return w.cluster.Inject(fakeapiserver.Fault{Kind: fakeapiserver.ReplicaRestart, Target: fmt.Sprintf("replica/%d", i)})
	}))
	mux.HandleFunc("POST /restore", w.steer(func(r *http.Request) error {
		if !r.URL.Query().Has("rev") {
			return errors.New("rev= is missing: the revision to go back to")
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
	mux.HandleFunc("POST /fault", w.steer(func(r *http.Request) error {
		var f fakeapiserver.Fault
		d := json.NewDecoder(io.LimitReader(r.Body, 1<<20))
		d.DisallowUnknownFields()
		if err := d.Decode(&f); err != nil {
			return fmt.Errorf("the body is not a fault as JSON: %w", err)
		}
		return w.cluster.Inject(f)
	}))
	return mux
}

// steer runs an operation inside a step and answers with the revision after it, or 400 with what was wrong.
func (w *served) steer(op func(*http.Request) error) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		done := errors.New("the server has stopped")
		var rev int64
		w.pump.Do(func() {
			done = errors.Join(op(r), w.sync())
			rev = w.cluster.Store().Revision()
		})
		if done != nil {
			http.Error(rw, done.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintln(rw, rev)
	}
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
