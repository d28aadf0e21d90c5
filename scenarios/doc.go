// Package scenarios is the Scenario as data and the runner that plays one.
//
// A scenario is a list of commands: the cluster, its resources, informers, a workload, faults, expectations. It has one
// model and three sources: a script file ([Load], [Parse]), Go code ([Builder]), and a generator. A [Runner] plays it against a
// subject with a strategy, lets properties see every record, and returns a [Result]: what reports say of the run, and outputs.
//
// Under the strategy `fifo` and without a fault mix a scenario is a transcript: commands run one after the other, time
// stands still outside `advance`, and the outputs that the script expects are compared. Under any other strategy the
// commands are choices among the others (they keep their order), and what is checked are the properties: this is
// exploration.
//
// The package owns the meaning of the script's commands (one file each, cmd_*.go) and the order of a run's phases. It
// may not know any property (package properties does; package property is what one looks like), nor any stack (packages below
// subjects do), nor put a run into words (package reports does).
package scenarios
