package beside

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/bubble/exchange"
	"github.com/informersim/informersim/internal/controllermanager/basic"
	"github.com/informersim/informersim/world/wire"
)

// run is one bubble.
type run struct {
	e       *engine
	release string
	seed    uint64
	names   []string
	prefix  string // of the controllers' clients in traces, which tells them from a test's

	bubble *bubble.Bubble
	table  *exchange.Table
	start  time.Time
	ctx    context.Context
	cancel context.CancelFunc
	lost   error // why the engine cannot be talked to

	mu     sync.Mutex
	events []func(*wire.Packet)
}

// loop is the bubble's main goroutine: the engine says what to do, and is told what came of it. Reading from the pipe is no durable wait: time
// stands still meanwhile.
func (r *run) loop() {
	r.start = time.Now()
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.table = exchange.NewTable(r.event)
	if r.bubble, r.lost = bubble.Enter(0); r.lost != nil {
		return
	}
	for {
		m, err := wire.Receive(r.e.in)
		if err != nil {
			r.lost = err
			break
		}
		if m.Kind == wire.End {
			break
		}
		if m.Kind != wire.Do {
			r.lost = fmt.Errorf("the engine sends a message of kind %q during a run", m.Kind)
			break
		}
		report, err := r.do(m)
		if err == nil {
			err = report.Send(r.e.out)
		}
		if err != nil {
			r.lost = err
			break
		}
	}
	r.end()
}

// do carries out what the engine says and returns what came of it.
func (r *run) do(m *wire.Message) (*wire.Packet, error) {
	flags, d := m.Byte(), m.Duration()
	for m.More() {
		switch kind := m.Byte(); kind {
		case wire.DoStart:
			go r.manage()
		case wire.DoAnswer, wire.DoOpen, wire.DoFrame, wire.DoClose:
			r.table.Take(kind, m)
		default:
			m.Broken(fmt.Errorf("action %q is not known", kind))
		}
	}
	if m.Err() != nil {
		return nil, m.Err()
	}
	if flags&wire.Pass != 0 {
		r.bubble.Pass(d)
	} else {
		r.bubble.Quiesce()
	}
	p := wire.New(wire.Report).Duration(time.Since(r.start)).Duration(r.bubble.Next())
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.events {
		f(p)
	}
	clear(r.events)
	r.events = r.events[:0]
	return p, nil
}

// event notes something for the next report. Any goroutine in the bubble may call it.
func (r *run) event(f func(*wire.Packet)) {
	r.mu.Lock()
	r.events = append(r.events, f)
	r.mu.Unlock()
	r.bubble.Note()
}

// manage runs the controllers until the run ends.
func (r *run) manage() {
	m, err := basic.Start(basic.Options{Names: r.names, Table: basic.Table, Version: r.release, Transport: func(client string) http.RoundTripper {
		return &tripper{r: r, client: r.prefix + client}
	}})
	if err != nil {
		r.event(func(p *wire.Packet) { p.Byte(wire.EventExit).Text(err.Error()) })
		return
	}
	<-r.ctx.Done()
	m.Stop()
}

// shutdownTimeout limits the virtual time that goroutines may take to end after a run.
const shutdownTimeout = 10 * time.Minute

// end stops every goroutine in the bubble. Those that do not stop are frozen where they are.
func (r *run) end() {
	r.cancel()
	r.bubble.Quiesce()
	for waited := time.Duration(0); len(r.bubble.Goroutines()) > 0; {
		if waited >= shutdownTimeout {
			r.bubble.Abandon(nil)
		}
		waited += max(r.bubble.Pass(shutdownTimeout/8), time.Millisecond)
	}
}

// tripper is the http.RoundTripper of one client.
type tripper struct {
	r      *run
	client string
}

var errOver = errors.New("the run is over")

// RoundTrip implements http.RoundTripper.
func (t *tripper) RoundTrip(hr *http.Request) (*http.Response, error) {
	if t.r.ctx.Err() != nil {
		return nil, errOver
	}
	if exchange.IsDocument(hr.URL.Path) {
		return t.document(hr)
	}
	return t.r.table.RoundTrip(hr, exchange.Sender{Client: t.client, Life: t.r.ctx})
}

func (t *tripper) document(hr *http.Request) (*http.Response, error) {
	m, err := t.r.e.ask(wire.New(wire.Query).Byte(wire.QueryDocument).Text(hr.Method).Text(hr.URL.String()).Header(hr.Header))
	if err != nil {
		return nil, err
	}
	code, h, body := int(m.Num()), m.Header(), m.Bytes()
	return exchange.Whole(hr, code, h, body), m.Err()
}
