package script

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// An ArgReader gives the implementation of a command typed access to its arguments. It collects errors instead of returning
// each, so that the code reads like a description of the command; Done returns them, and reports all arguments not read:
//
//	r := script.NewArgReader(c, "advance DURATION [step=DURATION]")
//	d := r.NextDuration("duration")
//	step := r.Duration("step", 0)
//	if err := r.Done(); err != nil { return err }
//
// A value that could not be read is zero or the default; do not use values before Done has returned nil.
type ArgReader struct {
	command    *Command
	usage      string // what the hint of errors about the arguments as a whole names; "" for none
	positional []Arg  // in the command's memory, if they are before those with keys
	keyed      []Arg
	asked      []string  // keys the implementation asked for
	room       [8]string // for asked
	payload    bool      // the payload was asked for
	errs       Errors
}

// NewArgReader returns a reader for the arguments of c. Messages about missing and superfluous arguments end with the usage
// line, such as "advance DURATION".
func NewArgReader(c *Command, usage string) *ArgReader {
	r := &ArgReader{}
	r.Reset(c, usage)
	return r
}

// Reset makes the reader one for the arguments of another command, as NewArgReader does.
func (r *ArgReader) Reset(c *Command, usage string) {
	words := slices.IndexFunc(c.Args, func(a Arg) bool { return a.Key != "" })
	if words < 0 {
		words = len(c.Args)
	}
	*r = ArgReader{command: c, usage: usage, positional: c.Args[:words], keyed: c.Args[words:]}
	r.asked = r.room[:0]
	if !distinct(r.keyed) {
		r.tellApart()
	}
}

// distinct reports that all arguments have keys, each another one.
func distinct(args []Arg) bool {
	for n, a := range args {
		if a.Key == "" || has(args[:n], a.Key) {
			return false
		}
	}
	return true
}

func has(args []Arg, key string) bool {
	return slices.ContainsFunc(args, func(a Arg) bool { return a.Key == key })
}

// tellApart tells apart words and arguments with keys that do not come one after the other, or come twice.
func (r *ArgReader) tellApart() {
	r.positional, r.keyed = nil, nil
	for _, a := range r.command.Args {
		switch {
		case a.Key == "":
			r.positional = append(r.positional, a)
		case has(r.keyed, a.Key):
			r.Fail(Errorf(a.Pos, "give it once", "%s: %s= is given twice", r.command.Name, a.Key))
		default:
			r.keyed = append(r.keyed, a)
		}
	}
}

// hint is that of errors about the arguments as a whole.
func (r *ArgReader) hint() string {
	if r.usage == "" {
		return ""
	}
	return "usage: " + r.usage
}

// Fail adds an error found by the implementation; nil is ignored.
func (r *ArgReader) Fail(err error) { r.errs = appendErrors(r.errs, err) }

// Failed reports whether an error has been found so far.
func (r *ArgReader) Failed() bool { return len(r.errs) > 0 }

// Done returns an Errors with the values that could not be read, and the arguments and payload that the implementation did
// not ask for, or nil if there are none.
func (r *ArgReader) Done() error {
	if len(r.positional) > 0 {
		a := r.positional[0]
		r.Fail(Errorf(a.Pos, r.hint(), "%s: unexpected argument %s", r.command.Name, quoteShort(a.Value)))
		r.positional = nil
	}
	for _, a := range r.keyed {
		if slices.Contains(r.asked, a.Key) {
			continue
		}
		hint := r.hint()
		if near := Suggest(a.Key, r.asked); near != "" {
			hint = `did you mean "` + near + `"?`
		} else if hint == "" && len(r.asked) > 0 {
			hint = "use one of " + strings.Join(r.asked, ", ")
		}
		r.Fail(Errorf(a.Pos, hint, "%s: unknown key %s=", r.command.Name, a.Key))
	}
	r.keyed = nil
	if r.command.Payload != nil && !r.payload {
		r.Fail(Errorf(r.command.PayloadPos, r.hint(), "%s takes no payload", r.command.Name))
		r.payload = true
	}
	if len(r.errs) == 0 {
		return nil
	}
	return r.errs
}

// More returns the number of positional arguments not read yet.
func (r *ArgReader) More() int { return len(r.positional) }

// Next returns the next positional argument, which is required; what names it in the error.
func (r *ArgReader) Next(what string) Arg {
	if len(r.positional) == 0 {
		r.Fail(Errorf(r.command.Pos, r.hint(), "%s: the %s is missing", r.command.Name, what))
		return Arg{Pos: r.command.Pos}
	}
	a := r.positional[0]
	r.positional = r.positional[1:]
	return a
}

