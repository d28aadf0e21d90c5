package scenarios

import (
	"fmt"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/scenarios/script"
)

// cluster configures the fake apiserver. It must come before any command that uses it; without it there is one replica with a
// history of 1000 events per resource. Like a real cluster it compacts its store every 5 minutes, up to its revision 5 minutes
// before; watch caches keep their history (S11).
//
//	cluster replicas=2 history=100 revision=1000
//	cluster compact-every=0s
var clusterSpec = spec{
	name:  "cluster",
	usage: "cluster [replicas=1..5] [history=EVENTS] [revision=N] [compact-every=DURATION]",
	doc: "configures the apiserver: its replicas, the events that each keeps per resource, the revision before the first write, " +
		"and how often the store is compacted (default 5m, 0s for never)",
	parse: func(r *script.ArgReader) Command {
		return &clusterCmd{
			replicas:     r.Int("replicas", 1, 1, 5),
			history:      r.Int64("history", defaultHistory, 1, 10_000_000),
			revision:     r.Int64("revision", 0, 0, 1<<60),
			compactEvery: period(r, "compact-every", defaultCompactEvery),
		}
	},
}

const (
	defaultHistory = 1000
	// defaultCompactEvery is the real apiserver's --etcd-compaction-interval.
	defaultCompactEvery = 5 * time.Minute
)

type clusterCmd struct {
	replicas          int
	history, revision int64
	compactEvery      time.Duration
}

// defaultCluster is the cluster of a scenario without a cluster command.
var defaultCluster = &clusterCmd{replicas: 1, history: defaultHistory, compactEvery: defaultCompactEvery}

func (c *clusterCmd) declare(d *declarations, s *script.Command) error {
	if d.started {
		return script.Errorf(s.Pos, "put it first", "cluster: the cluster is already in use")
	}
	d.started = true
	d.replicas = c.replicas
	return nil
}

func (c *clusterCmd) run(w *World) error { return w.startCluster(c.options()) }

func (c *clusterCmd) options() fakeapiserver.ClusterOptions {
	return fakeapiserver.ClusterOptions{
		Replicas: c.replicas, History: c.history, FirstRevision: c.revision + 1, CompactEvery: c.compactEvery,
	}
}

// resource declares a resource that the cluster serves. A built-in resource needs only its plural; others need group, version and
// kind, and have unstructured objects. A payload with a field that the type lacks is an error, unless fields=any says that objects
// of another version lose such fields.
//
//	resource pods
//	resource widgets.probe.dev/v1 kind=Widget scope=namespaced
var resourceSpec = spec{
	name:  "resource",
	usage: "resource PLURAL[.GROUP/VERSION] [kind=KIND] [scope=namespaced|cluster] [fields=known|any]",
	doc:   "declares a resource: a built-in one by its plural, a custom one with group, version and kind; with fields=any, payloads may have fields that its type lacks, which are dropped",
	parse: func(r *script.ArgReader) Command {
		name := r.Next("resource")
		kind := r.String("kind", "")
		scope := r.OneOf("scope", "", "namespaced", "cluster")
		fields := r.OneOf("fields", "known", "known", "any")
		if r.Failed() {
			return nil
		}
		res, err := resolveResource(name.Value, kind, scope)
		if err != nil {
			r.Fail(script.Errorf(name.Pos, err.hint, "resource: %s", err.msg))
		}
		return &resourceCmd{res: res, anyFields: fields == "any"}
	},
}

type resourceCmd struct {
	res       store.Resource
	anyFields bool // of payloads
}

func (c *resourceCmd) declare(d *declarations, s *script.Command) error {
	d.started = true
	d.resources[c.res.Plural], d.anyFields[c.res.Plural] = c.res, c.anyFields
	return d.add(s, c.res.Plural, "resource")
}

func (c *resourceCmd) run(w *World) error {
	if err := w.ensureCluster(); err != nil {
		return err
	}
	id, err := w.cluster.AddResource(c.res)
	if err != nil {
		return fmt.Errorf("resource: %w", err)
	}
	w.resources[c.res.Plural] = id
	return nil
}
