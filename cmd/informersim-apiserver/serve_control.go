package main

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/transport"
)

// onlyFor lets in what the guard lets in.
func onlyFor(g *transport.Guard, h http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if refused := g.Check(r); refused != nil {
			message := refused.Message
			if refused.Code == http.StatusUnauthorized {
				message += `: present the token of --token as "Authorization: Bearer TOKEN"`
			}
			http.Error(rw, message, refused.Code)
			return
		}
		h.ServeHTTP(rw, r)
	})
}

// controlHandler serves the control endpoints.
func (w *served) controlHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /revision", w.revision)
	mux.HandleFunc("POST /compact", w.steer([]string{"rev", "cache"}, withoutBody, func(o *order) error {
		rev, err := o.number("rev")
		if err != nil {
			return err
		}
		cache, given, err := o.param("cache")
		switch {
		case err != nil:
			return err
		case !given:
			return w.cluster.Compact(rev)
		case cache == "keep":
			return w.cluster.CompactStore(rev)
		default:
			return fmt.Errorf("cache=%s is unknown: use cache=keep or leave it out", cache)
		}
	}))
	mux.HandleFunc("POST /restart", w.steer([]string{"replica"}, withoutBody, func(o *order) error {
		replica, given, err := o.param("replica")
		switch {
		case err != nil:
			return err
		case !given:
			replica = "0"
		}
		return w.cluster.Inject(fault.Fault{Kind: fault.ReplicaRestart, Target: "replica/" + replica})
	}))
	mux.HandleFunc("POST /restore", w.steer([]string{"rev", "bump"}, withoutBody, func(o *order) error {
		if !o.query.Has("rev") {
			return errors.New("rev= is missing: give the revision to go back to")
		}
		rev, err := o.number("rev")
		if err != nil {
			return err
		}
		bump, err := o.number("bump")
		if err != nil {
			return err
		}
		return w.cluster.Restore(rev, bump)
	}))
	mux.HandleFunc("POST /fault", w.steer(nil, withBody, func(o *order) error {
		f, err := readFault(o.body)
		if err != nil {
			return err
		}
		return w.inject(f)
	}))
	mux.HandleFunc("GET /faults", w.listFaults)
	mux.HandleFunc("DELETE /faults", w.steer(nil, withoutBody, func(*order) error {
		w.cluster.WithdrawFaults()
		return nil
	}))
	mux.HandleFunc("DELETE /faults/{id}", w.steer(nil, withoutBody, w.withdrawFault))
	mux.HandleFunc("GET /clients", w.listClients)
	return mux
}

func (w *served) revision(rw http.ResponseWriter, r *http.Request) {
	if _, err := readQuery(r, nil); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	var rev int64
	var err error
	w.pump.Look(func() { rev, err = w.cluster.Store().Revision(), w.sync() })
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprintln(rw, rev)
}

// steer runs an operation inside a step and answers with the revision after it, or with the error. It reads the request
// first, so that a slow sender holds nobody up.
func (w *served) steer(params []string, wantsBody bool, op func(*order) error) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		o, err := readOrder(rw, r, params, wantsBody)
		if err != nil {
			refuse(rw, err)
			return
		}
		var done error = codedError{errors.New("the server has stopped"), http.StatusServiceUnavailable}
		var saved error
		var rev int64
		w.pump.Do(func() {
			done = op(o)
			saved = w.sync()
			rev = w.cluster.Store().Revision()
		})
		switch {
		case done != nil:
			refuse(rw, done)
		case saved != nil:
			http.Error(rw, saved.Error(), http.StatusInternalServerError)
		default:
			fmt.Fprintln(rw, rev)
		}
	}
}
