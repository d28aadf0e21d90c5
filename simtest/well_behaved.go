package simtest

import (
	"fmt"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// The names of the properties of a well-behaved controller: see WellBehaved.
const (
	NoHotReconcile        = "NoHotReconcile"
	NoWriteWar            = "NoWriteWar"
	NoStaleCreate         = "NoStaleCreate"
	QuietAfterConvergence = "QuietAfterConvergence"
	NoFinalizerLeft       = "NoFinalizerLeft"
	NoOrphan              = "NoOrphan"
	NoGrowingBackoff      = "NoGrowingBackoff"
	NoLostUpdate          = "NoLostUpdate"
	NoEndlessError        = "NoEndlessError"
	NoForgottenFailure    = "NoForgottenFailure"
	NoForgottenChange     = "NoForgottenChange"
	NoLeftover            = "NoLeftover"
	NoBlindDelete         = "NoBlindDelete"
	NoWriteAfterLease     = "NoWriteAfterLease"
	NoAbandonedWrite      = "NoAbandonedWrite"
	NoIgnoredWrite        = "NoIgnoredWrite"
	QuietAfterRestart     = "QuietAfterRestart"
	NoRevival             = "NoRevival"
	NoStaleGeneration     = "NoStaleGeneration"
	NoLostDeletion        = "NoLostDeletion"
	NoLostReplacement     = "NoLostReplacement"
	NoFinalFailure        = "NoFinalFailure"
	NoHastyWrite          = "NoHastyWrite"
	NoLostEffect          = "NoLostEffect"
	NoMistakenAbsence     = "NoMistakenAbsence"
	NoLostAnnotation      = "NoLostAnnotation"
	NoStaleDelete         = "NoStaleDelete"
)

// wellBehaved are the ready-made properties, with what they say.
var wellBehaved = []Property{
	{Name: NoHotReconcile, Statement: "no controller sends one and the same request, or reconciles an object, again and again while nothing changes"},
	{Name: NoWriteWar, Statement: "no field goes to and fro between the values of two writers"},
	{Name: NoStaleCreate, Statement: "no owner is left with two equal children that one controller made from a cache without the first"},
	{Name: QuietAfterConvergence, Statement: "when nothing has changed from outside for long, no controller goes on changing the same field"},
	{Name: NoFinalizerLeft, Statement: "an object that is being deleted goes while the controllers of its finalizers run"},
	{Name: NoOrphan, Statement: "no controller makes a child for an owner that it knows to be gone, and none is left behind"},
	{Name: NoGrowingBackoff, Statement: "a retry does not come the later, the more often the same request has failed and then succeeded"},
	{Name: NoLostUpdate, Statement: "no update takes back, unseen, what others have changed in fields that are not the controller's"},
	{Name: NoEndlessError, Statement: "when nothing has changed from outside for long, no reconcile goes on failing by itself"},
	{Name: NoForgottenFailure, Statement: "a reconcile that has failed since a request was not answered is tried again"},
	{Name: NoForgottenChange, Statement: "what a change asks for is written before the run has the controller's informers list anew"},
	{Name: NoLeftover, Statement: "what a controller has made for an object, and removes when that goes, it removes each time"},
	{Name: NoBlindDelete, Statement: "no deletion that is meant for an object hits the next one of its name"},
	{Name: NoWriteAfterLease, Statement: "no replica goes on writing when another one has taken its Lease"},
	{Name: NoAbandonedWrite, Statement: "a write that has failed for a reason that passes is tried again before the run has the controller's informers list anew"},
	{Name: NoIgnoredWrite, Statement: "what a controller writes into a custom resource, or the status of any other, and the server accepts, is there afterwards"},
	{Name: QuietAfterRestart, Statement: "when all is done, a controller that is restarted finds nothing to do"},
	{Name: NoRevival, Statement: "no apply or create brings back, unseen, an object that somebody else has deleted"},
	{Name: NoStaleGeneration, Statement: "a status says in the end that the current generation was observed, if it has done so when the object was alike"},
	{Name: NoLostDeletion, Statement: "what a controller does when its watch tells of a deletion, it does when a list does"},
	{Name: NoLostReplacement, Statement: "what a controller does for an object that is made anew, it does, too, when its watch has missed that"},
	{Name: NoFinalFailure, Statement: "no status says for good that a request has failed for a reason that passes"},
	{Name: NoHastyWrite, Statement: "a controller that begins writes nothing because one of its informers has not listed yet"},
	{Name: NoLostEffect, Statement: "what a controller does about an object when nothing fails, it does, too, when its writes fail for a while"},
	{Name: NoMistakenAbsence, Statement: "a controller does not take a read that fails for the answer that there is nothing"},
	{Name: NoLostAnnotation, Statement: "no controller takes away what others have put into an object's labels or annotations when it writes something else"},
	{Name: NoStaleDelete, Statement: "no controller deletes for good what it has made for an object since a list is older than that"},
}

// Exception is what a property of WellBehaved does not judge: what a client does, what is done to an object, or, with both, the one to the other.
// With neither, the property is left out.
type Exception struct {
	// Property is its name: NoWriteWar, …
	Property string
	// Client is that of RESTConfig; "" stands for all.
	Client string
	// Object is a plural, "pods", or one object, "pods default/web"; "" stands for all.
	Object string
	// Why is for those who read the test: an exception without a reason is refused.
	Why string
}

// WellBehaved returns ready-made properties of the controllers under test, for Options.Properties. They judge the clients that are named like
// processes (Env.Go), by what these write after which reads. In one seed of four, where the test deletes nothing of a resource that controllers do something about,
// the run does so when the body has ended:
//
//	NoHotReconcile         the same request, that changes nothing, comes more than 90 times within 30 s of virtual time (400 if it is a
//	                       read), while nobody changes anything and the controller is told nothing; or an object is reconciled more than 400 times
//	NoWriteWar             two writers, or two field managers, set a field to and fro, six times within 5 minutes, each to its own value, and the watches
//	                       of both have told them of what the test has changed
//	NoStaleCreate          an owner is left with two children that differ in a drawn name only: the second was made from a cache that
//	                       had not seen the first. An owner may have as many as the largest number in its own spec or data that is, by its name,
//	                       no port, time, weight or the like; text counts in a ConfigMap only. Whoever makes another one when
//	                       either is deleted, in the end, wants both
//	QuietAfterConvergence  a field changes three times, or an object is created three times, although all is done
//	NoFinalizerLeft        an object that is being deleted stays, although the controller that has set its finalizer runs, or stays until the
//	                       run has the controller's informers list anew
//	NoOrphan               a child is made for an owner of whose end its maker has known for a minute; with Options.GarbageCollection,
//	                       also a child that is left without its owner, as the Pods of a Job that is deleted without a propagation policy;
//	                       or a child that somebody has deleted is made again without any owner, although the one that it had is still there
//	NoGrowingBackoff       an update or a create that fails is repeated later each time, although it has succeeded in between: a rate limiter is told of
//	                       failures (AddRateLimited), and never of a success (Forget)
//	NoLostUpdate           an update without a resourceVersion sets a field back to what it was before somebody else's change, of which its sender
//	                       has not been told, and the sender has never written that field itself; or a patch replaces a list, and with it what
//	                       somebody else has put into it or taken out of it, or removes an element by an index that means another one since then;
//	                       another controller of the same process is somebody else if the test tells of reconciles
//	NoEndlessError         when all is done, the same object's reconcile fails again and again, or the same error is logged again and again, and
//	                       no refused request is the reason; or the same write is refused again and again, as of an object that has been modified,
//	                       although nobody changes it and its sender has been told of the newest version, or since it has no resourceVersion; or
//	                       a create is tried again and again, later each time, of what its sender has made with the same request
//	NoForgottenFailure     a reconcile has failed since the server could not answer, or the connection broke, and is not tried again within 18
//	                       minutes, or only when the run has the controller's informers list anew
//	NoForgottenChange      a controller writes something only when the run has its informers list anew: it has overlooked a change, given up, or lost
//	                       what it had put off
//	NoLeftover             what a controller has made for an object, and called after it, stays when that goes, although it has removed such things
//	                       elsewhere, at least twice. What has owner references is the garbage collector's
//	NoBlindDelete          a request to delete an object hits the next one of its name, of which its sender has not been told, and which is not as the
//	                       one before had become in its status, labels or annotations; or it does so since another object has gone or changed, and lets
//	                       the next one be once the run has made it again as it was
//	NoWriteAfterLease      a replica still writes a minute after another one has taken its Lease, and holds none, although nobody writes who has
//	                       never held one
//	NoAbandonedWrite       an update, a patch, a create or a delete that has failed with a 500, once or for 10 s, is sent again only when, 20 minutes later, the
//	                       run has the controller's informers list anew: the error was swallowed, or the controller has given up after a few tries. A
//	                       reconcile that asks to be called again has not, unless it does so, in more than 90 minutes, when nothing has failed, too
//	NoIgnoredWrite         the server accepts writes and ignores part of them: the status in a write to the resource itself; of a custom resource also labels
//	                       or the like in one to /status, a field that the schema does not have
//	QuietAfterRestart      a controller writes something only once it is restarted: a filter of events, something that it remembers, or a goroutine that
//	                       waits for ever had kept it from that
//	NoRevival              an apply that is to note something in an object makes another one of its name, since somebody has deleted that meanwhile, or a create
//	                       does that the object's own reconcile sends, as by controllerutil.CreateOrUpdate, and its sender does not want it: deleted once more, it
//	                       is not made again, not even when the controller starts anew
//	NoStaleGeneration      status.observedGeneration, or that of a condition such as Ready, stays behind the generation, although the controller has once brought it
//	                       there when the object was alike, and so was what its status says of it; or it does so of two objects, and has never brought it there
//	NoLostDeletion         what a controller had made and somebody deletes is made again if a watch tells of that, and not if a list does, until the run has
//	                       its informers list anew; or what it deletes or changes when an object of the test goes, likewise: its handler drops a
//	                       cache.DeletedFinalStateUnknown. Or its handler drops all deletions: it puts back at once what is changed of what it has made
//	NoLostReplacement      what a controller does for an object that somebody has deleted and made anew is done if a watch tells of that, and not if a list does,
//	                       until it is restarted: a filter of updates, or what it remembers by name, takes the new object for the one before
//	NoFinalFailure         a message of a status, or of a condition in it, still has the words of a 5xx or a broken connection when, half an hour after the faults have stopped,
//	                       its writer was restarted: a failure that passes was taken for one that lasts. So is it judged once more what a status says of the gets that fail for NoMistakenAbsence
//	NoHastyWrite           a controller that is restarted writes something because one of its lists comes late, which it does not write otherwise: it has not
//	                       waited for its informers (cache.WaitForCacheSync)
//	NoLostEffect           what a controller makes when an object of the test is made, or deletes when that goes, is lacking, or there, for good if its
//	                       writes of it fail for 10 s, or stays if the object goes while the controller cannot write it, or while its watch has not told it of what it has made: it
//	                       has noted as done, in a status or by a finalizer, what was not done yet, or trusted its cache. Or a create is carried out and its answer is lost, and
//	                       then something is lacking; or a status's phase, state or a condition says for good something else than it does if nothing fails
//	NoMistakenAbsence      a controller creates, deletes or changes something when a get of its fails with a 500, which it does not otherwise: it takes any error for
//	                       "not found"
//	NoLostAnnotation       an annotation, or a label, that somebody else has put into an object is let be, and gone with the next write that has another reason: the
//	                       controller sends what it would make in place of what is there, changed
//	NoStaleDelete          a controller that is restarted deletes what it has made for an object, since its list of such objects is from before, as from an apiserver
//	                       that is behind, and does not with the list of now; and does not make it again as it was, or what is stored or runs goes with it
//
// When the body has returned, the run goes on for them: the faults stop, 20 minutes of virtual time pass, as long as any of client-go's
// backoffs lasts, and for 10 more the controllers are watched. The body's own checks and properties no longer are asked then. So the runs of a seed
// are others with these properties than without, and take longer. Leases and Events count for none of them.
//
// In a run most requests take no virtual time. A controller that writes the time whenever its object has changed, and never comes to
// rest in a cluster, would rest here after its second write, which is the same as the first while the clock stands still. So when the 10 minutes begin, the
// controllers' watches end with 410 Expired, whereupon informers list and notify anew, and each write then takes 1.1 s. Both are faults in the trace.
// In between, each object is committed once more as it is, as by a migration of the storage, since many event handlers drop what comes with the
// resourceVersion that they know.
//
// For NoGrowingBackoff, updates and patches that a controller sent in these 10 minutes then fail, five times for two attempts each, with 2 minutes for each
// time. Of one that sends none, because it compares first what there is, the last changes of up to three objects are undone each time, so that it writes them
// again; if it does not, what its rate limiter remembers is not seen. For NoAbandonedWrite, they are then undone once more, one at a time, while all writes of the object
// fail for 10 s. If that is still undone after 2 minutes, the informers list anew once more 20 minutes later, and then, if it still is, all processes are restarted. The same is done with creates: of each client, the last
// objects of up to three resources that it has created, or made by an apply, are deleted while its creates of the resource fail; and with finalizers: up to three objects that have one of the
// client's are deleted while its writes of them fail; and with deletes: the last objects of up to three resources that it has deleted are made anew while its deletes of them fail. In half of the seeds, eight in a row, it is one object in all that writes fail of, another one each seed, since who tries one write again
// often makes good another that it has given up. For NoLostAnnotation, an annotation is put into those whose last changes can be undone, and 4 minutes later these are undone
// where it still is, once more. For NoGrowingBackoff, what was created is deleted three times more, and the first two attempts to make one again fail each time; for NoLostDeletion, once more,
// just after the watches of the resource have ended with 410 Expired, and so are up to three objects that the test has made and that have no finalizers, each of which is made anew every time. For NoLostReplacement, up to three objects that the test has made, and that have no finalizers, are deleted and made anew, while the
// watches are open and once more after they have ended; all controllers are restarted 22 minutes later. The other properties judge before that, but for NoBlindDelete, if it has to see what is made again; NoForgottenChange,
// after the informers have listed anew once more, if what a controller has written since they did is a number, which may be another one each time.
//
// A controller that waits for its time, such as half an hour after a change, may happen to write just when the run has done something to it, or not to have removed yet what it removes once in an hour. So what NoFinalizerLeft, NoOrphan, NoForgottenFailure,
// NoForgottenChange, NoLeftover, NoBlindDelete, NoAbandonedWrite, QuietAfterRestart, NoLostDeletion, NoLostReplacement, NoHastyWrite, NoLostEffect,
// NoMistakenAbsence, NoLostAnnotation or NoStaleDelete finds counts only if it is found, too, when the run is made once more with all of this 67 minutes later.
// What a controller writes once a read of its has failed, is late or is old, which NoMistakenAbsence, NoHastyWrite and NoStaleDelete judge, counts only if it does not write that, too, in a run that goes the same way up to that read, which is answered at once there.
// NoGrowingBackoff's rounds are an hour and a half apart then, since a backoff may end by itself some time after the last failure.
//
// For QuietAfterRestart, all processes are restarted before that, when the 10 minutes are over, and 90 s pass; if somebody writes something then, they are restarted once more, since
// one that writes at each start has forgotten nothing. For NoHastyWrite, they are restarted twice more, while one resource is listed 20 s late for one client;
// which ones follows from the seed. For NoLostEffect, an object that the test has made is deleted and made anew, twice, and then once more while what the controllers have done about
// that each time fails for 10 s, and so twice for 5 s: while their writes of it fail, and while a watch of what they make for it lags; at last an answer to a create is lost. For NoMistakenAbsence, the informers list anew twice while the gets of one resource fail, other ones each seed. For NoStaleDelete, an object that the test has made is made anew, and all processes are restarted while one of them gets the list of that resource as it was before. Where processes never crash (Options.CrashProbability), or none runs at the end, none is
// restarted, and a passing Run says so.
//
// NoHotReconcile, NoEndlessError, NoForgottenFailure and, of creates, NoRevival see the reconciles that a test tells of, by [Logger] or [Env.Reconciling], and NoEndlessError the errors that are logged with klog or
// Kubernetes' HandleError. A reconcile that fails for ever, makes no request, and whose error goes nowhere cannot be seen: a passing Run says so. An error that says
// that something is not found is judged only if it is the reconciled object itself, which was deleted. Who waits for another object by returning another
// error is excepted by name, and there Client is the controller's name. For writes that are refused it is the process's.
//
// Correct controllers may differ: one that writes the time of its last look into a status every minute never comes to rest, two that pass a token to and fro in a field look as if at war, one that lets an object
// go when something else has gone keeps its finalizer, one that gives up after some attempts, or leaves what is not watched to the next resync or start, forgets, and one that says in a status of its own
// that its informers have not listed yet writes something because of that. They are
// excepted by name, with a reason:
//
//	simtest.WellBehaved(simtest.Exception{Property: simtest.QuietAfterConvergence, Object: "nodes", Why: "a heartbeat every minute"})
func WellBehaved(except ...Exception) []Property {
	var all []Property
	for _, p := range wellBehaved {
		p.ready = true
		leftOut := false
		for _, e := range except {
			if e.Why == "" {
				panic(fmt.Sprintf("simtest: WellBehaved: the exception from %q has no Why", e.Property))
			}
			if e.Property != p.Name {
				continue
			}
			leftOut = leftOut || e.Client == "" && e.Object == ""
			p.except = append(p.except, wire.Exception{Client: e.Client, Object: e.Object})
		}
		if !leftOut {
			all = append(all, p)
		}
	}
	for _, e := range except {
		if !isReady(e.Property) {
			panic(fmt.Sprintf("simtest: WellBehaved: there is no property %q", e.Property))
		}
	}
	return all
}

func isReady(name string) bool {
	for _, p := range wellBehaved {
		if p.Name == name {
			return true
		}
	}
	return false
}

// asksFor reports whether a ready-made property is among those of a test.
func asksFor(all []Property, name string) bool {
	for _, p := range all {
		if p.ready && p.Name == name {
			return true
		}
	}
	return false
}
