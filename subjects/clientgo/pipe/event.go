package pipe

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/subjects/clientgo/gates"
	"github.com/informersim/informersim/world/wire"
)

// addEvent adds an event to a report.
func (t *guestObjects) addEvent(p *wire.Packet, e *gates.Event) {
	p.Byte(byte(e.What)).Num(int64(e.Of))
	switch e.What {
	case gates.Queued, gates.Waits, gates.Length:
		p.Num(e.N)
	case gates.Canceled, gates.Unread:
		p.Num(e.ID)
	case gates.Parked:
		p.Num(e.ID).Flag(e.Flag).JSON(e.Options)
	case gates.Ready, gates.Blocked:
		p.Text(e.Key)
	case gates.Touched, gates.Holds:
		p.Text(e.Key)
		t.add(p, e.Obj)
	case gates.HandlerSynced:
		p.Num(int64(e.Sub))
	case gates.Called, gates.PassedBy, gates.Late:
		p.Num(int64(e.Sub)).Byte(byte(e.Call)).Text(e.Key).Flag(e.Flag)
		t.add(p, e.Obj)
		t.add(p, e.Old)
		if e.Flag {
			p.Num(e.N).Num(e.ID)
		}
		addPassed(p, e.Passed)
	case gates.Worker:
		p.Num(int64(e.Sub)).Flag(e.Flag).Num(e.N).Text(e.Key).Num(e.ID)
	}
}

// ReadEvent reads an event of a report.
func (t *Objects) ReadEvent(m *wire.Message) gates.Event {
	e := gates.Event{What: gates.What(m.Byte()), Of: int(m.Num())}
	switch e.What {
	case gates.Queued, gates.Waits, gates.Length:
		e.N = m.Num()
	case gates.Canceled, gates.Unread:
		e.ID = m.Num()
	case gates.Parked:
		e.ID, e.Flag, e.Options = m.Num(), m.Flag(), &metav1.ListOptions{}
		m.JSON(e.Options)
	case gates.Ready, gates.Blocked:
		e.Key = m.Text()
	case gates.Touched, gates.Holds:
		e.Key = m.Text()
		e.Obj = t.Read(m)
	case gates.HandlerSynced:
		e.Sub = int(m.Num())
	case gates.Called, gates.PassedBy, gates.Late:
		e.Sub, e.Call, e.Key, e.Flag = int(m.Num()), gates.Call(m.Byte()), m.Text(), m.Flag()
		e.Obj = t.Read(m)
		e.Old = t.Read(m)
		if e.Flag {
			e.N, e.ID = m.Num(), m.Num()
		}
		e.Passed = readPassed(m)
	case gates.Worker:
		e.Sub, e.Flag, e.N, e.Key, e.ID = int(m.Num()), m.Flag(), m.Num(), m.Text(), m.Num()
	}
	return e
}

// addPassed adds what a filter has let through.
func addPassed(p *wire.Packet, of *gates.Passed) {
	if p.Flag(of != nil); of == nil {
		return
	}
	p.Num(int64(of.N))
	for _, c := range of.Calls[:max(min(of.N, len(of.Calls)), 0)] {
		p.Byte(byte(c.Call)).Num(c.RV).Num(c.Old)
	}
}

func readPassed(m *wire.Message) *gates.Passed {
	if !m.Flag() {
		return nil
	}
	into := &gates.Passed{N: int(m.Num())}
	for n := range max(min(into.N, len(into.Calls)), 0) {
		into.Calls[n] = gates.PassedCall{Call: gates.Call(m.Byte()), RV: m.Num(), Old: m.Num()}
	}
	return into
}
