package generate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/scenarios"
)

// Generator makes scenarios, one command after the other, that can be carried out: it keeps a model of which names and
// objects there are. The same decisions give the same scenario. It never says what must come of it: that is for the
// properties.
type Generator struct {
	src   Source
	b     *scenarios.Builder
	shape shape

	replicas  int
	resources []string
	informers []*informerModel
	handlers  int // how many were ever made
	workers   []string
	pools     int // how many were ever made
	writers   []string
	alive     map[string][]string // by resource: the keys of objects that a direct write made
	crowds    map[string][]string // by resource: the keys of objects that came in a crowd
	held      []string
	without   []string // the actions that the scenario must not have
}

// informerModel is the Generator's model of an informer.
type informerModel struct {
	name     string
	resource string
	handlers []string
	indexes  int
	resync   bool
	stopped  bool
}

// Action is one thing that a Generator can add to its scenario.
type Action struct {
	Name string
	// Weight is how often it is taken, compared with the others.
	Weight int
	// Do adds it, and tells whether it could.
	Do func() bool
}

// New starts a scenario of that name: a small cluster, a resource or two with some objects, and informers.
func New(src Source, name string) *Generator {
	g := empty(src, name)
	g.shape = evenly()
	g.begin()
	return g
}

func empty(src Source, name string) *Generator {
	return &Generator{src: src, b: scenarios.New(name), alive: map[string][]string{}, crowds: map[string][]string{}}
}

// begin writes the beginning of the scenario.
func (g *Generator) begin() {
	src := g.src
	g.replicas = 1 + src.IntN(3)
	g.b.Cluster(scenarios.Key("replicas", g.replicas), scenarios.Key("history", pick(src, 2, 5, 20, 1000)))
	g.addResource("pods")
	if g.oneIn(3) && !g.shape.together {
		g.addResource("configmaps")
	}
	for range src.IntN(4) {
		g.create()
	}
	informers := 1 + src.IntN(3)
	if g.shape.together {
		informers = 3
	}
	for range informers {
		g.informer()
	}
	if g.oneIn(3) || g.shape.times["worker"] > 2 {
		g.worker()
	}
}

// Scenario makes a scenario of about that many commands after its beginning, without the actions that are named.
func Scenario(src Source, name string, commands int, without ...string) (*scenarios.Scenario, error) {
	g := empty(src, name)
	g.without, g.shape = without, evenly()
	g.begin()
	return g.fill(commands)
}

// Swarm is Scenario with a workload of a drawn shape: without some of the actions, with more of others, and with few objects or many.
func Swarm(src Source, name string, commands int, without ...string) (*scenarios.Scenario, error) {
	g := empty(src, name)
	g.without = without
	g.shape = drawShape(src, actions)
	g.begin()
	return g.fill(commands)
}

// fill adds that many actions, and what the scenario ends with.
func (g *Generator) fill(commands int) (*scenarios.Scenario, error) {
	wanted := actions
	if len(g.without) > 0 {
		wanted = slices.DeleteFunc(slices.Clone(actions), func(a action) bool { return slices.Contains(g.without, a.name) })
	}
	for range commands {
		g.one(wanted)
	}
	g.end(wanted)
	return g.Scenario()
}

// one adds one of the actions.
func (g *Generator) one(wanted []action) {
	total := 0
	for _, a := range wanted {
		total += g.shape.weight(a)
	}
	n := g.src.IntN(total)
	for _, a := range wanted {
		if n -= g.shape.weight(a); n < 0 {
			a.do(g)
			return
		}
	}
}

// Actions are what the scenario can go on with.
func (g *Generator) Actions() []Action {
	var all []Action
	for _, a := range slices.Concat(actions, lateActions) {
		all = append(all, Action{a.name, a.weight, func() bool { return a.do(g) }})
	}
	return all
}

// action is an Action of every Generator.
type action struct {
	name   string
	weight int
	do     func(*Generator) bool
}

