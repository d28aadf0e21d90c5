package scenarios

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/scenarios/script"
)

// A Builder makes a scenario in Go. It has a method for each command of the script language and is just another way to write a
// script: [Builder.Scenario] prints the commands and parses the text, so mistakes are reported as in a script, with their line in
// [Builder.Text].
//
//	s, err := scenarios.New("gap").
//		Resource("pods").
//		Create("pods", "default/a", "default/b").
//		Informer("i1", "pods", scenarios.Key("handlers", "h1")).
//		Settle().
//		Fault("i1", fault.Watch410).
//		Delete("pods", "default/b").
//		Advance(2 * time.Second).
//		Expect("i1", "converged").
//		Scenario()
type Builder struct {
	file script.File
	errs []error
}

// Arg is an argument of a command; see [Key] and [Words].
type Arg = script.Arg

// New starts a scenario. Results, traces and errors refer to it by name.
func New(name string) *Builder { return &Builder{file: script.File{Name: name + ".sim"}} }

// Key returns the argument key=value. Values are written as in scripts: durations like 1m30s, lists with commas.
func Key(key string, value any) Arg {
	switch v := value.(type) {
	case []string:
		return Arg{Key: key, Value: strings.Join(v, ",")}
	case time.Duration:
		return Arg{Key: key, Value: v.String()}
	case float64:
		return Arg{Key: key, Value: strconv.FormatFloat(v, 'g', -1, 64)}
	}
	return Arg{Key: key, Value: fmt.Sprint(value)}
}

// Words returns arguments without a key.
func Words(words ...string) []Arg {
	args := make([]Arg, len(words))
	for i, w := range words {
		args[i] = Arg{Value: w}
	}
	return args
}

// Command adds any command.
func (b *Builder) Command(name string, args ...Arg) *Builder {
	return b.CommandWith(nil, name, args...)
}

// CommandWith adds any command with a payload: an object that is encoded as JSON, nil for none.
func (b *Builder) CommandWith(payload any, name string, args ...Arg) *Builder {
	c := &script.Command{Name: name, Args: args}
	if payload != nil {
		data, err := json.Marshal(payload)
		switch {
		case err != nil:
			b.errs = append(b.errs, fmt.Errorf("%s: the payload: %w", name, err))
		case data[0] != '{':
			b.errs = append(b.errs, fmt.Errorf("%s: the payload %.40s is not a JSON object", name, data))
		}
		c.Payload = data
	}
	b.file.Nodes = append(b.file.Nodes, c)
	return b
}

// Prose adds comment lines.
func (b *Builder) Prose(text string) *Builder {
	for line := range strings.SplitSeq(text, "\n") {
		b.file.Nodes = append(b.file.Nodes, &script.Comment{Text: " " + line})
	}
	return b
}

// Len returns the number of commands so far.
func (b *Builder) Len() int { return len(b.file.Commands()) }

// Cluster configures the apiserver; if present, it comes first.
func (b *Builder) Cluster(args ...Arg) *Builder { return b.Command("cluster", args...) }

// Resource declares a resource.
func (b *Builder) Resource(name string, args ...Arg) *Builder { return b.with("resource", args, name) }

// Writer declares a client whose writes can fail.
func (b *Builder) Writer(name string) *Builder { return b.with("writer", nil, name) }

// Informer starts an informer.
func (b *Builder) Informer(name, resource string, args ...Arg) *Builder {
	return b.with("informer", args, name, resource)
}

// Handler adds a handler to a running informer.
func (b *Builder) Handler(informer, name string, args ...Arg) *Builder {
	return b.with("handler", args, informer, name)
}

// Indexer adds an index by those values, such as label:app.
func (b *Builder) Indexer(informer, name string, by []string) *Builder {
	return b.with("indexer", []Arg{Key("by", by)}, informer, name)
}

// Worker starts the workers of a controller on an informer.
func (b *Builder) Worker(name, informer string, args ...Arg) *Builder {
	return b.with("worker", args, name, informer)
}

// Reconcile makes the reconciles of workers slow, fail or panic, by arguments such as fails=.
func (b *Builder) Reconcile(worker string, args ...Arg) *Builder {
	return b.with("reconcile", args, worker)
}

// Handle makes the calls of a handler slow or panic, by arguments such as takes=.
func (b *Builder) Handle(handler string, args ...Arg) *Builder {
	return b.with("handle", args, handler)
}

// Reconciles prints the finished reconciles of workers.
func (b *Builder) Reconciles(worker string) *Builder { return b.with("reconciles", nil, worker) }

// Remove removes a handler.
func (b *Builder) Remove(handler string) *Builder { return b.with("remove", nil, handler) }

