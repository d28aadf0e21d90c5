package scenarios

import (
	"fmt"

	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/sim"
)

// A ScriptError reports a command that failed: the input is wrong, not the subject.
type ScriptError struct {
	Pos script.Pos
	Err error
}

func (e *ScriptError) Error() string { return fmt.Sprintf("%s: %v", e.Pos, e.Err) }

// Unwrap returns the cause.
func (e *ScriptError) Unwrap() error { return e.Err }

var kindCommand = sim.RegisterKind("command", sim.ClassScript)

// PicksCommand reports whether a pick is that of a script's command. Its target is the command's index; the index after the last
// command heals the world.
func PicksCommand(p *sim.Pick) bool { return p.Kind == kindCommand }

// scriptActor offers the script's next command; after the last one it offers "heal", which ends all faults and waits for
// the world to converge.
type scriptActor struct {
	w       *World
	id      sim.ActorID
	next    int
	starts  string // the informer that the last command restarts, which is yet to be started again; "" for none
	healing bool
	// faultsStopped reports that the strategy was told to stop faults.
	faultsStopped bool
}

func (a *scriptActor) Name() string { return "script" }

func (a *scriptActor) offer() { a.w.kernel.Offer(a.id, kindCommand, uint32(a.next)) }

func (a *scriptActor) over() bool { return a.healing }

func (a *scriptActor) Apply(c sim.Choice) {
	w := a.w
	if c.Kind == kindStart {
		if err := w.startAgain(a.starts); err != nil {
			w.kernel.Fail(&ScriptError{Pos: w.scenario.cmds[a.next-1].syntax.Pos, Err: err})
			return
		}
		a.starts = ""
		a.offer()
		return
	}
	if a.next == len(w.scenario.cmds) {
		a.healing = true
		if err := w.heal(); err != nil {
			w.kernel.Fail(err)
		}
		return
	}
	cmd := w.scenario.cmds[a.next]
	a.next++
	if err := cmd.run(w); err != nil {
		w.kernel.Fail(&ScriptError{Pos: cmd.syntax.Pos, Err: err})
		return
	}
	switch {
	case a.starts != "":
		w.kernel.Offer(a.id, kindStart, 0)
	case w.barrier == nil:
		a.offer()
	}
}

// heal stops all faults, those of handlers and workers included, ends the holds, and waits for the world to converge, at most for
// ConvergenceTimeout.
func (w *World) heal() error {
	if err := w.ensureCluster(); err != nil {
		return err
	}
	w.healedAt = w.kernel.Elapsed()
	w.cluster.StopFaults()
	for _, ws := range w.workerOrd {
		ws.ClearFaults()
		ws.Release()
	}
	for _, inf := range w.inOrder {
		inf.ClearFaults()
		for _, part := range append([]string{"queue"}, inf.Handlers()...) {
			if err := inf.Release(part); err != nil {
				return err
			}
		}
	}
	clock := w.kernel.Clock()
	w.wait("heal", func() { clock.LimitTo(ConvergenceTimeout) }, func() bool {
		return w.kernel.Quiet() && (w.Converged() || clock.AtLimit())
	})
	return nil
}
