package scenarios

import "github.com/informersim/informersim/scenarios/script"

// takeCmd prints what a log has gathered since it was last printed.
type takeCmd struct {
	log    string   // the prefix of the log's name, before what it is of
	of     string   // whose log it is
	kinds  []string // what that may be
	syntax *script.Command
}

func (c *takeCmd) declare(d *declarations, s *script.Command) error {
	c.syntax = s
	return d.need(s, c.of, c.kinds...)
}

func (c *takeCmd) run(w *World) error {
	w.output(c.syntax, w.logs[c.log+c.of].take())
	return nil
}

// Prefixes of the names of logs; those of handlers have none.
const (
	requestsOf   = "conn/" // and so the name of the actor whose requests it has
	reconcilesOf = "reconciles of "
)

// log prints what a handler was told since the last log of it, one notification a line.
//
//	log h1
//	----
//	h1 add default/a rv=1 initial
//	h1 update default/a rv=2 old=1
//	h1 delete default/a rv=3
//	h1 delete default/b unknown-final-state rv=2
var logSpec = spec{
	name:  "log",
	usage: "log HANDLER",
	doc:   "prints what a handler was told since the last log of it",
	parse: func(r *script.ArgReader) Command {
		return &takeCmd{of: r.Next("handler").Value, kinds: []string{"handler", "worker"}}
	},
}

// requests prints what a client asked the apiserver since the last requests of it, one request a line.
//
//	requests i1
//	----
//	list rv=0 limit=500
//	watch rv=2
var requestsSpec = spec{
	name:  "requests",
	usage: "requests INFORMER|WRITER",
	doc:   "prints what a client asked the apiserver since the last requests of it",
	parse: func(r *script.ArgReader) Command {
		return &takeCmd{log: requestsOf, of: r.Next("client").Value, kinds: []string{"informer", "writer"}}
	},
}

// reconciles prints what workers have done since the last reconciles of them, one reconcile a line: what its key was, the
// resourceVersion that the Indexer held when it began, and how it ended.
//
//	reconciles c1
//	----
//	c1/0 default/a rv=1 ok
//	c1/1 default/b gone failed, again in 5ms
var reconcilesSpec = spec{
	name:  "reconciles",
	usage: "reconciles WORKER",
	doc:   "prints the reconciles that have ended since the last reconciles of these workers",
	parse: func(r *script.ArgReader) Command {
		return &takeCmd{log: reconcilesOf, of: r.Next("worker").Value, kinds: []string{"worker"}}
	},
}
