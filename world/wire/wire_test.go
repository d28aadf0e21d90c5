package wire

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestFieldsCross(t *testing.T) {
	h := http.Header{"B": {"1", "2"}, "A": {""}}
	inner := (&Packet{}).Text("in").Num(-1)
	p := New(Do).Byte(7).Num(-5).Num(1 << 62).Duration(time.Hour).Flag(true).Flag(false).Text("tëxt").Bytes([]byte{0, 1}).Header(h).Field(inner).Append(inner).JSON(Property{Name: "n"})
	var pipe bytes.Buffer
	if err := p.Send(&pipe); err != nil {
		t.Fatal(err)
	}
	m, err := Receive(&pipe)
	if err != nil || m.Kind != Do || !m.More() {
		t.Fatalf("%v, %v", m, err)
	}
	got := []any{m.Byte(), m.Num(), m.Num(), m.Duration(), m.Flag(), m.Flag(), m.Text(), string(m.Bytes())}
	if want := []any{byte(7), int64(-5), int64(1 << 62), time.Hour, true, false, "tëxt", "\x00\x01"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := m.Header(); !reflect.DeepEqual(got, h) {
		t.Errorf("the header is %v", got)
	}
	if f := m.Field(); f.Text() != "in" || f.Num() != -1 || f.More() || f.Err() != nil {
		t.Errorf("the field: %v", f.Err())
	}
	var w Property
	if m.Text() != "in" || m.Num() != -1 {
		t.Error("an appended packet is lost")
	}
	if m.JSON(&w); w.Name != "n" || m.More() || m.Err() != nil {
		t.Errorf("%+v, %v", w, m.Err())
	}
	if m.Num(); m.Err() == nil || m.More() {
		t.Error("reading past the end is no mistake")
	}
	if _, err := Receive(&pipe); err != io.EOF {
		t.Errorf("after the last message: %v", err)
	}
}

func TestWritesAreWords(t *testing.T) {
	want := Write{"call", "PUT", "v1", "Kind", "ns", "n\x00ame", "status", "type", "query", []byte("{}\xff"), true}
	if got, err := ReadWrite(want.Word()); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if w, err := ReadWrite("no write"); err == nil {
		t.Errorf("what is none becomes %+v", w)
	}
}

// client-go tells by their types how connections break.
func TestErrorsCross(t *testing.T) {
	over := func(err error) error {
		m := &Message{b: (&Packet{}).Error(err).b}
		return m.Error()
	}
	if over(nil) != nil || over(io.ErrUnexpectedEOF) != io.ErrUnexpectedEOF {
		t.Error("nil or the end of a connection becomes something else")
	}
	if err := over(breaks[1]); !errors.Is(err, syscall.ECONNRESET) || !strings.Contains(err.Error(), "connection reset by peer") {
		t.Errorf("a reset arrives as %v", err)
	}
	if err := over(breaks[2]); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a refusal arrives as %v", err)
	}
	if err := over(errors.New("text")); err == nil || err.Error() != "text" {
		t.Errorf("a text arrives as %v", err)
	}
}

func TestReleases(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"v1.2.3", "v1.2.3"}: true, {"v1.2.3", "v1.2.4"}: false, {Devel, "v1.2.3"}: true, {"v1.2.3", Devel}: true,
		{"v0.0.0-20261122034500-0123456789ab", "v1.2.4-0.20261122034500-0123456789ab"}: true,
		{"v0.0.0-20261122034500-0123456789ab", "v0.0.0-20261122034500-0123456789ac"}:   false,
	} {
		if SameRelease(pair[0], pair[1]) != want {
			t.Errorf("SameRelease(%v) is not %v", pair, want)
		}
	}
}

// Whatever is read, reading ends, with a mistake if it is no message.
func FuzzMessage(f *testing.F) {
	f.Add(New(Do).Byte(1).Num(3).Header(http.Header{"A": {"b"}}).Text("x").b)
	f.Add([]byte{1, 0, 0, 0, 'R'})
	f.Add([]byte{255, 255, 255, 255, 'R'})
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Receive(bytes.NewReader(data))
		if err != nil {
			return
		}
		for m.More() {
			switch m.Byte() % 6 {
			case 0:
				m.Num()
			case 1:
				m.Text()
			case 2:
				m.Header()
			case 3:
				m.Error()
			case 4:
				m.Field()
			case 5:
				m.Flag()
			}
		}
	})
}