// Rest returns the positional arguments not read yet, of which there must be at least atLeast.
func (r *ArgReader) Rest(what string, atLeast int) []Arg {
	if len(r.positional) < atLeast {
		r.Fail(Errorf(r.command.Pos, r.hint(), "%s: got %[4]d %[3]s, want at least %[2]d", r.command.Name, atLeast, what, len(r.positional)))
	}
	rest := r.positional
	r.positional = nil
	return rest
}

// Positional returns exactly n positional arguments, or nil if there are more or fewer.
func (r *ArgReader) Positional(n int) []Arg {
	if len(r.positional) != n {
		pos := r.command.Pos
		if len(r.positional) > n {
			pos = r.positional[n].Pos
		}
		r.Fail(Errorf(pos, r.hint(), "%s: got %[3]d arguments, want %[2]d", r.command.Name, n, len(r.positional)))
		r.positional = nil
		return nil
	}
	return r.Rest("", 0)
}

// Key returns the argument of a key and whether it is present. It makes the key known.
func (r *ArgReader) Key(key string) (Arg, bool) {
	r.asked = append(r.asked, key)
	for _, a := range r.keyed {
		if a.Key == key {
			return a, true
		}
	}
	return Arg{Pos: r.command.Pos, Key: key}, false
}

// Require returns the argument of a required key.
func (r *ArgReader) Require(key string) Arg {
	a, ok := r.Key(key)
	if !ok {
		r.Fail(Errorf(r.command.Pos, r.hint(), "%s: %s= is missing", r.command.Name, key))
	}
	return a
}

// Payload returns the payload, or nil if the command has none.
func (r *ArgReader) Payload() json.RawMessage {
	r.payload = true
	return r.command.Payload
}

// NextDuration reads the next positional argument, which is required, as a duration of 0 or more.
func (r *ArgReader) NextDuration(what string) time.Duration { return next(r, what, Arg.Duration) }

// NextInt reads the next positional argument, which is required, as an integer in lowest..highest.
func (r *ArgReader) NextInt(what string, lowest, highest int) int {
	return next(r, what, func(a Arg) (int, error) { return a.Int(lowest, highest) })
}

// NextOneOf reads the next positional argument, which is required, as one of the choices.
func (r *ArgReader) NextOneOf(what string, choices ...string) string {
	return next(r, what, func(a Arg) (string, error) { return a.OneOf(choices...) })
}

// String returns the value of key, or def if it is absent.
func (r *ArgReader) String(key, def string) string {
	return optional(r, key, def, func(a Arg) (string, error) { return a.Value, nil })
}

// Duration reads key as a duration of 0 or more, or returns def if it is absent.
func (r *ArgReader) Duration(key string, def time.Duration) time.Duration {
	return optional(r, key, def, Arg.Duration)
}

// SignedDuration reads key as a duration that may be negative.
func (r *ArgReader) SignedDuration(key string, def time.Duration) time.Duration {
	return optional(r, key, def, Arg.SignedDuration)
}

// Int reads key as an integer in lowest..highest.
func (r *ArgReader) Int(key string, def, lowest, highest int) int {
	return optional(r, key, def, func(a Arg) (int, error) { return a.Int(lowest, highest) })
}

// Int64 reads key as an integer in lowest..highest.
func (r *ArgReader) Int64(key string, def, lowest, highest int64) int64 {
	return optional(r, key, def, func(a Arg) (int64, error) { return a.Int64(lowest, highest) })
}

// Float reads key as a number in lowest..highest.
func (r *ArgReader) Float(key string, def, lowest, highest float64) float64 {
	return optional(r, key, def, func(a Arg) (float64, error) { return a.Float(lowest, highest) })
}

// Bool reads key as true or false.
func (r *ArgReader) Bool(key string, def bool) bool { return optional(r, key, def, Arg.Bool) }

// OneOf reads key as one of the choices.
func (r *ArgReader) OneOf(key, def string, choices ...string) string {
	return optional(r, key, def, func(a Arg) (string, error) { return a.OneOf(choices...) })
}

// List reads key as a comma-separated list, or returns nil if it is absent.
func (r *ArgReader) List(key string) []string { return optional(r, key, nil, Arg.List) }

func optional[T any](r *ArgReader, key string, def T, read func(Arg) (T, error)) T {
	a, ok := r.Key(key)
	if !ok {
		return def
	}
	value, err := read(a)
	if err != nil {
		r.Fail(err)
		return def
	}
	return value
}

func next[T any](r *ArgReader, what string, read func(Arg) (T, error)) T {
	missing := len(r.positional) == 0
	a := r.Next(what)
	var zero T
	if missing {
		return zero
	}
	value, err := read(a)
	if err != nil {
		r.Fail(err)
		return zero
	}
	return value
}
