package timeline

import (
	"fmt"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// An Ending is what is known of a run that did not come to its end.
type Ending struct {
	// Word is DIED, STUCK, INTERRUPTED, TIMEOUT or CUT OFF. Sentence says what happened, and where in the run, without a full stop.
	Word, Sentence string
	// Begun is what the step that was not completed had done, "" if that is not known.
	Begun string
	// InFlight says what had begun and had not ended: requests without an answer, reconciles.
	InFlight []string
	// Advice says what the trace cannot tell, and where that may be found.
	Advice string
}

// Ending returns what is known of the run's end if it did not come to its own, else nil.
func (t *Timeline) Ending() *Ending {
	if t.End != nil && !t.End.EndedEarly() {
		return nil
	}
	e := &Ending{Begun: t.Conclusion.Begun, InFlight: t.inFlight()}
	where := "before its first step"
	if n := len(t.Steps); n > 0 {
		where = fmt.Sprintf("after step %d, at %s of virtual time", n, reports.Rounded(t.Run.Virtual))
	}
	if t.End == nil {
		e.Word, e.Sentence = "CUT OFF", "The trace ends "+where+": "+t.Broken
		e.Advice = "The steps that are there are whole. A process that was killed says nothing; make the run again from its seed."
		if t.Cut == sim.CutInStep { // a run writes whole lines
			e.Advice = "The steps that are there are whole. Get the whole file, or make the run again from its seed; a full disk also ends a file like that."
		}
		return e
	}
	switch t.End.Verdict {
	case sim.EndDied:
		if strings.HasPrefix(t.Conclusion.Failure, reports.Exited) {
			e.Word, e.Sentence = "DIED", "The process under test exited "+where
			e.Advice = "Who called os.Exit, as log.Fatal and klog.Fatal do, is not known; the end of its log, if it has written one, is kept beside the trace."
			break
		}
		if t.Conclusion.Failure != "" {
			e.Word, e.Sentence = "DIED", "The process under test died "+where+", of a panic or a fatal error"
			e.Advice = "Its own output has the whole stack; the end of its log, if it has written one, is kept beside the trace."
			break
		}
		e.Word, e.Sentence = "DIED", "The process under test died "+where+": it panicked, exited, or was killed"
		e.Advice = "Its own output has the panic or the exit status; the end of its log, if it has written one, is kept beside the trace."
	case sim.EndStuck:
		e.Word, e.Sentence = "STUCK", "A goroutine never came to rest "+where
	case sim.EndTimeout:
		e.Word, e.Sentence = "TIMEOUT", "The run took longer than its limit of real time. It was ended "+where
	default:
		e.Word, e.Sentence = "INTERRUPTED", "The run was interrupted "+where
	}
	return e
}

// inFlight says what had not ended when the trace does.
func (t *Timeline) inFlight() (all []string) {
	const most = 8
	for _, q := range t.Requests {
		if q.AnswerStep == 0 {
			all = append(all, fmt.Sprintf("%s waits for the answer to request %d, sent at step %d: %s", q.Client, q.N, q.Step, strings.TrimSpace(q.What+" of "+q.Resource)))
		}
	}
	for _, r := range t.Reconciles {
		if r.EndStep == 0 {
			all = append(all, fmt.Sprintf("%s reconciles %s since step %d", r.Worker, r.Key, r.Step))
		}
	}
	if n := len(all) - most; n > 0 {
		all = append(all[:most], fmt.Sprintf("and %d more", n))
	}
	return all
}

// Headline is the verdict in a few words.
func (t *Timeline) Headline() string {
	v, e := t.Conclusion.Violation, t.Ending()
	switch {
	case v != nil && t.Passed():
		return fmt.Sprintf("PASS: breaks %s at step %d, as expected", reports.PlainLine(v.Property), v.Step)
	case v != nil:
		return fmt.Sprintf("FAIL: %s at step %d", reports.PlainLine(v.Property), v.Step)
	case e != nil:
		return fmt.Sprintf("%s after step %d", e.Word, len(t.Steps))
	case t.Passed():
		return "PASS"
	}
	return "FAIL: " + reports.Ended(t.End.Verdict)
}