// actions are the actions that a scenario has up to its end.
var actions = []action{
	{"create", 6, (*Generator).create},
	{"update", 6, (*Generator).update},
	{"relabel", 3, (*Generator).relabel},
	{"delete", 5, (*Generator).delete},
	{"recreate", 3, (*Generator).recreate},
	{"write", 4, (*Generator).write},
	{"gap", 7, (*Generator).gap},
	{"reopen", 1, (*Generator).reopen},
	{"crowd", 2, (*Generator).crowd},
	{"linger", 2, (*Generator).linger},
	{"settle", 4, (*Generator).settle},
	{"advance", 6, (*Generator).advance},
	{"step", 3, (*Generator).step},
	{"watch-fault", 6, func(g *Generator) bool { return g.clientFault("watch-", "watch-open-") }},
	{"open-fault", 2, func(g *Generator) bool { return g.clientFault("watch-open-", "") }},
	{"list-fault", 4, func(g *Generator) bool { return g.clientFault("list-", "") }},
	{"write-fault", 2, (*Generator).writeFault},
	{"replica-fault", 2, (*Generator).replicaFault},
	{"compact", 2, (*Generator).compact},
	{"hold", 4, (*Generator).hold},
	{"release", 4, (*Generator).release},
	{"handler", 2, (*Generator).handler},
	{"remove", 1, (*Generator).remove},
	{"remove-busy", 1, (*Generator).removeBusy},
	{"indexer", 1, (*Generator).indexer},
	{"informer", 1, (*Generator).informer},
	{"worker", 1, (*Generator).worker},
	{"reconcile", 4, (*Generator).reconcile},
	{"handle", 2, (*Generator).handle},
	{"shut-down", 1, (*Generator).shutDown},
	{"stop", 1, (*Generator).stop},
}

// Text is the script so far.
func (g *Generator) Text() string { return g.b.Text() }

// Scenario returns the scenario made so far.
func (g *Generator) Scenario() (*scenarios.Scenario, error) {
	s, err := g.b.Scenario()
	if err != nil {
		return nil, fmt.Errorf("the generator wrote a script that does not parse: %w\n%s", err, g.b.Text())
	}
	return s, nil
}

func (g *Generator) oneIn(n int) bool { return g.src.IntN(n) == 0 }

func (g *Generator) addResource(name string) {
	g.resources = append(g.resources, name)
	g.b.Resource(name)
}

func (g *Generator) resource() string { return pick(g.src, g.resources...) }

// absent is a key that no object has.
func (g *Generator) absent(resource string) (string, bool) {
	key := pick(g.src, g.shape.namespaces...) + "/" + pick(g.src, g.shape.names...)
	return key, !slices.Contains(g.alive[resource], key)
}

func (g *Generator) present(resource string) (string, bool) {
	keys := g.alive[resource]
	if len(keys) == 0 {
		return "", false
	}
	return pick(g.src, keys...), true
}

// labelled is an object with the label that the informers' selectors look at, and sometimes another one, which only indices see.
func (g *Generator) labelled() any {
	labels := `"app":"` + pick(g.src, "x", "y") + `"`
	if g.oneIn(3) {
		labels += `,"tier":"` + pick(g.src, "x", "z") + `"`
	}
	return json.RawMessage(`{"metadata":{"labels":{` + labels + `}}}`)
}

func (g *Generator) create() bool { return g.createOf(g.resource()) }

func (g *Generator) update() bool { return g.ofPresent(g.resource(), g.updateKey) }

func (g *Generator) relabel() bool { return g.ofPresent(g.resource(), g.relabelKey) }

func (g *Generator) delete() bool { return g.ofPresent(g.resource(), g.deleteKey) }

func (g *Generator) recreate() bool { return g.ofPresent(g.resource(), g.recreateKey) }

func (g *Generator) createOf(resource string) bool {
	key, ok := g.absent(resource)
	if ok {
		g.createKey(resource, key)
	}
	return ok
}

// ofPresent does something to an object that there is.
func (g *Generator) ofPresent(resource string, do func(resource, key string)) bool {
	key, ok := g.present(resource)
	if ok {
		do(resource, key)
	}
	return ok
}

func (g *Generator) createKey(resource, key string) {
	g.alive[resource] = append(g.alive[resource], key)
	g.b.Write("create", resource, key, g.labelled())
}

func (g *Generator) updateKey(resource, key string) { g.b.Update(resource, key) }

func (g *Generator) relabelKey(resource, key string) {
	g.b.Write("update", resource, key, g.labelled())
}

func (g *Generator) deleteKey(resource, key string) {
	g.alive[resource] = slices.DeleteFunc(g.alive[resource], func(k string) bool { return k == key })
	g.b.Delete(resource, key)
}

func (g *Generator) recreateKey(resource, key string) {
	g.b.Delete(resource, key)
	g.b.Write("create", resource, key, g.labelled())
}

// write has a writer write, over a connection that can fail. Each has names of its own: what is there when its turn comes is
// not known.
func (g *Generator) write() bool {
	if len(g.writers) == 0 || len(g.writers) < 2 && g.oneIn(4) {
		name := fmt.Sprintf("w%d", len(g.writers)+1)
		g.writers = append(g.writers, name)
		g.b.Writer(name)
	}
	w := pick(g.src, g.writers...)
	key := pick(g.src, g.shape.namespaces...) + "/" + w + "-" + pick(g.src, "a", "b")
	op := pick(g.src, "create", "create", "update", "delete")
	g.b.Write(op, g.resource(), key, nil, scenarios.Key("by", w))
	return true
}

