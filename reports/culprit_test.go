package reports_test

import (
	"testing"

	"github.com/informersim/informersim/reports"
)

// What a message names as wrong is the reason, whoever calls it and however often, and tells two defects apart that any run shows.
func TestCulprit(t *testing.T) {
	for name, c := range map[string]struct {
		violation reports.Violation
		want      string
	}{
		"panic":               {reports.Violation{Property: "NoPanic", Message: "panic: index 3\n  in m/informer.(*Processor).Remove (processor.go:171)\n  called by m/subjects.Remove (handler.go:5)"}, "panic: index 3 in informer.(*Processor).Remove"},
		"panic of the server": {reports.Violation{Property: "NoPanic", Message: "informersim's fake server, and not the stack under test: panic: x\n  in m/f.list (a.go:1)"}, "informersim's fake server, and not the stack under test: panic: x in f.list"},
		"end of a process": {reports.Violation{Property: "NoPanic", Message: "the run has ended its process:\npanic: assignment to entry in nil map\n\ngoroutine 46 [running, synctest bubble 1]:\npanic({0x1, 0x2})\n" +
			"\t/go/panic.go:1\nk8s.io/client-go/tools/cache.(*Reflector).List.func1(0xc0001, 0x2)\n\t/reflector.go:1341 +0x28"}, "panic: assignment to entry in nil map in cache.(*Reflector).List.func1"},
		"end without a panic": {reports.Violation{Property: "NoPanic", Message: "the run has ended its process:\nexit status 255\nF1127 16:00:01.123456 42 reflector.go:7] no"}, "exit status 255"},
		"klog.Fatal":          {reports.Violation{Property: "NoPanic", Message: "the run has ended its process:\nF1127 16:00:01.123456      42 reflector.go:7] no"}, "reflector.go:7] no"},
		"leak": {reports.Violation{Property: "NoLeak", Message: "the run has ended, but these goroutines are blocked for good:\n  select in k/cache.(*Reflector).startResync (reflector.go:521), started by k/cache.f (reflector.go:9)\n" +
			"  select in k/cache.(*Reflector).startResync (reflector.go:521), started by k/cache.f (reflector.go:9)"}, "cache.(*Reflector).startResync"},
		"hung step": {reports.Violation{Property: "NoDeadlock", Message: "a step does not end: after 15s of real time it is in m/informer.(*DeltaFIFO).find (delta_fifo.go:198)\n  called by m/x (y.go:1)"}, "informer.(*DeltaFIFO).find"},
		"deadlock": {reports.Violation{Property: "NoDeadlock", Message: "the bubble did not become quiescent within 3s of real time: these goroutines wait for locks, and none runs that could release one:\n" +
			"  sync.RWMutex.RLock in k/cache.(*sharedProcessor).getListener (shared_informer.go:1174), called by k/cache.x (a.go:2), started by m/y (b.go:3)\nIt is a deadlock."}, "cache.(*sharedProcessor).getListener"},
		"hot loop": {reports.Violation{Property: "NoDeadlock", Message: "a hot loop: the bubble did not become quiescent within 1s of real time, because a goroutine runs without ever waiting. Virtual time passes only while every goroutine waits, so nothing else can happen.\n\n" +
			"The whole stack, with > at what is neither the standard library's nor a dependency's:\n  runnable\n      sync/atomic.(*Int32).Add\n          /go/type.go:94\n      os.Getenv\n          /go/env.go:103\n    > k8s.io/client-go/tools/cache.(*processorListener).run.func1\n          /a.go:1\n" +
			"      k8s.io/client-go/tools/cache.(*processorListener).run\n          /a.go:9\n      k8s.io/apimachinery/pkg/util/wait.(*Group).Start.func1\n          /w.go:72\n      started by k8s.io/apimachinery/pkg/util/wait.(*Group).Start\n          /w.go:70\n  running\n      k8s.io/x.Other\n          /x.go:1"}, "a hot loop in cache.(*processorListener).run"},
		"library":        {reports.Violation{Property: "LibraryAgrees", Message: "the limiters: When of ItemFastSlow: 10s, want 5ms"}, "the limiters: When of ItemFastSlow"},
		"library, queue": {reports.Violation{Property: "LibraryAgrees", Message: "a pager: List of page 3 (with the queue atomic, which does not unlock): [], want [a]"}, "a pager: List of page 3"},
		"library, panic": {reports.Violation{Property: "LibraryAgrees", Message: "DeltaFIFO: a call of the round: panics: no key, in m/informer.f (a.go:3), want returns"}, "DeltaFIFO: panics: no key, in m/informer.f (a.go:3)"},
		"server":         {reports.Violation{Property: "ServerAgrees", Message: "a list of {a b} at \"3\" Exact, limit 2, continued false, sent at rv=5: the items: [x], want [y]"}, "a list: the items"},
		"another":        {reports.Violation{Property: "IndexerConverges", Message: "informer i1 holds default/a at rv=3: it should not"}, ""},
	} {
		if got := c.violation.Culprit(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
