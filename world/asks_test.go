package world

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/world/wire"
)

// query asks the engine something between a Do and its Report.
func (f *fakeTest) query(p *wire.Packet) *wire.Message {
	f.t.Helper()
	f.send(p)
	m := f.receive()
	if m.Kind != wire.Answer {
		f.t.Fatalf("a query is answered with a message of kind %q", m.Kind)
	}
	return m
}

// reply returns the fields of the reply to an ask.
func reply(t *testing.T, do []action) *wire.Message {
	t.Helper()
	m, err := wire.Receive(strings.NewReader(message(has(do, wire.DoReply).text)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The faults that an ask injects are pending until they strike, are taken back by their ids or are stopped; what else is asked is answered by the Store.
func TestPendingFaultsAndKeys(t *testing.T) {
	f, _ := startServe(t, sameVersion)
	create := write(wire.Write{Call: "env.Create", Method: http.MethodPost, APIVersion: "v1", Kind: "ConfigMap", Name: "a", Object: configMap("a")})
	state := func() (s wire.State) {
		m := f.query(wire.New(wire.Query).Byte(wire.QueryState))
		if err := m.Error(); err != nil {
			t.Error(err)
		}
		m.JSON(&s)
		return s
	}
	var ids []int64
	turn := 0
	f.next = func(do []action) []*wire.Packet {
		if has(do, wire.DoBody) == nil && has(do, wire.DoReply) == nil {
			return nothing
		}
		turn++
		switch turn {
		case 1:
			return []*wire.Packet{askFor(wire.AskFaults, 0, `{"kind":"write-500","target":"workload","verb":"delete"}`, `{"kind":"replica-restart"}`, `{"kind":"list-500","count":3}`)}
		case 2:
			m := reply(t, do)
			if err := m.Error(); err != nil {
				t.Error(err)
			}
			for n := m.Num(); n > 0; n-- {
				ids = append(ids, m.Num())
			}
			if s := state(); len(ids) != 2 || len(s.Pending) != 2 || s.Pending[1].Left != 3 || s.Pending[1].State != "armed" || !strings.Contains(string(s.Pending[1].Fault), "list-500") {
				t.Errorf("pending are %v, %+v", ids, s.Pending)
			}
			return []*wire.Packet{askFor(wire.AskWithdraw, 0, "7000", "1", "no number")}
		case 3:
			if s := state(); len(s.Pending) != 1 || s.Pending[0].Left != 3 {
				t.Errorf("after a withdrawal pending are %+v", s.Pending)
			}
			return []*wire.Packet{askFor(wire.AskCrashAfter, 0, "later", `{"event":"commit","client":"workload"}`)}
		case 4:
			if err := reply(t, do).Error(); err != nil {
				t.Error(err)
			}
			return []*wire.Packet{askFor(wire.AskStart, 0, "later")}
		case 5:
			return []*wire.Packet{askFor(wire.AskWrite, 0, create)}
		case 6: // the process was killed in the step of the commit, which counts as a fault
			if s := state(); len(s.Pending) != 1 || s.Revision < 1001 || s.Steps == 0 || s.Faults != 2 {
				t.Errorf("the state is %+v", s)
			}
			m := f.query(wire.New(wire.Query).Byte(wire.QueryKeys).Text("configmaps"))
			if err := m.Error(); err != nil || m.Num() != 1 || m.Text() != "default/a" || m.More() {
				t.Errorf("the keys: %v, %v", err, m.Err())
			}
			if err := f.query(wire.New(wire.Query).Byte(wire.QueryKeys).Text("unicorns")).Error(); err == nil || !strings.Contains(err.Error(), `no resource "unicorns"`) {
				t.Errorf("the keys of unicorns: %v", err)
			}
			if m := f.query(wire.New(wire.Query).Byte(wire.QueryLease).Text("default/a")); m.Error() != nil || m.Text() != "" || m.Err() != nil {
				t.Errorf("a Lease that is not there was written: %v", m.Err())
			}
			return []*wire.Packet{askFor(wire.AskCrashAfter, 0, "later", `{"event":"comit"}`)}
		case 7:
			if err := reply(t, do).Error(); err == nil || !strings.Contains(err.Error(), `no event "comit"`) {
				t.Errorf("an event that there is not: %v", err)
			}
			return []*wire.Packet{askFor(wire.AskStopFaults, 0)}
		case 8:
			if s := state(); len(s.Pending) != 0 {
				t.Errorf("after the faults were stopped pending are %+v", s.Pending)
			}
		}
		return []*wire.Packet{returned()}
	}
	task := newTask()
	task.Options.Mix = "none"
	if res := f.job(task); res.Failure != "" || turn != 8 {
		t.Errorf("turn %d: %s", turn, res.Failure)
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}

// A process crashes in the step in which its client's commit lands, and comes back.
func TestCrashAfterACommit(t *testing.T) {
	f, _ := startServe(t, sameVersion)
	asks := script(askFor(wire.AskCrashAfter, 0, "p", `{"event":"commit"}`), askFor(wire.AskStart, 0, "p"), askFor(wire.AskAdvance, time.Minute))
	var told []string
	f.next = func(do []action) []*wire.Packet {
		events := asks(do)
		for _, a := range do {
			switch a.kind {
			case wire.DoStart:
				told = append(told, "start")
				if a.id == 1 {
					events = append(events, (&wire.Packet{}).Byte(wire.EventRequest).Num(7).Text("p").Num(1).Num(0).Text("POST").Text("http://sim/api/v1/namespaces/default/configmaps").
						Header(http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}).Bytes(configMap("a")))
				}
			case wire.DoKill:
				told = append(told, "kill")
				events = append(events, (&wire.Packet{}).Byte(wire.EventCancel).Num(7), (&wire.Packet{}).Byte(wire.EventExit).Text("p").Num(1).Flag(false).Text("").Text(""))
			case wire.DoAnswer:
				told = append(told, "answer")
			}
		}
		return events
	}
	task := newTask()
	task.Options.Mix = "none"
	if res := f.job(task); res.Failure != "" {
		t.Fatal(res.Failure)
	}
	if got, _ := json.Marshal(told); string(got) != `["start","kill","start"]` {
		t.Errorf("the test was told %s", got)
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}
