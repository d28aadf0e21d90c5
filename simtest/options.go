package simtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/simtest/fault"
	"github.com/informersim/informersim/simtest/internal/wire"
)

// TB is the part of testing.TB that Run needs. *testing.T, *testing.B, ginkgo's GinkgoT() and *rapid.T implement it. Of a spec that fails, Ginkgo shows what failed first, such as
// an assertion in the body; the report is in the spec's output.
type TB interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	FailNow()
	Failed() bool
}

// Options configure Run. The zero value means 20 seeds, the built-in types, and what each seed draws: while neither Mix nor FaultMix
// is set, a seed chooses its own faults, with their rates; whether processes crash, and how often; the number of replicas; the
// size of watch caches; whether the server has streaming lists; and, in a test that is built with the overlay of Go's runtime, whether
// goroutines are interleaved. CrashProbability, Replicas, History, WatchList and Interleave each fix one of
// these. A failure names what its seed drew. With Mix or FaultMix, nothing is drawn but what the mix itself leaves open.
type Options struct {
	// Seeds is the number of seeds to run, starting at 1; DefaultSeeds if 0. The flag -simtest.seeds overrides it; for Find, only if it is more.
	Seeds int
	// Mix is the name of a built-in fault mix: none, light, default, storm, edges; if "", each seed draws one.
	Mix string
	// FaultMix is a custom mix; it overrides Mix.
	FaultMix *fault.Mix
	// CrashProbability is the probability, in every step, that a process crashes and is restarted. A negative one means never; 0
	// means what the seed draws, never in half of them, or never if there is a Mix or FaultMix.
	CrashProbability float64
	// MaxCrashes limits the crashes in a run. If 0, it is what the seed draws, from 1 to 10, or 3 if there is a Mix or FaultMix.
	MaxCrashes int
	// Strategy is "random" or "fifo"; "" is random. random picks any event, and in most seeds has some clients, replicas and watches be slow for a while: a request may take seconds
	// without any fault. fifo picks the oldest event each time and no faults of a mix.
	Strategy string

	// Replicas is the number of apiservers, each of which may lag behind the others. If 0, it is what the seed draws, from 1 to 3, or
	// 1 if there is a Mix or FaultMix. Every client uses all of them.
	Replicas int
	// History is the number of events per resource that a watch cache keeps; AdaptiveHistory for a real apiserver's sizes. If 0, it is
	// what the seed draws, from 2 to a real apiserver's, or 1000 if there is a Mix or FaultMix. In half of the seeds, from 2 on, resourceVersions leap, too: every few
	// writes the next one has a digit more, where who compares them as text is wrong.
	History int64
	// WatchList says whether the server has streaming lists: On, or Off, as before v1.34 or with its feature gate off. If 0, it is what the
	// seed draws, or On if there is a Mix or FaultMix.
	WatchList Setting
	// Interleave says whether the seed interleaves the goroutines of the test: where they lock, send, receive, signal or start another, some give
	// way, and which of those that can run goes on is drawn. If it is Off, a goroutine runs until it waits, and those that were woken first run
	// first. On is an error in a test that is built without the overlay of Go's runtime, informersim go test. If 0, it is what
	// the seed draws in a test that is built with it, or Off if there is a Mix or FaultMix.
	Interleave Setting
	// MutationDetector says whether client-go's mutation detector watches the caches of informers: a program that changes an object that it got from a lister, a
	// cache or a handler, instead of a copy, has every reader of the cache see what the server never said. The detector looks once in a virtual second, and ends the process
	// with a panic that names the type; what has changed is printed before it. If 0, it is on in every fourth run of Run, from seed 3 on, and another
	// process of the test tries with it what fails without: the failure says if that process dies of it. With
	// KUBE_CACHE_MUTATION_DETECTOR=true in the environment it is on in all runs. It cannot compare messages of protobuf, such as Istio's objects, which change when they are read:
	// where Scheme has some, 0 is Off.
	MutationDetector Setting
	// Controllers are the controllers of kube-controller-manager that the cluster has, by its names for them; "-NAME" leaves one out. Some are actors,
	// whose every action is a choice of the run, and "*" is all of these:
	//
	//	garbage-collector  objects whose owners (ownerReferences) are all gone are eventually deleted, and foreground deletion and orphaning are
	//	                   carried out. Without it, their finalizers stay
	//	namespace          a deleted namespace is emptied, and then it is gone
	//	serviceaccount     each namespace gets a ServiceAccount "default"
	//	resourcequota      ResourceQuotas say what is used, and so limit it
	//
	// The others are Kubernetes' own, of v1.37, in a process beside the engine, which is built when they are first used: deployment, replicaset,
	// statefulset, daemonset, job, cronjob, replicationcontroller, disruption, ttl-after-finished, endpointslice, endpoint, endpointslicemirroring and
	// clusterrole-aggregation. No fault is picked for their requests, and they do not crash. Their Pods need Nodes to live.
	//
	// If there are no actors among them, that is resourcequota alone. With namespace or serviceaccount, namespaces live as in a real cluster: default, kube-system,
	// kube-public and kube-node-lease are there, and in no other can anything be created unless the test creates it first. Without these two,
	// objects may be in any namespace, and a deleted one is gone at once. Nodes bring the scheduler and kubelets.
	Controllers []string
	// GarbageCollection adds the garbage-collector to Controllers.
	GarbageCollection bool
	// Nodes is the number of Nodes of the cluster. If it is not 0, Pods live: a scheduler binds them, and kubelets take them through their
	// phases, as Stages say. The Nodes are "node-1" and so on; others that the test creates are used as well.
	Nodes int
	// Stages say how Pods, and any other objects, go on by themselves: the names of files with KWOK's Stages, or of the sets "pod" (how Pods
	// live on a node, once they are bound to one: without Nodes, nobody binds them), "pod-faults" (image pulls that fail or take long, containers that crash, evictions, slow ends) and "node-faults" (nodes that
	// are lost for a while), "workload" (without any Pods, the status of Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, claims of volumes,
	// and of what has a load balancer follows their spec) and "workload-faults" (rollouts that are stuck, Jobs that fail, what was available is not
	// for a while). If it is nil and there are Nodes, it is "pod" and, in the runs of half of the seeds, the sets of faults, one of
	// which most Pods may meet, such as "pod-evicted"; with a Mix or FaultMix it is "pod".
	Stages []string
	// CRDs are CustomResourceDefinition manifests: YAML or JSON text, or the name of a file or folder that holds them. Where their versions are
	// converted by a webhook, the handler of Webhooks, or of Env.ServeWebhooks, is called.
	CRDs []string
	// ServeCRDs has CustomResourceDefinitions served as objects, too, as a real cluster does: those of CRDs are there when the body begins, and others
	// may be created, changed and deleted, by the test or by what it tests. A new one is served some steps later, once its condition Established is true;
	// a deleted one takes its objects along. Without it they are no objects, and a list of them answers 404. Each run compiles the schemas anew, which
	// takes milliseconds for small ones.
	ServeCRDs bool
	// Roles are manifests of Roles, ClusterRoles and their bindings: YAML or JSON text, or the name of a file or folder that holds them, such as
	// config/rbac. They, and the Namespaces and ServiceAccounts in the same manifests, are there when the body begins. A client whose configuration names
	// a user (rest.Config.Impersonate, for instance with the UserName "system:serviceaccount:NAMESPACE:NAME") may then do what they and other roles in the
	// cluster allow him, by Kubernetes' own code, and gets 403 for everything else. Other clients, and the test, may do everything, and so may everyone if
	// there are no Roles. Discovery is open to all. Reviews, such as SelfSubjectAccessReviews, are still answered with yes, and whoever may write roles
	// may give more than he has.
	Roles []string
	// Webhooks are the admission webhooks that are called, and the handler of conversion webhooks. Admission webhooks that are configured in the cluster
	// without them are never called.
	Webhooks Webhooks
	// Scheme knows the Go types of custom resources that are passed to the helpers (Env.Create, …), in addition to client-go's
	// scheme.
	Scheme *runtime.Scheme

	// Properties are checked in addition to those at the API: your own, and the ready-made ones of WellBehaved.
	Properties []Property
	// Verify runs each seed twice and compares the runs, as -simtest.verify does.
	Verify bool
	// Shrink limits the real time spent on shrinking a failure to fewer faults and a shorter, more orderly schedule;
	// DefaultShrink if 0, no shrinking if negative. The flag -simtest.shrink overrides it.
	Shrink time.Duration
	// AllowLeaks accepts goroutines that do not end when a run does, as those of a controller that leaves them to the end of its process. They are
	// frozen where they are, and what they refer to stays in memory. Otherwise they are a failure, which names them.
	AllowLeaks bool
	// MaxSteps limits the steps of a run; DefaultMaxSteps if 0.
	MaxSteps uint64
	// VirtualBodyTimeout limits the virtual time that the body may wait for anything but Env's methods;
	// DefaultVirtualBodyTimeout if 0.
	VirtualBodyTimeout time.Duration
	// RealQuiescenceTimeout limits the real time that goroutines may take to become quiescent after a step; 30 s if 0.
	RealQuiescenceTimeout time.Duration
}

