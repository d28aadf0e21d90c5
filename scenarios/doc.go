// Package scenarios holds the Scenario as data, and runs it.
//
// A scenario is a list of commands: the cluster, its resources, informers, a workload, faults, expectations. It comes from a
// script file ([Load], [Parse]), from Go code ([Builder]) or from a generator. [Run] plays it against a subject with a strategy,
// shows every record to the properties, and returns a [Result]: the report of the run, and the commands' outputs.
//
// Under the strategy `fifo` and without a fault mix a scenario is a transcript: commands run one after the other, time stands
// still outside `advance`, and outputs are compared with the script's. Under any other strategy the commands, in their order, are
// choices among the others, and only the properties are checked: this is exploration.
//
// The package owns the meaning of the script's commands (cmd_*.go) and the order of a run's phases. It may not know any property
// (package properties does; package property defines their form) or any stack (packages below subjects do), nor put a run into
// words (package reports does).
package scenarios
