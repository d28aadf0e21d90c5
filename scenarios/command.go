package scenarios

import (
	"slices"

	"github.com/informersim/informersim/scenarios/script"
)

// A Command is one command of a scenario. Its implementations are in the files cmd_*.go, each beside its spec.
type Command interface {
	// run executes the command within a step.
	run(w *World) error
}

// spec describes a command to the parser and to help.
type spec struct {
	name  string
	usage string
	doc   string // one sentence
	parse func(*script.ArgReader) Command
}

// specs lists all commands, in the order in which help shows them.
var specs = []spec{
	clusterSpec, resourceSpec, writerSpec, informerSpec, handlerSpec, removeSpec, indexerSpec, workerSpec, stopSpec,
	createSpec, updateSpec, deleteSpec,
	settleSpec, advanceSpec, stepSpec,
	faultSpec, handleSpec, reconcileSpec, holdSpec, releaseSpec, compactSpec, restartSpec, restoreSpec,
	expectSpec, logSpec, reconcilesSpec, requestsSpec, showSpec,
}

// CommandHelp is the help text of a command.
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

// parseCommand reads a command with a reader that others are read with, too.
func parseCommand(c *script.Command, r *script.ArgReader) (Command, error) {
	i := slices.IndexFunc(specs, func(s spec) bool { return s.name == c.Name })
	if i < 0 {
		return nil, script.UnknownCommand(c, commandNames())
	}
	r.Reset(c, specs[i].usage)
	cmd := specs[i].parse(r)
	if err := r.Done(); err != nil {
		return nil, err
	}
	return cmd, nil
}
