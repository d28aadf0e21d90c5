package simtest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest/fault"
	"github.com/informersim/informersim/simtest/internal/wire"
)

// Replicas starts n processes that run the same program, named name-0, name-1, and so on, as Go starts one. Each is told its name, which is
// the name of its client (RESTConfig), and its identity where the program takes part in a leader election.
func (e *Env) Replicas(name string, n int, run func(ctx context.Context, replica string) error) {
	e.alive()
	if name == "" || n < 1 || run == nil {
		panic(fmt.Sprintf("simtest: env.Replicas(%q, %d): it needs a name, at least one replica and a function", name, n))
	}
	for i := range n {
		replica := fmt.Sprintf("%s-%d", name, i)
		e.Go(replica, func(ctx context.Context) error { return run(ctx, replica) })
	}
}

// Leader returns the process that holds a Lease (client-go's leaderelection, controller-runtime's LeaderElection), "" if none does. That is the one
// whose name is the holder's identity, or the part of it before the first underscore; or else, since identities are often host names, the one
// whose client has written the Lease last. A Lease whose time is over counts as held until somebody takes it. Like Get, it reads the Store.
func (e *Env) Leader(namespace, lease string) string {
	e.alive()
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: lease}}
	if err := e.Get(l); err != nil || l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" {
		return ""
	}
	holder, _, _ := strings.Cut(*l.Spec.HolderIdentity, "_")
	if e.knows(holder) {
		return holder
	}
	writer := e.Cluster().ask(wire.New(wire.Query).Byte(wire.QueryLease).Text(namespace + "/" + lease)).Text()
	if e.knows(writer) {
		return writer
	}
	return ""
}

// CrashAfter has a process crash as soon as an event has happened, in the same step, so that it cannot react any more. It is restarted like one
// that a fault crashes. If the process does not run at that moment, nothing happens. An event with no Client is one of the process's own client,
// the one with its name. To miss no event, call it before Go:
//
//	// between its write of the Secret, whose answer it never sees, and whatever it would do next
//	env.CrashAfter("controller", fault.Trigger{Event: fault.TriggerCommit, Resource: "secrets"})
//	// as it sends its second update, which may still arrive, as what is in flight may after any crash
//	env.CrashAfter("controller", fault.Trigger{Event: fault.TriggerRequest, Type: "update", Count: 2})
//
// An unknown event or resource fails the test, as does a process that was never started by the time the body returns.
func (e *Env) CrashAfter(process string, event fault.Trigger) {
	const call = "env.CrashAfter"
	e.alive()
	data, err := json.Marshal(event)
	e.require(call, err)
	e.require(call, e.w.body.ask(call, wire.AskCrashAfter, 0, process, string(data)).Error())
	e.doomed = append(e.doomed, process)
}

// checkNames fails the test if CrashAfter was told a name that no process has.
func (e *Env) checkNames() {
	for _, name := range e.doomed {
		e.mustKnow("env.CrashAfter", name)
	}
}
