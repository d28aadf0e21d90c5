package fakeapiserver

import (
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/sim"

	"slices"
	"strings"
	"time"
)

// EnableFaults makes the actors offer these kinds as choices, in addition to those enabled before. An unknown kind is an
// error, and then nothing is enabled.
func (c *Cluster) EnableFaults(kinds ...fault.Kind) error {
	for _, k := range kinds {
		if _, err := fault.ParseKind(string(k)); err != nil {
			return err
		}
	}
	c.enable(kinds)
	return nil
}

func (c *Cluster) enable(kinds []fault.Kind) {
	for _, k := range kinds {
		c.enabled |= fault.SetOf(k)
	}
	c.offerFaults()
}

func (c *Cluster) offerFaults() {
	c.offerStoreFaults()
	for _, r := range c.replicas {
		r.offerFaults()
	}
	for _, cl := range c.clients {
		cl.offerFaults()
	}
}

func (c *Cluster) offerStoreFaults() {
	want := c.enabled & fault.At(fault.OnStore)
	if c.store.Revision() <= c.store.Compacted() {
		want &^= fault.SetOf(fault.Compact, fault.Restore, fault.RestoreBumped)
	}
	if c.leaderless > 0 || c.kernel.Elapsed() < c.leaderKept {
		want &^= fault.SetOf(fault.LeaderLoss)
	}
	c.faults.set(c.kernel, c.id, c.spent.drawable(c, want))
}

// disableFaults withdraws all offered faults; those in effect continue.
func (c *Cluster) disableFaults() {
	c.enabled = 0
	c.offerFaults()
}

// drawInt draws a parameter of a fault, between low and high inclusive.
func (c *Cluster) drawInt(kind fault.Kind, low, high int64) int64 {
	if high <= low {
		return low
	}
	return low + int64(c.kernel.Stream("fault/"+string(kind)+"/param").Uint64()%uint64(high-low+1))
}

func (c *Cluster) drawDuration(kind fault.Kind, low, high time.Duration) time.Duration {
	return time.Duration(c.drawInt(kind, int64(low/time.Millisecond), int64(high/time.Millisecond))) * time.Millisecond
}

// drawParameters returns a fault of the kind with drawn parameters.
func (c *Cluster) drawParameters(kind fault.Kind, target string) fault.Fault {
	f := fault.Fault{Kind: kind, Target: target, Count: 1}
	switch kind {
	case fault.WatchStall:
		f.Duration = time.Duration(c.drawInt(kind, 10, 600)) * time.Second
	case fault.WatchDelay, fault.ListSlow, fault.WatchOpenSlow, fault.WriteSlow:
		f.Duration = c.drawDuration(kind, time.Millisecond, 5*time.Second)
	case fault.WatchBookmarkLate, fault.WriteLate:
		f.Duration = c.drawDuration(kind, 100*time.Millisecond, 30*time.Second)
	case fault.ReplicaLag:
		f.Duration = c.drawDuration(kind, 100*time.Millisecond, 30*time.Second)
	case fault.LeaderLoss:
		f.Duration = c.drawDuration(kind, time.Second, 30*time.Second)
	case fault.ReplicaSkew:
		f.Duration = c.drawDuration(kind, 0, 10*time.Minute) - 5*time.Minute
	case fault.List429, fault.WatchOpen429, fault.Write429:
		f.RetryAfter = time.Duration(c.drawInt(kind, 1, 5)) * time.Second
	case fault.Compact:
		f.Revision = c.drawInt(kind, c.store.Compacted()+1, c.store.Revision())
	case fault.Restore, fault.RestoreBumped:
		f.Revision = c.drawInt(kind, max(c.store.Compacted(), 1), c.store.Revision()-1)
	}
	return f
}

// FaultsLeft reports whether Options.MaxFaults allows another fault of the strategy's.
func (c *Cluster) FaultsLeft() bool {
	return c.options.MaxFaults <= 0 || c.chosenFaults < c.options.MaxFaults
}

// SpendFault counts a fault that the strategy has picked beside the cluster, such as that of a webhook's call, among those of Options.MaxFaults. It
// reports false, and counts none, if there must be no more.
func (c *Cluster) SpendFault() bool {
	left := c.FaultsLeft()
	if left {
		c.countFault()
	}
	return left
}

// countFault counts a fault that the strategy has picked. The last that is allowed ends them.
func (c *Cluster) countFault() {
	c.chosenFaults++
	if !c.FaultsLeft() {
		c.disableFaults()
	}
}

// drawFault applies a fault that the strategy picked, drawing its parameters and its victim.
func (c *Cluster) drawFault(kind sim.Kind, target string) {
	spec := fault.SpecOfChoice(kind)
	if spec == nil {
		return
	}
	defer c.countFault()
	f := c.drawParameters(spec.Kind, target)
	switch spec.Stage {
	case fault.OnStore:
		if err := c.applyStoreFault(f); err != nil && !Refused(err) {
			c.kernel.Fail(err)
		}
		c.offerStoreFaults()
	case fault.OnReplica:
		if r, err := c.replicaNamed(target); err == nil {
			r.applyFault(f)
		}
	default:
		hits := slices.DeleteFunc(c.victims(spec, &f), func(k *call) bool { return k.drawableFaults()&spec.Set() == 0 })
		if len(hits) > 0 {
			hits[c.drawInt(f.Kind, 0, int64(len(hits)-1))].applyFault(spec, f)
		}
		if cl := c.byName[strings.TrimPrefix(target, "conn/")]; cl != nil {
			cl.offerFaults()
		}
	}
}
