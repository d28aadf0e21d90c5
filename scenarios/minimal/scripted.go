package minimal

import (
	"strings"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/sim"
)

// between are the commands to try between the others, so that each finds the world as it needs it.
var between = []string{"", "settle", "advance 10s"}

// scripted returns transcripts that order the faults which a guided run picks, between its commands, in the order of the run.
func scripted(c candidate) (all []candidate) {
	for _, filler := range between {
		var cmds []command
		add := func(cmd *script.Command) {
			if cmd == nil {
				return
			}
			cmds = append(cmds, command{syntax: cmd})
			if f := parsed(filler); f != nil {
				cmds = append(cmds, command{syntax: f})
			}
		}
		left := c.cmds
		for i := range c.picks {
			p := &c.picks[i]
			switch {
			case p.Fault():
				add(faultCommand(p))
			case scenarios.PicksCommand(p):
				for len(left) > 0 && left[0].index <= p.Target {
					add(left[0].syntax)
					left = left[1:]
				}
			}
		}
		for _, cmd := range left {
			add(cmd.syntax)
		}
		all = append(all, candidate{cmds: cmds})
	}
	return all
}

// faultCommand returns the command that orders the fault of a pick; nil if the script language has none.
func faultCommand(p *sim.Pick) *script.Command {
	target := strings.TrimPrefix(p.Actor, "conn/")
	spec := fault.SpecOfChoice(p.Kind)
	if spec == nil {
		return nil
	}
	switch spec.Kind {
	case fault.ReplicaRestart:
		return parsed(scenarios.New("fault").Restart(target).Text())
	case fault.Compact:
		return parsed("compact")
	}
	return parsed(scenarios.New("fault").Fault(target, spec.Kind).Text())
}

// parsed returns the command of a line; nil for none.
func parsed(line string) *script.Command {
	f, err := script.Parse("line", []byte(line))
	if err != nil || len(f.Commands()) != 1 {
		return nil
	}
	return f.Commands()[0]
}
