package script

import (
	"errors"
	"fmt"
	"strings"
)

// Error is one thing that is wrong with a script (or with other input read from a file), with its place.
type Error struct {
	Pos  Pos
	Msg  string // what is wrong
	Hint string // what to do about it
}

// Errorf makes an Error; hint may be empty.
func Errorf(pos Pos, hint, format string, args ...any) *Error {
	return &Error{Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// Error renders `file:line:column: what is wrong; what to do`.
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

// Errors is what Parse and ArgReader.Done report: at least one error, in the order of the script. errors.As finds the
// first *Error in it.
type Errors []*Error

// Error renders one error a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the single errors.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, err := range e {
		errs[i] = err
	}
	return errs
}

// Join gathers the errors of several commands into one Errors: nil if there is none, at most MaxErrors of them. An
// error that is no Error is kept with its text and no place.
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

// UnknownCommand is the error for a command whose name is none of names.
func UnknownCommand(c *Command, names []string) *Error {
	return Errorf(c.Pos, didYouMean(c.Name, names), "unknown command %q", c.Name)
}
