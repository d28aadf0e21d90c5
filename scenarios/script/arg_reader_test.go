package script

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestArgReaderValues(t *testing.T) {
	c := mustParse(t, `fault i1 2s watch=410 p=0.25 n=-3 queue=delta on=true back=-1s handlers=h1,h2 {"a":1}`).Commands()[0]
	r := NewArgReader(c, "")
	got := []any{
		r.Next("informer").Value, r.NextDuration("delay"), r.OneOf("watch", "", "410", "eof"), r.Float("p", 0, 0, 1), r.Int("n", 0, -5, 5),
		r.String("queue", "x"), r.Bool("on", false), r.SignedDuration("back", 0), r.List("handlers"), string(r.Payload()),
		r.Duration("every", time.Minute), r.Int64("rv", 7, 1, 9), r.Bool("off", true),
	}
	want := []any{
		"i1", 2 * time.Second, "410", 0.25, -3,
		"delta", true, -time.Second, []string{"h1", "h2"}, `{"a":1}`,
		time.Minute, int64(7), true,
	}
	if err := r.Done(); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestArgReaderErrors(t *testing.T) {
	tests := []struct {
		src  string
		read func(*ArgReader)
		want string
	}{
		{"advance", func(r *ArgReader) { r.NextDuration("duration") }, "x.sim:1:1: advance: the duration is missing; usage: U"},
		{"advance 2", func(r *ArgReader) { r.NextDuration("duration") }, `x.sim:1:9: the argument: "2" is not a duration; give the unit, like 2s`},
		{"advance 2x", func(r *ArgReader) { r.NextDuration("duration") }, `x.sim:1:9: the argument: "2x" is not a duration; write it like 250ms, 2s or 1m30s`},
		{"advance -2s", func(r *ArgReader) { r.NextDuration("duration") }, `x.sim:1:9: the argument: the duration -2s is negative; use 0s or more`},
		{"a n=x", func(r *ArgReader) { r.Int("n", 1, 1, 64) }, `x.sim:1:3: n: "x" is not an integer; write a whole number like 12`},
		{"a n=65", func(r *ArgReader) { r.Int("n", 1, 1, 64) }, `x.sim:1:3: n: "65" is out of range; use 1 to 64`},
		{"a n=99999999999999999999", func(r *ArgReader) { r.Int64("n", 1, 1, 1<<63-1) }, `x.sim:1:3: n: "99999999999999999999" is out of range; use 1 or more`},
		{"a p=nan", func(r *ArgReader) { r.Float("p", 0, 0, 1) }, `x.sim:1:3: p: "nan" is not a number; write a number like 0.25`},
		{"a p=2", func(r *ArgReader) { r.Float("p", 0, 0, 1) }, `x.sim:1:3: p: "2" is out of range; use 0 to 1`},
		{"a b=yes", func(r *ArgReader) { r.Bool("b", false) }, `x.sim:1:3: b: "yes" is neither true nor false; use true or false`},
		{"a q=dleta", func(r *ArgReader) { r.OneOf("q", "", "real", "delta") }, `x.sim:1:3: q: unknown value "dleta"; did you mean "delta"?`},
		{"a q=zzz", func(r *ArgReader) { r.OneOf("q", "", "real", "delta") }, `x.sim:1:3: q: unknown value "zzz"; use one of real, delta`},
		{"a h=a,,b", func(r *ArgReader) { r.List("h") }, `x.sim:1:3: h: the list "a,,b" has an empty part; write it like a,b,c`},
		{"a h=a,a", func(r *ArgReader) { r.List("h") }, `x.sim:1:3: h: the list has "a" twice; name it once`},
		{"a k=1 k=2", func(r *ArgReader) { r.String("k", "") }, "x.sim:1:7: a: k= is given twice; give it once"},
		{"a repicas=1", func(r *ArgReader) { r.Int("replicas", 1, 1, 9) }, `x.sim:1:3: a: unknown key repicas=; did you mean "replicas"?`},
		{"a zzz=1", func(r *ArgReader) { r.Int("replicas", 1, 1, 9) }, `x.sim:1:3: a: unknown key zzz=; usage: U`},
		{"a b c", func(r *ArgReader) { r.Next("x") }, `x.sim:1:5: a: unexpected argument "c"; usage: U`},
		{"a b c", func(r *ArgReader) { r.Positional(1) }, "x.sim:1:5: a: got 2 arguments, want 1; usage: U"},
		{"a", func(r *ArgReader) { r.Rest("objects", 2) }, "x.sim:1:1: a: got 0 objects, want at least 2; usage: U"},
		{"a", func(r *ArgReader) { r.Require("k") }, "x.sim:1:1: a: k= is missing; usage: U"},
		{"a {}", func(r *ArgReader) {}, "x.sim:1:3: a takes no payload; usage: U"},
	}
	for _, tt := range tests {
		r := NewArgReader(mustParse(t, tt.src).Commands()[0], "U")
		tt.read(r)
		err := r.Done()
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s:\ngot  %v\nwant %s", tt.src, err, tt.want)
		}
		var one *Error
		if !errors.As(err, &one) || one.Pos.Line != 1 {
			t.Errorf("%s: no *Error in %v", tt.src, err)
		}
	}
}

func TestUnknownCommandAndJoin(t *testing.T) {
	c := mustParse(t, "setle").Commands()[0]
	unknown := UnknownCommand(c, []string{"advance", "settle"})
	if got, want := unknown.Error(), `x.sim:1:1: unknown command "setle"; did you mean "settle"?`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := Join(nil, nil); err != nil {
		t.Errorf("Join of nothing: %v", err)
	}
	err := Join(unknown, nil, Errors{Errorf(Pos{}, "", "b")}, errors.New("c"))
	if got := strings.Split(err.Error(), "\n"); len(got) != 3 || got[1] != "b" || got[2] != "c" {
		t.Errorf("joined %q", got)
	}
}

func TestSuggest(t *testing.T) {
	choices := []string{"cluster", "create", "settle", "informer"}
	for word, want := range map[string]string{
		"clutser": "cluster", "Create": "create", "inf": "informer", "xyz": "", "": "", "se": "", "settles": "settle", "creat": "create",
	} {
		if got := Suggest(word, choices); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", word, got, want)
		}
	}
}
