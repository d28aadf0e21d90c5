package script

import (
	"encoding/json"
	"fmt"
)

// Limits of a script. A script beyond one of them is refused with an Error.
const (
	MaxFileSize   = 32 << 20 // bytes of a script
	MaxLineLength = 4 << 20  // bytes of one line, without its line end
	MaxErrors     = 20       // errors one Parse reports
)

// Pos is a place in a script. Line and Column count from 1, Column in bytes. Line 0 means the file as a whole.
type Pos struct {
	File   string
	Line   int
	Column int
}

// String renders the place as `file:line:column`, without the parts that are unknown.
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.File == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Node is one thing of a script in its order: a *Command, a *Comment or a *Blank.
type Node interface {
	Position() Pos
	node()
}

// File is a parsed script. Comments and blank lines are kept, so that printing loses no prose.
type File struct {
	Name  string
	Nodes []Node

	src string // what Parse was given: Rewrite edits it
}

// Commands returns the commands of the file in their order.
func (f *File) Commands() []*Command {
	var cmds []*Command
	for _, n := range f.Nodes {
		if c, ok := n.(*Command); ok {
			cmds = append(cmds, c)
		}
	}
	return cmds
}

// Comment is a line of prose. Text is what follows the `#`, without trailing whitespace.
type Comment struct {
	Pos  Pos
	Text string
}

// Blank is one blank line.
type Blank struct {
	Pos Pos
}

// Command is one command with everything that belongs to it.
type Command struct {
	Pos        Pos
	Name       string
	Args       []Arg
	Payload    json.RawMessage // a JSON object as it was written, carriage returns removed; nil without one
	PayloadPos Pos
	Comment    string  // prose at the end of the command, without `#` and surrounding whitespace
	Output     *Output // expected output; nil if the command has none

	lineEnd int // offset in src just behind the last line of the command, its line end included
}

// Arg is one word of a command; Key is empty for a positional one.
type Arg struct {
	Pos   Pos
	Key   string
	Value string
}

// Output is the expected output of a command. Text is empty or ends with a newline; see NormalizeOutput.
type Output struct {
	Pos  Pos // of the `----`
	Text string

	start, end int // offsets in src of the block, from the `----` to behind the last line of it
}

// Position returns where the comment starts.
func (c *Comment) Position() Pos { return c.Pos }

// Position returns the place of the blank line.
func (b *Blank) Position() Pos { return b.Pos }

// Position returns the place of the command's name.
func (c *Command) Position() Pos { return c.Pos }

func (*Comment) node() {}
func (*Blank) node()   {}
func (*Command) node() {}

// Equal says whether two files have the same content, whatever their names and positions.
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
