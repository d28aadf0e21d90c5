package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// maxSteering limits the body of a control request, in bytes.
const maxSteering = 1 << 20

// Whether a control request has a body.
const (
	withBody    = true
	withoutBody = false
)

// order is a control request that has been read.
type order struct {
	query url.Values
	body  []byte
	id    string // of the path, "" if it has none
}

// codedError is an error whose answer is not 400.
type codedError struct {
	error
	code int
}

// refuse answers with an error.
func refuse(rw http.ResponseWriter, err error) {
	code := http.StatusBadRequest
	var coded codedError
	var refused *store.RefusedError
	switch {
	case errors.As(err, &coded):
		code = coded.code
	case errors.As(err, &refused) && refused.Full:
		code = http.StatusInsufficientStorage
	case errors.As(err, &refused):
		code = http.StatusServiceUnavailable
	}
	http.Error(rw, cli.Plain(err.Error()), code)
}

// readOrder reads a control request. A body must say that it is JSON: a web page can send other types without asking (CORS).
func readOrder(rw http.ResponseWriter, r *http.Request, params []string, wantsBody bool) (*order, error) {
	query, err := readQuery(r, params)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxSteering))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, codedError{fmt.Errorf("the body is too large: %d bytes are the limit", maxSteering), http.StatusRequestEntityTooLarge}
	case err != nil:
		return nil, fmt.Errorf("the body cannot be read: %w", err)
	}
	if len(body) > 0 {
		if err := checkContentType(r.Header.Get("Content-Type")); err != nil {
			return nil, err
		}
		if !wantsBody {
			return nil, fmt.Errorf("%s %s takes no body: send parameters in the query, as in %s", r.Method, r.URL.Path, "/compact?rev=5")
		}
	}
	return &order{query: query, body: body, id: r.PathValue("id")}, nil
}

func checkContentType(given string) error {
	if media, _, err := mime.ParseMediaType(given); err == nil && media == "application/json" {
		return nil
	}
	is := fmt.Sprintf("is %q", given)
	if given == "" {
		is = "is missing"
	}
	return codedError{
		fmt.Errorf("the body's Content-Type %s: send it as application/json (curl --json '…', or -H 'Content-Type: application/json')", is),
		http.StatusUnsupportedMediaType,
	}
}

// readQuery reads the query, and refuses unknown, repeated and unreadable parameters.
func readQuery(r *http.Request, known []string) (url.Values, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("the query %q cannot be read: %w", r.URL.RawQuery, err)
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch {
		case slices.Contains(known, name) && len(query[name]) > 1:
			return nil, fmt.Errorf("the parameter %s is given %d times: give it once", name, len(query[name]))
		case slices.Contains(known, name):
		case len(known) == 0:
			return nil, fmt.Errorf("there is no parameter %q: there are none", name)
		default:
			return nil, fmt.Errorf("there is no parameter %q: there are %s", name, strings.Join(known, " and "))
		}
	}
	return query, nil
}

// param is a parameter that is not empty.
func (o *order) param(name string) (value string, given bool, err error) {
	if !o.query.Has(name) {
		return "", false, nil
	}
	if value = o.query.Get(name); value == "" {
		return "", false, fmt.Errorf("%s= is empty: give it a value or leave it out", name)
	}
	return value, true, nil
}

// number is a parameter that is a number from 0, and 0 if it is left out.
func (o *order) number(name string) (int64, error) {
	text, given, err := o.param(name)
	if !given || err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s=%s is out of range", name, text)
	case err != nil:
		return 0, fmt.Errorf("%s=%q is not a number", name, text)
	case n < 0:
		return 0, fmt.Errorf("%s=%d must not be negative", name, n)
	}
	return n, nil
}
