package scenarios

import (
	"strconv"
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
	if t.w.refusals != nil {
		t.w.shown(r)
	}
	switch r.Kind {
	case fakeapiserver.KindCommit:
		res.Commits++
	case fakeapiserver.KindFrame:
		res.Frames++
	case fakeapiserver.KindRequest:
		res.Requests++
		if l := t.logged[t.w.kernel.ActorName(r.Actor)]; l != nil {
			l.line("", r.Detail)
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
			l.line(name, r.Detail)
		}
	}
}

// StepEnd implements sim.Observer.
func (*tally) StepEnd(*sim.StepInfo) {}

func (t *tally) notify(r *sim.Record) {
	_, handler, _ := strings.Cut(t.w.kernel.ActorName(r.Actor), "/")
	if l := t.logged[handler]; l != nil {
		l.text = append(appendNotification(append(append(l.text, handler...), ' '), r), '\n')
	}
}

func (t *tally) reconciled(r *sim.Record) {
	worker := t.w.kernel.ActorName(r.Actor)
	name, _, _ := strings.Cut(worker, "/")
	if l := t.logged[reconcilesOf+name]; l != nil {
		l.line(worker, ReconcileText(r, t.began[r.Actor]))
	}
}

// ReconcileText formats a KindReconciled record as the reconciles command does: `default/a rv=1 failed, again in 5ms`. The
// revision is that of the reconcile's KindReconcile record.
func ReconcileText(r *sim.Record, revision int64) string {
	text := r.Key + " rv=" + strconv.FormatInt(revision, 10) + " " + r.Detail
	if revision == 0 {
		text = r.Key + " gone " + r.Detail
	}
	if r.N >= 0 {
		text += ", again in " + time.Duration(r.N).String()
	}
	return text
}

// initialSuffix says that an addition is of the initial list.
const initialSuffix = " initial"

// NotificationText formats a KindNotify record as the log command does: `add default/a rv=1 initial`.
func NotificationText(r *sim.Record) string { return string(appendNotification(nil, r)) }

// appendNotification appends the text of a notification. A run has hundreds, and few of them are ever read.
func appendNotification(b []byte, r *sim.Record) []byte {
	var what, old, suffix string
	switch r.Detail {
	case subjects.NotifyAddInitial:
		what, suffix = "add", initialSuffix
	case subjects.NotifyUpdate:
		what, old = "update", " old="
	case subjects.NotifySync:
		what, old, suffix = "update", " old=", " sync"
	case subjects.NotifyUnknown:
		b = append(append(append(b, "delete "...), r.Key...), " unknown-final-state rv="...)
		return strconv.AppendInt(b, r.RV, 10)
	default:
		what = r.Detail
	}
	b = append(append(append(append(b, what...), ' '), r.Key...), " rv="...)
	b = strconv.AppendInt(b, r.RV, 10)
	if old != "" {
		b = strconv.AppendInt(append(b, old...), r.N, 10)
	}
	return append(b, suffix...)
}
