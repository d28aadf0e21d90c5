package world

import (
	"net/http"
	"strings"
	"testing"

	"github.com/informersim/informersim/world/wire"
)

// written is what the engine replies of one write.
type written struct {
	err, reason, object string
}

// writtenOf reads the replies of a Do, and nothing else.
func writtenOf(t *testing.T, do []action, writes int) (all []written) {
	t.Helper()
	// A message's field that was added with Field is read back as its bytes.
	m, err := wire.Receive(strings.NewReader(message(has(do, wire.DoReply).text)))
	if err != nil {
		t.Fatal(err)
	}
	for len(all) < writes && m.More() {
		w := written{}
		if err := m.Error(); err != nil {
			w.err = err.Error()
		}
		w.reason, w.object = m.Text(), m.Text()
		all = append(all, w)
	}
	if m.Err() != nil || m.More() {
		t.Errorf("the reply has %v, error %v, and more follows: %v", all, m.Err(), m.More())
	}
	return all
}

// message makes a message of fields.
func message(fields string) string {
	n := len(fields) + 1
	return string([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24), wire.Report}) + fields
}

// The writes of one ask are made in their order, up to the first that is refused, whose reason the test is told.
func TestWritesEndAtTheFirstRefusal(t *testing.T) {
	f, _ := startServe(t, sameVersion)
	create := write(wire.Write{Call: "env.Create", Method: http.MethodPost, APIVersion: "v1", Kind: "ConfigMap", Name: "a", Object: configMap("a")})
	other := write(wire.Write{Call: "env.Create", Method: http.MethodPost, APIVersion: "v1", Kind: "ConfigMap", Name: "b", Object: configMap("b")})
	replaceB := write(wire.Write{Call: "env.Update", Method: http.MethodPut, APIVersion: "v1", Kind: "ConfigMap", Name: "b", Object: configMap("b")})
	apply := write(wire.Write{Call: "env.Apply", OrCreate: true, APIVersion: "v1", Kind: "ConfigMap", Name: "b", Object: configMap("b")})
	asks := script(askFor(wire.AskWrite, 0, create, create, other), askFor(wire.AskWrite, 0, replaceB), askFor(wire.AskWrite, 0, apply, replaceB, apply))
	var replies [][]written
	f.next = func(do []action) []*wire.Packet {
		if has(do, wire.DoReply) != nil {
			replies = append(replies, writtenOf(t, do, 3))
		}
		return asks(do)
	}
	if res := f.job(newTask()); res.Failure != "" {
		t.Fatal(res.Failure)
	}
	if len(replies) != 3 || len(replies[0]) != 2 || len(replies[1]) != 1 || len(replies[2]) != 3 {
		t.Fatalf("the replies are %q", replies)
	}
	if ok := replies[0][0]; ok.err != "" || !strings.Contains(ok.object, `"uid":"`) {
		t.Errorf("the first write is answered with %q", ok)
	}
	if no := replies[0][1]; no.err != `configmaps default/a: 409 AlreadyExists: configmaps "a" already exists` || no.reason != "AlreadyExists" || no.object != "" {
		t.Errorf("the second write is answered with %q", no)
	}
	if no := replies[1][0]; no.err != `configmaps default/b: configmaps "b" not found: env.Update replaces what exists; env.Create creates` || no.reason != "" {
		t.Errorf("the write over nothing is answered with %q", no)
	}
	for n, w := range replies[2] {
		if w.err != "" || !strings.Contains(w.object, `"name":"b"`) {
			t.Errorf("write %d is answered with %q", n, w)
		}
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}
