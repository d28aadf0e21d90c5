package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	kjson "sigs.k8s.io/json"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
)

// readFault reads the one fault of a body.
func readFault(body []byte) (fault.Fault, error) {
	var f fault.Fault
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(&f); errors.Is(err, io.EOF) {
		return f, errors.New(`there is no body: send a fault as JSON, like {"kind":"watch-410"}`)
	} else if err != nil {
		return f, fmt.Errorf("the body is not a fault as JSON: %w", err)
	}
	if rest := bytes.TrimSpace(body[d.InputOffset():]); len(rest) > 0 {
		return f, fmt.Errorf("there is something after the fault, from %.40q: send one fault per request", rest)
	}
	var fields map[string]any
	if repeated, err := kjson.UnmarshalStrict(body, &fields); err != nil {
		return f, fmt.Errorf("the body is not a fault as JSON: %w", err)
	} else if len(repeated) > 0 {
		return f, fmt.Errorf("the body is not a fault as JSON: %w", errors.Join(repeated...))
	}
	if f.Count < 0 {
		return f, fmt.Errorf("fault %s: count is %d: it must not be negative", f.Kind, f.Count)
	}
	return f, nil
}

// inject orders a fault whose times count from now, of a client that may be yet to come.
func (w *served) inject(f fault.Fault) error {
	if err := f.Validate(); err != nil {
		return err
	}
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

// listedFault is a fault of GET /faults.
type listedFault struct {
	ID    int         `json:"id,omitempty"`
	State string      `json:"state"`
	Left  int         `json:"left,omitempty"`
	Fault fault.Fault `json:"fault"`
}

func (w *served) listFaults(rw http.ResponseWriter, r *http.Request) {
	if _, err := readQuery(r, nil); err != nil {
		refuse(rw, err)
		return
	}
	var ordered []fakeapiserver.OrderedFault
	var now time.Duration
	// A step of its own: time stands still while nothing happens.
	w.pump.Do(func() { ordered, now = w.cluster.Faults(), w.kernel.Elapsed() })
	list := make([]any, 0, len(ordered))
	for _, o := range ordered {
		// As they were ordered, times count from now.
		if o.Fault.From = max(o.Fault.From-now, 0); o.State == fakeapiserver.FaultArmed {
			o.Fault.From = 0
		}
		if o.Fault.Until > 0 {
			o.Fault.Until = max(o.Fault.Until-now, 1)
		}
		list = append(list, listedFault{ID: o.ID, State: o.State, Left: o.Left, Fault: o.Fault})
	}
	writeList(rw, list)
}

// withdrawFault takes back the fault of the path.
func (w *served) withdrawFault(o *order) error {
	id, err := strconv.Atoi(o.id)
	if err != nil || id < 1 {
		return fmt.Errorf("%q is not the id of a fault: GET /faults lists them", o.id)
	}
	if !w.cluster.WithdrawFault(id) {
		return codedError{fmt.Errorf("no fault %d is waiting: it has happened, was withdrawn, or never was; GET /faults lists those that wait", id), http.StatusNotFound}
	}
	return nil
}

// writeList answers with a JSON array, an element per line.
func writeList(rw http.ResponseWriter, list []any) {
	var b bytes.Buffer
	b.WriteString("[")
	for i, element := range list {
		if i > 0 {
			b.WriteString(",")
		}
		line, err := json.Marshal(element)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusInternalServerError)
			return
		}
		b.WriteString("\n")
		b.Write(line)
	}
	b.WriteString("\n]\n")
	rw.Header().Set("Content-Type", "application/json")
	_, _ = rw.Write(b.Bytes()) // a client that is gone needs no answer
}
