package scenarios

import (
	"strings"

	"github.com/informersim/informersim/scenarios/script"
)

// checkOutput fails if an expected output that a blank line should end goes on with what reads as a command. It would not run, an exploration
// would pass without it, and --rewrite would delete it.
func checkOutput(file string, c *script.Command) error {
	if c.Output == nil || c.Output.Fenced {
		return nil
	}
	for i, line := range strings.Split(c.Output.Text, "\n") {
		f, err := script.Parse(file, []byte(line))
		if err != nil || len(f.Commands()) != 1 {
			continue
		}
		if _, err := parseCommand(f.Commands()[0], new(script.ArgReader)); err == nil {
			return script.Errorf(script.Pos{File: file, Line: c.Output.Pos.Line + 1 + i, Column: 1},
				"put a blank line before the command; if it is output, fence it with two lines of ---- before and after it",
				"%q is inside the expected output of %s, so it does not run", line, c.Name)
		}
	}
	return nil
}
