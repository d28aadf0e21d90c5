package scenarios

import (
	"fmt"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// tally counts the events of a run, and collects the lines for the script's log, requests and reconciles commands.
type tally struct {
	w *World
	// logged holds, by name, the logs that the script prints.
	logged map[string]*lineLog
	// began holds, by worker, the revisions of the reconciles in flight, if the script prints any log.
	began map[sim.ActorID]int64
}

func newTally(w *World) *tally {
	t := &tally{w: w, logged: map[string]*lineLog{}, began: map[sim.ActorID]int64{}}
	for _, c := range w.scenario.cmds {
		if c, ok := c.Command.(*takeCmd); ok {
			t.logged[c.prefix+c.of] = &lineLog{}
		}
	}
	w.logs = t.logged
	return t
}

// Record implements sim.Observer.
func (t *tally) Record(r *sim.Record) {
	res := &t.w.result.Run
	switch r.Kind {
	case fakeapiserver.KindCommit:
		res.Commits++
	case fakeapiserver.KindFrame:
		res.Frames++
	case fakeapiserver.KindRequest:
		res.Requests++
		if l := t.logged[t.w.kernel.ActorName(r.Actor)]; l != nil {
			l.line("%s", r.Detail)
		}
	case fakeapiserver.KindFault:
		res.CountFault(r.Detail)
	case subjects.KindNotify:
		res.Notifications++
		if len(t.logged) > 0 {
			t.notify(r)
		}
	case subjects.KindReconcile:
		if len(t.logged) > 0 {
			t.began[r.Actor] = r.RV
		}
	case subjects.KindReconciled:
		res.Reconciles++
		if len(t.logged) > 0 {
			t.reconciled(r)
		}
	case subjects.KindWorkers:
		name := t.w.kernel.ActorName(r.Actor)
		if l := t.logged[reconcilesOf+name]; l != nil && r.Detail == subjects.WorkersDrained {
			l.line("%s %s", name, r.Detail)
		}
	}
}

// StepEnd implements sim.Observer.
func (*tally) StepEnd(*sim.StepInfo) {}

func (t *tally) notify(r *sim.Record) {
	_, handler, _ := strings.Cut(t.w.kernel.ActorName(r.Actor), "/")
	if l := t.logged[handler]; l != nil {
		l.line("%s %s", handler, NotificationText(r))
	}
}

func (t *tally) reconciled(r *sim.Record) {
	worker := t.w.kernel.ActorName(r.Actor)
	name, _, _ := strings.Cut(worker, "/")
	if l := t.logged[reconcilesOf+name]; l != nil {
		l.line("%s %s", worker, ReconcileText(r, t.began[r.Actor]))
	}
}

// ReconcileText formats a KindReconciled record as the reconciles command does: `default/a rv=1 failed, again in 5ms`. The
// revision is that of the reconcile's KindReconcile record.
func ReconcileText(r *sim.Record, revision int64) string {
	text := fmt.Sprintf("%s rv=%d %s", r.Key, revision, r.Detail)
	if revision == 0 {
		text = fmt.Sprintf("%s gone %s", r.Key, r.Detail)
	}
	if r.N >= 0 {
		text += fmt.Sprintf(", again in %v", time.Duration(r.N))
	}
	return text
}

// initialSuffix says that an addition is of the initial list.
const initialSuffix = " initial"

// NotificationText formats a KindNotify record as the log command does: `add default/a rv=1 initial`.
func NotificationText(r *sim.Record) string {
	switch r.Detail {
	case subjects.NotifyAddInitial:
		return fmt.Sprintf("add %s rv=%d%s", r.Key, r.RV, initialSuffix)
	case subjects.NotifyUpdate:
		return fmt.Sprintf("update %s rv=%d old=%d", r.Key, r.RV, r.N)
	case subjects.NotifySync:
		return fmt.Sprintf("update %s rv=%d old=%d sync", r.Key, r.RV, r.N)
	case subjects.NotifyUnknown:
		return fmt.Sprintf("delete %s unknown-final-state rv=%d", r.Key, r.RV)
	}
	return fmt.Sprintf("%s %s rv=%d", r.Detail, r.Key, r.RV)
}
