package scenarios

import (
	"slices"

	"github.com/informersim/informersim/scenarios/script"
)

// Command is one command of a scenario. Its implementations are in the files cmd_*.go, each with the description of what
// it does beside it.
type Command interface {
	// run carries the command out, within a step.
	run(w *World) error
}

// spec is what the parser needs to know of a command.
type spec struct {
	name  string
	usage string
	doc   string // one sentence
	parse func(*script.ArgReader) Command
}

// specs are all commands, in the order in which help shows them.
var specs = []spec{
	clusterSpec, resourceSpec, writerSpec, informerSpec, handlerSpec, removeSpec, workerSpec, stopSpec,
	createSpec, updateSpec, deleteSpec,
	settleSpec, advanceSpec, stepSpec,
	faultSpec, handleSpec, reconcileSpec, holdSpec, releaseSpec, compactSpec, restartSpec, restoreSpec,
	expectSpec, logSpec, reconcilesSpec, requestsSpec, showSpec,
}

// CommandHelp is one command as help shows it.
type CommandHelp struct{ Name, Usage, Doc string }

// Commands lists the commands of the script language.
func Commands() []CommandHelp {
	all := make([]CommandHelp, len(specs))
	for i, s := range specs {
		all[i] = CommandHelp{s.name, s.usage, s.doc}
	}
	return all
}

func commandNames() []string {
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.name
	}
	return names
}

func parseCommand(c *script.Command) (Command, error) {
	i := slices.IndexFunc(specs, func(s spec) bool { return s.name == c.Name })
	if i < 0 {
		return nil, script.UnknownCommand(c, commandNames())
	}
	r := script.NewArgReader(c, specs[i].usage)
	cmd := specs[i].parse(r)
	if err := r.Done(); err != nil {
		return nil, err
	}
	return cmd, nil
}
