package world

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/discovery"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wire"
)

// Manager is a process in which Kubernetes' own controllers run, in a bubble for each run. It speaks a part of the protocol of tests, without a greeting:
// Begin and End, Do and Report, which also says when a timer may fire, and the query for documents.
type Manager struct {
	In    io.Reader // what it says
	Out   io.Writer // what it is told
	Close func()    // ends it
}

// managers keeps the process with Kubernetes' controllers from one run to the next.
type managers struct {
	start func() (*Manager, error)
	host  *Manager
	peer  *peer
}

// get returns the process, which it starts if there is none.
func (m *managers) get() (*peer, error) {
	if m.peer != nil && m.peer.gone != nil {
		m.close()
	}
	if m.peer == nil {
		var err error
		if m.host, err = m.start(); err != nil {
			return nil, fmt.Errorf("Options.Controllers: %w", err)
		}
		m.peer = &peer{in: bufio.NewReaderSize(m.host.In, bufferSize), out: m.host.Out, of: "Kubernetes' controllers"}
	}
	return m.peer, nil
}

// close ends the process, if there is one.
func (m *managers) close() {
	if m.peer != nil {
		m.host.Close()
		m.host, m.peer = nil, nil
	}
}

// manager is the bubble of a run with Kubernetes' controllers. They are part of the cluster: no fault is picked for their requests, and they never crash.
// Everything else is as in the test's bubble: a request arrives, is served and is answered in steps of its own.
type manager struct {
	link
	names  []string
	next   time.Duration        // no timer fires earlier
	exempt map[sim.ActorID]bool // their clients
}

// newManager has the process begin a bubble.
func newManager(w *world, p *peer, names []string, interleaved bool) *manager {
	m := &manager{link: newLink(w, p), names: names, next: math.MaxInt64, exempt: map[sim.ActorID]bool{}}
	p.send(wire.New(wire.Begin).Num(int64(w.seed)).Flag(interleaved).Text(discovery.Version.GitVersion).Text(managerPrefix).JSON(names))
	return m
}

// managerPrefix is that of the names of the controllers' clients.
const managerPrefix = "kube-controller-manager/"

// start starts the controllers. Their first requests wait for a step.
func (m *manager) start() {
	if m == nil {
		return
	}
	m.do(wire.DoStart)
	m.rest()
}

// rest carries out what was gathered, and waits until nothing moves any more.
func (m *manager) rest() {
	if m != nil && m.actions.Len() > 0 {
		m.trip(0, 0)
	}
}

// pass lets exactly d pass, which is at most next. It reports whether something has happened.
func (m *manager) pass(d time.Duration) (happened bool) { return m.trip(wire.Pass, d) }

func (m *manager) trip(flags byte, d time.Duration) (happened bool) {
	m.peer.send(wire.New(wire.Do).Byte(flags).Duration(d).Append(&m.actions))
	m.actions.Reset()
	for {
		r := m.peer.receive()
		switch {
		case r == nil:
			m.w.kernel.Fail(errManagerGone)
			return false
		case r.Kind == wire.Query && r.Byte() == wire.QueryDocument:
			p := wire.New(wire.Answer)
			m.document(r, p)
			m.peer.send(p)
		case r.Kind == wire.Report:
			m.elapsed, m.next = r.Duration(), r.Duration()
			for happened = r.More(); r.More(); {
				m.event(r)
			}
			if r.Err() != nil {
				m.peer.broken(r.Err())
				m.w.kernel.Fail(m.peer.gone)
			}
			return happened
		default:
			m.peer.broken(fmt.Errorf("a message of kind %q instead of a report", r.Kind))
			m.w.kernel.Fail(m.peer.gone)
			return false
		}
	}
}

// event takes in what has happened in the bubble.
func (m *manager) event(r *wire.Message) {
	switch kind := r.Byte(); kind {
	case wire.EventRequest:
		if q := m.requested(r); q != nil {
			m.know(q.client)
		}
	case wire.EventCancel:
		m.canceled(r)
	case wire.EventExit:
		m.w.kernel.Fail(fmt.Errorf("Options.Controllers: Kubernetes' controllers do not start: %s", r.Text()))
	default:
		r.Broken(fmt.Errorf("event %q is not known", kind))
	}
}

// know connects a client when it makes its first request.
func (m *manager) know(client string) {
	if cl := m.w.cluster.Client(client); cl != nil && m.exempt[cl.Actor()] {
		return
	}
	m.w.cluster.Connect(client, fakeapiserver.ByChoice())
	m.exempt[m.w.cluster.Client(client).Actor()] = true
}

// has reports whether a client is one of the controllers'.
func (m *manager) has(client sim.ActorID) bool { return m != nil && m.exempt[client] }

// end ends the bubble. What is left in it does no harm to the next one.
func (m *manager) end() {
	if m == nil || m.peer.gone != nil {
		return
	}
	m.peer.send(wire.New(wire.End))
	for {
		r := m.peer.receive()
		switch {
		case r == nil || r.Kind == wire.Ended:
			return
		case r.Kind == wire.Query:
			m.peer.send(wire.New(wire.Answer).Error(errOver))
		default:
			m.peer.broken(errors.New("a message of another kind instead of the bubble's end"))
			return
		}
	}
}

// lost reports whether there are controllers whose process has ended.
func (m *manager) lost() bool { return m != nil && m.peer.gone != nil }
