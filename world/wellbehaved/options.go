package wellbehaved

import (
	"slices"
	"time"

	kinds "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// Options say of the clients of a run what records do not.
type Options struct {
	// Role says what a client is.
	Role func(client sim.ActorID) Role
	// Runs reports whether a controller's process runs now.
	Runs func(client sim.ActorID) bool
	// Sent returns a request in flight, nil if nothing more is known of it.
	Sent func(client sim.ActorID, n int64) *Request
	// Observed says since when nothing has been changed from outside, the faults have stopped, and the controllers have had the time that they
	// need; ok is false before.
	Observed func() (since time.Duration, ok bool)
	// Behind reports whether a client had not been told of everything that it watches when that began.
	Behind func(client sim.ActorID) bool
	// Calm says since when the body has ended and the faults have stopped; ok is false before.
	Calm func() (since time.Duration, ok bool)
	// Errors returns what the program has logged as errors since then, until writes are made to fail.
	Errors func() []Logged
	// Only returns the name of the only process, "" if there are several.
	Only func() string
	// Dead reports whether an error is that of a process which has crashed: what is left of it can make no request.
	Dead func(why string) bool
	// Reconciles are the kinds of records of reconciles.
	Reconciles Reconciles
	// Probing says whether writes are made to fail now, some at a time.
	Probing func() bool
	// ListsAnew says whether, after that, controllers' informers list anew.
	ListsAnew func() bool
	// Late says which resource a client is told of late, since the run has restarted it for that; "" and "" if there is none.
	Late func() (client, resource string)
	// Outdated says of which object a client is told late, since the run has restarted it for that, or will.
	Outdated func() Outdated
	// Blinded says of which resource a client's gets fail, since the run has them fail; "" and "" if there is none.
	Blinded func() (client, resource string)
	// Anyway reports whether a client is known to write that, too, when they do not fail, or it is told of that at once.
	Anyway func(x Writing) bool
	// Says passes on what says whether a status tells of one of these, for NoFinalFailure: then controllers look at everything once more.
	Says func(ask func() bool)
	// Restarted says how often all controllers were restarted since nothing changes from outside any more: before writes are made to fail.
	Restarted func() int
	// Tries passes on what the run asks NoLostEffect; Trial is what it does to an object now.
	Tries func(Trials)
	Trial func() Trial
	// Doubts says that NoForgottenChange has to see what happens when informers list anew once more; Confirmed says whether they have.
	Doubts    func()
	Confirmed func() bool
	// Revives says that NoRevival has to see what happens when the object with this uid is deleted.
	Revives func(uid kinds.UID)
	// Remakes says that NoBlindDelete has to see what becomes of an object with this key, if there is none then, when it is made once more as it was.
	Remakes func(key string, obj any)
	// Suspects passes on what says, once, which objects NoStaleCreate has to see deleted, one at a time, after all other properties but those that go on have judged.
	Suspects func(ask func(property.World) []kinds.UID)
	// Keeps passes on what says which objects a property would say are left, or what they were made for, by their keys: it has to see deleted what may use them.
	Keeps func(property string, left func(property.World) []string)
	// Restarts is the kind of record that says that the process of a client has begun or ended: of "process/NAME", the client "conn/NAME".
	Restarts sim.Kind
	// Collected reports whether a garbage collector runs.
	Collected bool
	// Collects reports whether a client is the garbage collector's.
	Collects func(client sim.ActorID) bool
	// Except has, by property, what it does not judge.
	Except map[string][]Exception
}

// Outdated is an object that the run makes, of which it has a client told late.
type Outdated struct {
	Client, Key string // both "" if there is none
	RV          int64  // of the list without it
}

// Role is what a client is.
type Role int

// The roles.
const (
	// Outside is a client that stands for whatever is not under test: the workload, the test's own client.
	Outside Role = iota
	// Cluster is one of the cluster's own controllers. They answer to what others do.
	Cluster
	// Controller is a client that is judged.
	Controller
)

// Request is what a request says beyond its record.
type Request struct {
	Step   uint64 // in which it was sent
	At     time.Duration
	Method string
	Path   string // with the query
	Body   string
	// ContentType is that of the body.
	ContentType string
	Manager     string // the field manager, as the server sees it
}

// Exception is what a property does not judge. What is empty stands for all.
type Exception struct {
	Client string // "controller", without "conn/"
	Object string // "plural" or "plural namespace/name"
}

// Names of the properties, in the order of [All].
var Names = []string{nameHot, nameWar, NameStale, nameQuiet, nameFinalizer, NameOrphan, NameBackoff, nameLost, NameEndless, nameForgotten, NameOverlooked, nameLeftover, NameBlind, NameDeposed, NameAbandoned, nameIgnored, NameRestart, NameRevival, nameGeneration, NameDeletion, NameReplacement, NameFinal, NameHasty, NameEffect, NameAbsence, NameAnnotation, NameStaleDelete}

// Answering are the names of those that say that a controller does something since the run has done something, because the one comes after the other, or that it does nothing more. A controller that has waited for its time may
// happen to do the one, and one that still waits for it, the other: what they find counts if it is found as well when the run does that at another time, with more of it in between.
var Answering = []string{nameFinalizer, NameOrphan, NameBackoff, nameForgotten, NameOverlooked, nameLeftover, NameBlind, NameAbandoned, NameRestart, NameDeletion, NameReplacement, NameHasty, NameEffect, NameAbsence, NameAnnotation, NameStaleDelete}

// All returns the properties with these names.
func All(o Options, names []string) (all []property.Property) {
	for _, p := range []property.Property{
		noHotReconcile(&o), noWriteWar(&o), noStaleCreate(&o), quietAfterConvergence(&o), noFinalizerLeft(&o), noOrphan(&o), noGrowingBackoff(&o), noLostUpdate(&o), noEndlessError(&o), noForgottenFailure(&o), noForgottenChange(&o), noLeftover(&o), noBlindDelete(&o), noWriteAfterLease(&o), noAbandonedWrite(&o), noIgnoredWrite(&o), quietAfterRestart(&o), noRevival(&o), noStaleGeneration(&o), noLostDeletion(&o), noLostReplacement(&o), noFinalFailure(&o), noHastyWrite(&o), noLostEffect(&o), noMistakenAbsence(&o), noLostAnnotation(&o), noStaleDelete(&o),
	} {
		if slices.Contains(names, p.Name) {
			all = append(all, p)
		}
	}
	return all
}

// excepted reports whether a property does not judge what a client does to an object, which is named as in records.
func (o *Options) excepted(property, client, key string) bool {
	return slices.ContainsFunc(o.Except[property], func(e Exception) bool {
		return (e.Client == "" || e.Client == client) && (e.Object == "" || e.Object == key || e.Object == pluralOf(key))
	})
}

// clientOf returns the client of the process that a record is about.
func clientOf(w property.World, r *sim.Record) (sim.ActorID, bool) {
	name := w.Kernel().ActorName(r.Actor)
	const process = "process/"
	if len(name) <= len(process) {
		return 0, false
	}
	return w.Kernel().ActorByName("conn/" + name[len(process):])
}

// following are the kinds of records with which a client learns of objects.
var following = []sim.Kind{fakeapiserver.KindRequest, fakeapiserver.KindPage, fakeapiserver.KindFrame}
