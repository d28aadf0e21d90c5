package scenarios

import "github.com/informersim/informersim/scenarios/script"

// takeCmd prints the lines of a log since it was last printed.
type takeCmd struct {
	prefix string   // of the log's name
	of     string   // the rest of the log's name: the handler, client or workers
	kinds  []string // of names that of may be
	syntax *script.Command
}

func (c *takeCmd) declare(d *declarations, s *script.Command) error {
	c.syntax = s
	return d.need(s, c.of, c.kinds...)
}

func (c *takeCmd) run(w *World) error {
	w.output(c.syntax, w.logs[c.prefix+c.of].take())
	return nil
}

// Prefixes of the names of logs; those of handlers have none.
const (
	requestsOf   = "conn/" // the log is named after the actor that sends the requests
	reconcilesOf = "reconciles of "
)

// log prints the notifications of a handler since its last log, one per line.
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
	doc:   "prints the notifications of a handler since its last log",
	parse: func(r *script.ArgReader) Command {
		return &takeCmd{of: r.Next("handler").Value, kinds: []string{"handler", "worker"}}
	},
}

// requests prints the requests of a client since they were last printed, one per line.
//
//	requests i1
//	----
//	list rv=0 limit=500
//	watch rv=2
var requestsSpec = spec{
	name:  "requests",
	usage: "requests INFORMER|WRITER",
	doc:   "prints the requests of a client since they were last printed",
	parse: func(r *script.ArgReader) Command {
		return &takeCmd{prefix: requestsOf, of: r.Next("client").Value, kinds: []string{"informer", "writer"}}
	},
}

// reconciles prints the finished reconciles of workers since they were last printed, one per line: the key, the resourceVersion in
// the Indexer when it began, and the outcome.
//
//	reconciles c1
//	----
//	c1/0 default/a rv=1 ok
//	c1/1 default/b gone failed, again in 5ms
var reconcilesSpec = spec{
	name:  "reconciles",
	usage: "reconciles WORKER",
	doc:   "prints the finished reconciles of workers since they were last printed, and when who waits for their queue knows that it has drained",
	parse: func(r *script.ArgReader) Command {
		return &takeCmd{prefix: reconcilesOf, of: r.Next("worker").Value, kinds: []string{"worker"}}
	},
}
