package script

import (
	"errors"
	"fmt"
	"strings"
)

// An Error is one problem in a script (or in other input read from a file), with its position.
type Error struct {
	Pos  Pos
	Msg  string // what is wrong
	Hint string // what to do about it
}

// mostQuoted is how many bytes of a word a message repeats: a line may have megabytes.
const mostQuoted = 200

// Errorf returns an Error; hint may be empty. Long arguments are cut.
func Errorf(pos Pos, hint, format string, args ...any) *Error {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = cut(arg)
		case error:
			if text := arg.Error(); len(text) > mostQuoted {
				args[i] = cut(text)
			}
		}
	}
	return &Error{Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

func cut(s string) string {
	if len(s) <= mostQuoted {
		return s
	}
	return strings.ToValidUTF8(s[:mostQuoted], "") + "…"
}

// Error returns `file:line:column: what is wrong; what to do`.
func (e *Error) Error() string {
	var b strings.Builder
	if at := e.Pos.String(); at != "" {
		b.WriteString(at)
		b.WriteString(": ")
	}
	b.WriteString(e.Msg)
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// Errors is the error of Parse and ArgReader.Done: at least one *Error, in the order of the script. errors.As finds the
// first.
type Errors []*Error

// Error returns one error per line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the individual errors.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, err := range e {
		errs[i] = err
	}
	return errs
}

// Join combines the errors of several commands into one Errors of at most MaxErrors, or nil if there are none. An error that
// is not an *Error keeps its text and has no position.
func Join(errs ...error) error {
	var all Errors
	for _, err := range errs {
		all = appendErrors(all, err)
	}
	if len(all) == 0 {
		return nil
	}
	if len(all) > MaxErrors {
		all = all[:MaxErrors]
	}
	return all
}

func appendErrors(all Errors, err error) Errors {
	if err == nil {
		return all
	}
	if many, ok := err.(Errors); ok {
		return append(all, many...)
	}
	var one *Error
	if errors.As(err, &one) {
		return append(all, one)
	}
	return append(all, &Error{Msg: err.Error()})
}

// UnknownCommand returns the error for a command whose name is not among names.
func UnknownCommand(c *Command, names []string) *Error {
	return Errorf(c.Pos, didYouMean(c.Name, names), "unknown command %q", c.Name)
}