func (g *Generator) settle() bool {
	g.b.Settle()
	return true
}

func (g *Generator) advance() bool {
	g.b.Advance(pick(g.src, 100*time.Millisecond, time.Second, 3*time.Second, 10*time.Second, time.Minute, 6*time.Minute))
	return true
}

func (g *Generator) step() bool {
	g.b.Step(1 + g.src.IntN(12))
	return true
}

// faultKinds are the kinds that a generator orders: all but those of a broken server.
var faultKinds = mixNamed("edges").Kinds()

// mixNamed returns a built-in mix without late writes: informers do not write, and whether the workload's writes are early or late, its commands say.
func mixNamed(name string) *fault.Mix {
	m, err := fault.MixNamed(name)
	if err != nil {
		panic(err) // it is built in
	}
	delete(m.Rates, string(fault.WriteLate))
	return &m
}

// faultsWithPrefix are the kinds that start with one prefix and not with the other.
func faultsWithPrefix(prefix, but string) []fault.Kind {
	var kinds []fault.Kind
	for _, k := range faultKinds {
		if strings.HasPrefix(string(k), prefix) && (but == "" || !strings.HasPrefix(string(k), but)) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// faultArgs are the arguments that the kind may have.
func (g *Generator) faultArgs(kind fault.Kind) []scenarios.Arg {
	var args []scenarios.Arg
	switch kind {
	case fault.WatchStall, fault.WatchDelay, fault.ReplicaLag, fault.ReplicaSkew, fault.LeaderLoss,
		fault.WatchBookmarkLate, fault.ListSlow, fault.WatchOpenSlow, fault.WriteSlow:
		args = append(args, scenarios.Key("for", pick(g.src, time.Second, 20*time.Second, 15*time.Minute)))
	case fault.List429, fault.WatchOpen429, fault.Write429, fault.List503:
		args = append(args, scenarios.Key("retry-after", pick(g.src, time.Second, 7*time.Second)))
	}
	if clientSide := !strings.HasPrefix(string(kind), "replica-") && kind != fault.LeaderLoss; clientSide && g.oneIn(4) {
		args = append(args, scenarios.Key("count", 2+g.src.IntN(3)))
	}
	return args
}

func (g *Generator) clientFault(prefix, but string) bool {
	i := pick(g.src, g.informers...)
	if i.stopped {
		return false
	}
	kind := pick(g.src, faultsWithPrefix(prefix, but)...)
	g.b.Fault(i.name, kind, g.faultArgs(kind)...)
	return true
}

func (g *Generator) writeFault() bool {
	if len(g.writers) == 0 {
		return false
	}
	kind := pick(g.src, faultsWithPrefix("write-", "")...)
	g.b.Fault(pick(g.src, g.writers...), kind, g.faultArgs(kind)...)
	return true
}

func (g *Generator) replica() string { return fmt.Sprintf("replica/%d", g.src.IntN(g.replicas)) }

func (g *Generator) replicaFault() bool {
	switch kind := pick(g.src, fault.ReplicaRestart, fault.ReplicaLag, fault.ReplicaSkew, fault.LeaderLoss); kind {
	case fault.ReplicaRestart:
		g.b.Restart(g.replica())
	case fault.LeaderLoss:
		g.b.Fault("cluster", kind, g.faultArgs(kind)...)
	default:
		g.b.Fault(g.replica(), kind, g.faultArgs(kind)...)
	}
	return true
}

func (g *Generator) compact() bool {
	if g.oneIn(2) {
		g.b.Compact(scenarios.Key("cache", "keep"))
	} else {
		g.b.Compact()
	}
	return true
}

func (g *Generator) hold() bool {
	target := g.replica()
	if i := pick(g.src, g.informers...); !i.stopped {
		switch n := g.src.IntN(5); {
		case n == 0:
			target = i.name
		case n == 1:
			target = "conn/" + i.name
		case n == 2 && len(i.handlers) > 0:
			target = pick(g.src, i.handlers...)
		case n == 3 && len(g.workers) > 0:
			target = pick(g.src, g.workers...)
		}
	}
	if slices.Contains(g.held, target) {
		return false
	}
	g.held = append(g.held, target)
	g.b.Hold(target)
	return true
}

func (g *Generator) release() bool {
	if len(g.held) == 0 {
		return false
	}
	target := pick(g.src, g.held...)
	g.unhold(target)
	g.b.Release(target)
	return true
}

func (g *Generator) unhold(targets ...string) {
	g.held = slices.DeleteFunc(g.held, func(h string) bool { return slices.Contains(targets, h) })
}
