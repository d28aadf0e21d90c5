package world

import (
	"time"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wellbehaved"
)

// restartTime is how long restarted controllers are watched: until a former leader's Lease has expired, and they have written.
const restartTime = 90 * time.Second

// restart restarts all controllers, for the properties QuietAfterRestart and NoFinalFailure.
func (b *wellBehaved) restart() {
	if !b.asked(wellbehaved.NameRestart) && !b.asked(wellbehaved.NameFinal) || !b.w.config.restarts || !b.crashable() {
		return
	}
	b.conclude(probeRestarts)
	if b.restartAll(); b.rewrote {
		b.restartAll() // who writes now writes at each start
	}
	b.conclude(probeRestarts + 1)
}

// crashable reports whether a process runs.
func (b *wellBehaved) crashable() bool {
	for _, p := range b.w.processes {
		if p.running && !p.life.dead() {
			return true
		}
	}
	return false
}

func (b *wellBehaved) restartAll() {
	if b.w.monitor.Violation() != nil || b.w.kernel.Err() != nil {
		return
	}
	b.w.kernel.Clock().AfterFunc(time.Millisecond, func() {
		b.restarted, b.restarting = b.restarted+1, true
		for _, p := range b.w.processes {
			p.restartNow() // without a downtime: nobody is to miss what a process says of itself
		}
	})
	b.w.goOn(restartTime)
	b.restarting = false
}

// noteRewrite notes that somebody has written something since the restart.
func (b *wellBehaved) noteRewrite(r *sim.Record) {
	if b.restarting && !wellbehaved.Bookkeeping(r.Key) {
		b.rewrote = true
	}
}