// Defaults for zero Options.
const (
	DefaultSeeds              = 20
	DefaultMaxSteps           = 1_000_000
	DefaultShrink             = 10 * time.Second
	DefaultVirtualBodyTimeout = 2 * time.Hour
)

// AdaptiveHistory, as Options.History, sizes watch caches like those of a real apiserver: 100 events, and more, up to 102,400, where
// events are frequent.
const AdaptiveHistory = -1

// Setting is whether a run has something. The zero value leaves it to the run's seed.
type Setting int

// The settings.
const (
	On  Setting = 1
	Off Setting = -1
)

// complete fills in the defaults that this side knows; the engine checks the rest.
func (o *Options) complete() error {
	if o.Seeds < 0 {
		return fmt.Errorf("Options.Seeds is %d: it must not be negative", o.Seeds)
	}
	if err := validate(o.Properties); err != nil {
		return fmt.Errorf("Options.Properties: %w", err)
	}
	if o.Seeds == 0 {
		o.Seeds = DefaultSeeds
	}
	if o.Shrink == 0 {
		o.Shrink = DefaultShrink
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = DefaultMaxSteps
	}
	if o.VirtualBodyTimeout <= 0 {
		o.VirtualBodyTimeout = DefaultVirtualBodyTimeout
	}
	return nil
}