// Stop stops an informer or workers.
func (b *Builder) Stop(informer string) *Builder { return b.with("stop", nil, informer) }

// Drain shuts down the queue of workers for somebody who waits until it has drained.
func (b *Builder) Drain(worker string) *Builder { return b.with("stop", nil, worker, "drain") }

// Create creates objects by their keys.
func (b *Builder) Create(resource string, keys ...string) *Builder {
	return b.with("create", nil, append([]string{resource}, keys...)...)
}

// Update gives objects a new version.
func (b *Builder) Update(resource string, keys ...string) *Builder {
	return b.with("update", nil, append([]string{resource}, keys...)...)
}

// Delete deletes objects.
func (b *Builder) Delete(resource string, keys ...string) *Builder {
	return b.with("delete", nil, append([]string{resource}, keys...)...)
}

// Write creates, updates or deletes (op) one object, with its content (nil for none) and arguments such as by=.
func (b *Builder) Write(op, resource, key string, object any, args ...Arg) *Builder {
	return b.CommandWith(object, op, append(Words(resource, key), args...)...)
}

// Settle runs until the world is quiescent, without letting time pass.
func (b *Builder) Settle() *Builder { return b.Command("settle") }

// Advance lets time pass.
func (b *Builder) Advance(d time.Duration) *Builder { return b.with("advance", nil, d.String()) }

// Step makes n choices.
func (b *Builder) Step(n int, args ...Arg) *Builder { return b.with("step", args, strconv.Itoa(n)) }

// Fault injects a fault into an informer, a writer, a replica or the cluster.
func (b *Builder) Fault(target string, kind fault.Kind, args ...Arg) *Builder {
	return b.FaultWith(nil, target, kind, args...)
}

// FaultWith is Fault with a payload: more fields of a [fault.Fault], under their JSON names.
func (b *Builder) FaultWith(payload any, target string, kind fault.Kind, args ...Arg) *Builder {
	where, what := splitFault(kind)
	return b.CommandWith(payload, "fault", append([]Arg{{Value: target}, {Key: where, Value: what}}, args...)...)
}

// splitFault splits a kind of fault as a script writes it: watch-open-429 is watch-open=429.
func splitFault(kind fault.Kind) (where, what string) {
	for _, place := range faultPlaces {
		if rest, ok := strings.CutPrefix(string(kind), place+"-"); ok && len(place) > len(where) {
			where, what = place, rest
		}
	}
	if where == "" {
		return "watch", string(kind) // no such fault: the parser reports it
	}
	return where, what
}

// Hold keeps a part from stepping until Release.
func (b *Builder) Hold(target string) *Builder { return b.with("hold", nil, target) }

// Release ends a hold.
func (b *Builder) Release(target string) *Builder { return b.with("release", nil, target) }

// Compact compacts the store.
func (b *Builder) Compact(args ...Arg) *Builder { return b.Command("compact", args...) }

// Restart restarts an informer, or a replica, named replica/N.
func (b *Builder) Restart(target string) *Builder { return b.with("restart", nil, target) }

// Restore restores the store to an older revision.
func (b *Builder) Restore(revision int64, args ...Arg) *Builder {
	return b.Command("restore", append([]Arg{Key("rv", revision)}, args...)...)
}

// Expect checks an informer: states like converged, arguments like has=.
func (b *Builder) Expect(informer, state string, args ...Arg) *Builder {
	if state == "" {
		return b.with("expect", args, informer)
	}
	return b.with("expect", args, informer, state)
}

// ExpectViolation names the property that the scenario must break.
func (b *Builder) ExpectViolation(property string) *Builder {
	return b.with("expect", nil, "violation", property)
}

// Log prints the notifications of a handler.
func (b *Builder) Log(handler string) *Builder { return b.with("log", nil, handler) }

// Requests prints the requests of a client.
func (b *Builder) Requests(client string) *Builder { return b.with("requests", nil, client) }

// Show prints the objects of a resource or an informer.
func (b *Builder) Show(what string) *Builder { return b.with("show", nil, what) }

func (b *Builder) with(name string, args []Arg, words ...string) *Builder {
	all := make([]Arg, 0, len(words)+len(args))
	for _, w := range words {
		all = append(all, Arg{Value: w})
	}
	return b.Command(name, append(all, args...)...)
}

// Text returns the script as built so far.
func (b *Builder) Text() string { return string(script.Print(&b.file)) }

// Scenario parses the commands. It fails where a script with this text would.
func (b *Builder) Scenario() (*Scenario, error) {
	if err := script.Join(b.errs...); err != nil {
		return nil, err
	}
	return Parse(b.file.Name, []byte(b.Text()))
}
