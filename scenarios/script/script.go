package script

import (
	"encoding/json"
	"fmt"
)

// Limits of a script. A script beyond one of them is refused with an Error.
const (
	MaxFileSize   = 32 << 20 // bytes of a script
	MaxLineLength = 4 << 20  // bytes of one line, without its line end
	MaxErrors     = 20       // errors reported by one Parse
)

// A Pos is a position in a script. Line and Column count from 1, Column in bytes. Line 0 means the file as a whole.
type Pos struct {
	File   string
	Line   int
	Column int
}

// String returns the position as `file:line:column`, without the parts that are unknown.
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.File == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// A Node is one element of a script: a *Command, a *Comment or a *Blank.
type Node interface {
	Position() Pos
	node()
}

// A File is a parsed script. It includes comments and blank lines, so that printing loses no prose.
type File struct {
	Name  string
	Nodes []Node

	src string // the input of Parse, for Rewrite to edit
}

// Commands returns the commands of the file in order.
func (f *File) Commands() []*Command {
	cmds := make([]*Command, 0, len(f.Nodes))
	for _, n := range f.Nodes {
		if c, ok := n.(*Command); ok {
			cmds = append(cmds, c)
		}
	}
	return cmds
}

// A Comment is a line of prose. Text follows the `#`, without trailing whitespace.
type Comment struct {
	Pos  Pos
	Text string
}

// A Blank is a blank line.
type Blank struct {
	Pos Pos
}

// A Command is a command with its arguments, payload, comment and expected output.
type Command struct {
	Pos        Pos
	Name       string
	Args       []Arg
	Payload    json.RawMessage // a JSON object as written, carriage returns removed; nil if there is none
	PayloadPos Pos
	Comment    string  // prose at the end of the command, without `#` and surrounding whitespace
	Output     *Output // expected output; nil if the command has none

	lineEnd int // offset in src just after the last line of the command, including its line ending
}

// An Arg is one word of a command; Key is empty if it is positional.
type Arg struct {
	Pos   Pos
	Key   string
	Value string
}

// An Output is the expected output of a command. Text is empty or ends with a newline; see NormalizeOutput.
type Output struct {
	Pos    Pos // of the `----`
	Text   string
	Fenced bool // lines of dashes are before and after it, whether it needs them or not

	start, end int // offsets in src of the block, from the `----` to just after its last line
}

// Position returns the position of the `#`.
func (c *Comment) Position() Pos { return c.Pos }

// Position returns the start of the line.
func (b *Blank) Position() Pos { return b.Pos }

// Position returns the position of the command's name.
func (c *Command) Position() Pos { return c.Pos }

func (*Comment) node() {}
func (*Blank) node()   {}
func (*Command) node() {}

// Equal reports whether two files have the same content, regardless of names and positions.
func Equal(f, g *File) bool {
	if len(f.Nodes) != len(g.Nodes) {
		return false
	}
	for i := range f.Nodes {
		if !equalNode(f.Nodes[i], g.Nodes[i]) {
			return false
		}
	}
	return true
}

func equalNode(a, b Node) bool {
	switch a := a.(type) {
	case *Comment:
		b, ok := b.(*Comment)
		return ok && a.Text == b.Text
	case *Blank:
		_, ok := b.(*Blank)
		return ok
	case *Command:
		b, ok := b.(*Command)
		return ok && equalCommand(a, b)
	}
	return false
}

func equalCommand(a, b *Command) bool {
	if a.Name != b.Name || a.Comment != b.Comment || string(a.Payload) != string(b.Payload) || len(a.Args) != len(b.Args) {
		return false
	}
	for i := range a.Args {
		if a.Args[i].Key != b.Args[i].Key || a.Args[i].Value != b.Args[i].Value {
			return false
		}
	}
	if a.Output == nil || b.Output == nil {
		return a.Output == b.Output
	}
	return a.Output.Text == b.Output.Text
}