// data returns what of the options crosses to the engine.
func (o *Options) data() (w wire.Options, err error) {
	w = wire.Options{
		Mix: o.Mix, CrashProbability: o.CrashProbability, MaxCrashes: o.MaxCrashes, Strategy: o.Strategy,
		Replicas: o.Replicas, History: o.History, WatchList: int(o.WatchList), Interleave: int(o.Interleave), MutationDetector: int(o.MutationDetector), GarbageCollection: o.GarbageCollection,
		Controllers: o.Controllers, ServeCRDs: o.ServeCRDs, Nodes: o.Nodes, MaxSteps: o.MaxSteps, BodyTimeout: o.VirtualBodyTimeout,
	}
	if o.FaultMix != nil {
		if w.FaultMix, err = json.Marshal(o.FaultMix); err != nil {
			return w, fmt.Errorf("Options.FaultMix: %w", err)
		}
	}
	for _, p := range o.Properties {
		w.Properties = append(w.Properties, wire.Property{Name: p.Name, Kinds: p.Kinds, Ready: p.ready, Except: p.except})
	}
	if o.MutationDetector == 0 && !canCompare(o.Scheme) {
		w.MutationDetector = int(Off)
	}
	w.Webhooks, w.Authorized = o.Webhooks.enabled(), len(o.Roles) > 0
	if w.Stages, err = readStages(o.Stages); err != nil {
		return w, fmt.Errorf("Options.Stages: %w", err)
	}
	if w.CRDs, err = readManifests(o.CRDs); err != nil {
		return w, fmt.Errorf("Options.CRDs: %w", err)
	}
	return w, nil
}

// readStages reads files; names without a dot or a slash are those of sets.
func readStages(names []string) (all []wire.File, err error) {
	for _, name := range names {
		f := wire.File{Name: name}
		if strings.ContainsAny(name, `./\`) {
			data, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			if f.Text = string(data); strings.TrimSpace(f.Text) == "" {
				return nil, fmt.Errorf("the file %s is empty", name)
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// readManifests reads files and folders; a string of several lines is itself a manifest. One with nothing in it is an error: whoever names it expects
// something of it.
func readManifests(crds []string) ([]string, error) {
	var all []string
	for n, c := range crds {
		written := strings.ContainsRune(strings.TrimSpace(c), '\n')
		switch {
		case strings.TrimSpace(c) == "" || written && isBlank(c):
			return nil, fmt.Errorf("the manifest %d of %d is empty", n+1, len(crds))
		case written:
			all = append(all, c)
			continue
		}
		files := []string{c}
		if info, err := os.Stat(c); err != nil {
			return nil, err
		} else if info.IsDir() {
			if files, err = manifestsIn(c); err != nil {
				return nil, err
			}
			if len(files) == 0 {
				return nil, fmt.Errorf("the folder %s has no *.yaml, *.yml or *.json", c)
			}
		}
		var text strings.Builder
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				return nil, err
			}
			text.WriteString(string(data) + "\n")
			all = append(all, string(data))
		}
		if isBlank(text.String()) {
			return nil, fmt.Errorf("%s has no manifest in it", c)
		}
	}
	return all, nil
}

// manifestsIn returns the files of a folder that are manifests, sorted.
func manifestsIn(folder string) (files []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.IsDir() && (ext == ".yaml" || ext == ".yml" || ext == ".json") {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	return files, err
}

// isBlank reports whether a manifest has no object: nothing but space, comments and the lines between documents.
func isBlank(manifest string) bool {
	for line := range strings.Lines(manifest) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && line != "---" {
			return false
		}
	}
	return true
}
