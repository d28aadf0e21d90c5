package minimal

import (
	"slices"
	"strings"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/sim"
)

// command is a command with its index in the run that is simplified.
type command struct {
	index  uint32
	syntax *script.Command
}

// candidate is a run that may be simpler.
type candidate struct {
	cmds     []command
	heal     uint32     // the index of the choice after all commands
	picks    []sim.Pick // of a guided run
	schedule bool       // whether it is a guided run, and not a transcript
	straight bool       // whether goroutines are not interleaved, although those of the run that was found are
}

// newCandidate returns the run of a script with those picks.
func newCandidate(f *script.File, picks []sim.Pick) candidate {
	c := candidate{picks: picks, schedule: true}
	for n, cmd := range f.Commands() {
		bare := *cmd
		bare.Comment, bare.Output = "", nil
		c.cmds = append(c.cmds, command{uint32(n), &bare})
	}
	c.heal = uint32(len(c.cmds))
	return c
}

// onlyLooks reports whether a command changes nothing; what it checks are expectations of the unsimplified script.
func onlyLooks(c command) bool {
	return slices.Contains([]string{"expect", "log", "reconciles", "requests", "show"}, c.syntax.Name)
}

// with returns the candidate with other commands.
func (c candidate) with(cmds []command) candidate {
	c.cmds = cmds
	return c
}

// scenario parses the candidate's script.
func (c candidate) scenario(name, comment string) (*scenarios.Scenario, error) {
	f := &script.File{Name: name + ".sim"}
	for line := range strings.Lines(comment) {
		f.Nodes = append(f.Nodes, &script.Comment{Text: " " + strings.TrimSpace(line)})
	}
	for _, cmd := range c.cmds {
		f.Nodes = append(f.Nodes, cmd.syntax)
	}
	return scenarios.Parse(f.Name, script.Print(f))
}

// renumbered returns the picks with the indices that the commands have now; those of commands that are gone are left out.
func (c candidate) renumbered() []sim.Pick {
	now := map[uint32]uint32{c.heal: uint32(len(c.cmds))}
	for n, cmd := range c.cmds {
		now[cmd.index] = uint32(n)
	}
	var picks []sim.Pick
	for _, p := range c.picks {
		if scenarios.PicksCommand(&p) {
			n, there := now[p.Target]
			if !there {
				continue
			}
			p.Target = n
		}
		picks = append(picks, p)
	}
	return picks
}

func (c candidate) faults() int {
	n := 0
	for i := range c.picks {
		if c.picks[i].Fault() {
			n++
		}
	}
	return n
}
