package transcript

import (
	"fmt"
	"strings"
)

// A Block is a command and its expected output.
type Block struct {
	// Comments are the lines above the command.
	Comments []string
	Command  string
	Stdin    string
	Want     string
	// Line is the command's line in the file, from 1.
	Line int
}

const divider = "----"

// Parse parses a script. Errors refer to it as file.
func Parse(file, text string) ([]Block, error) {
	var blocks []Block
	var b Block
	expecting := false
	finish := func() {
		if b.Command != "" {
			blocks = append(blocks, b)
		}
		b, expecting = Block{Comments: nil}, false
	}
	for i, line := range strings.Split(text, "\n") {
		switch {
		case expecting && line != "":
			b.Want += line + "\n"
		case strings.TrimSpace(line) == "" && b.Command != "" && expecting:
			finish()
		case strings.TrimSpace(line) == "":
		case line == divider && b.Command != "":
			expecting = true
		case strings.HasPrefix(line, "#"):
			b.Comments = append(b.Comments, line)
		case strings.HasPrefix(line, "| ") || line == "|":
			b.Stdin += strings.TrimPrefix(strings.TrimPrefix(line, "|"), " ") + "\n"
		case b.Command == "":
			b.Command, b.Line = line, i+1
		default:
			return nil, fmt.Errorf("%s:%d: %q is neither input (\"| …\") nor %q", file, i+1, line, divider)
		}
	}
	if b.Command != "" && !expecting {
		return nil, fmt.Errorf("%s:%d: the command %q has no %q below it", file, b.Line, b.Command, divider)
	}
	finish()
	return blocks, nil
}

// Format is the inverse of Parse. It writes empty lines of output as a dot, so that they do not end a block.
func Format(blocks []Block) string {
	var out strings.Builder
	for i, b := range blocks {
		if i > 0 {
			out.WriteString("\n")
		}
		for _, comment := range b.Comments {
			out.WriteString(comment + "\n")
		}
		out.WriteString(b.Command + "\n")
		if b.Stdin != "" {
			for _, line := range strings.Split(strings.TrimSuffix(b.Stdin, "\n"), "\n") {
				out.WriteString("| " + line + "\n")
			}
		}
		out.WriteString(divider + "\n" + b.Want)
	}
	return out.String()
}
