package controllerruntime

import (
	"fmt"
	"os"
	"strings"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/informersim/informersim/simtest"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(simtest.Logger())
	os.Exit(m.Run())
}

// What this release does with a reconcile's context and goroutine tells whose requests are: each write of the manager's is a reconcile's.
func TestWritesAreTheReconcilesOwn(t *testing.T) {
	var writes, known int
	o := options()
	o.Seeds, o.CrashProbability = 3, -1
	o.Properties = []simtest.Property{{
		Name: "WhoWrites", Statement: "each write of the manager's is sent by a reconcile", Kinds: []string{"request", "sends"},
		New: func() simtest.Checker {
			var client string
			var last int64
			var write bool
			return simtest.Checker{Record: func(r *simtest.Record) *simtest.Violation {
				name, isClient := strings.CutPrefix(r.Actor, "conn/")
				switch {
				case r.Kind == "sends" && (r.Detail != client || r.N != last):
					return &simtest.Violation{Message: fmt.Sprintf("a reconcile sends request %d of %s; the last one was %d of %s", r.N, r.Detail, last, client)}
				case r.Kind == "sends" && write:
					known++
				case isClient:
					client, last = name, r.N
					write = name != "workload" && !strings.HasPrefix(r.Detail, "list") && !strings.HasPrefix(r.Detail, "watch")
					if write {
						writes++
					}
				}
				return nil
			}}
		},
	}}
	simtest.Run(t, o, body(false))
	if writes < 10 || known != writes {
		t.Errorf("of %d writes, %d are said to be a reconcile's", writes, known)
	}
}

// What this release logs tells when a reconcile begins and ends, and of which object it is: each ends before the next of its object begins.
func TestReconcilesAreTold(t *testing.T) {
	var begun, ended int
	o := options()
	o.Seeds, o.Properties = 1, []simtest.Property{{
		Name: "OneReconcileAtATime", Statement: "an object is reconciled once at a time", Kinds: []string{"reconcile", "reconciled"},
		New: func() simtest.Checker {
			busy := map[string]bool{}
			return simtest.Checker{Record: func(r *simtest.Record) *simtest.Violation {
				begins := r.Kind == "reconcile"
				switch {
				case !strings.HasPrefix(r.Actor, "secrets/") || !strings.HasPrefix(r.Key, "configmaps default/m"):
					return &simtest.Violation{Message: fmt.Sprintf("%s reconciles %q", r.Actor, r.Key)}
				case begins && busy[r.Key]:
					return &simtest.Violation{Key: r.Key, Message: r.Key + " is reconciled twice at a time"}
				case begins:
					begun++
				default:
					ended++
				}
				busy[r.Key] = begins
				return nil
			}}
		},
	}}
	o.CrashProbability = -1 // a new life begins while the old one's reconciles still end
	simtest.Run(t, o, body(false))
	if begun < 10 || ended < begun-1 {
		t.Errorf("%d reconciles begin, and %d end", begun, ended)
	}
}
