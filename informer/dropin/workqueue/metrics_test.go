package workqueue

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	upstream "k8s.io/client-go/util/workqueue"
	"pgregory.net/rapid"
)

// journal is a MetricsProvider that records every call.
type journal struct{ lines []string }

func (j *journal) metric(kind string) *journalled {
	return &journalled{j, kind}
}

func (j *journal) NewDepthMetric(name string) GaugeMetric            { return j.metric(name + " depth") }
func (j *journal) NewAddsMetric(name string) CounterMetric           { return j.metric(name + " adds") }
func (j *journal) NewLatencyMetric(name string) HistogramMetric      { return j.metric(name + " latency") }
func (j *journal) NewWorkDurationMetric(name string) HistogramMetric { return j.metric(name + " work") }
func (j *journal) NewRetriesMetric(name string) CounterMetric        { return j.metric(name + " retries") }
func (j *journal) NewUnfinishedWorkSecondsMetric(name string) SettableGaugeMetric {
	return j.metric(name + " unfinished")
}
func (j *journal) NewLongestRunningProcessorSecondsMetric(name string) SettableGaugeMetric {
	return j.metric(name + " longest")
}

type journalled struct {
	journal *journal
	kind    string
}

func (m *journalled) note(call string)  { m.journal.lines = append(m.journal.lines, m.kind+" "+call) }
func (m *journalled) Inc()              { m.note("inc") }
func (m *journalled) Dec()              { m.note("dec") }
func (m *journalled) Set(f float64)     { m.note(fmt.Sprintf("set %.6f", f)) }
func (m *journalled) Observe(f float64) { m.note(fmt.Sprintf("observe %.6f", f)) }

// TestDifferentialMetrics compares a queue's calls of its metrics provider with those of client-go's queue.
func TestDifferentialMetrics(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ops := withoutBlockedDrains(rapid.SliceOfN(opGen, 1, 40).Draw(rt, "ops"))
		for i := range ops {
			if ops[i].kind == "advance" {
				ops[i].delay = min(ops[i].delay, time.Second)
			}
		}
		theirs, ours := &journal{}, &journal{}
		runBlocking(t, ops, func() TypedRateLimitingInterface[string] {
			return upstream.NewTypedRateLimitingQueueWithConfig(upstream.DefaultTypedControllerRateLimiter[string](),
				upstream.TypedRateLimitingQueueConfig[string]{Name: "q", MetricsProvider: theirs})
		})
		runBlocking(t, ops, func() TypedRateLimitingInterface[string] {
			return NewTypedRateLimitingQueueWithConfig(DefaultTypedControllerRateLimiter[string](),
				TypedRateLimitingQueueConfig[string]{Name: "q", MetricsProvider: ours})
		})
		if !slices.Equal(theirs.lines, ours.lines) {
			rt.Fatalf("client-go reported\n%s\nwe reported\n%s", strings.Join(theirs.lines, "\n"), strings.Join(ours.lines, "\n"))
		}
	})
}

func TestMetricsNeedANameAndAProvider(t *testing.T) {
	unnamed := &journal{}
	q := NewTypedWithConfig(TypedQueueConfig[string]{MetricsProvider: unnamed})
	q.Add("a")
	if len(unnamed.lines) != 0 {
		t.Errorf("a queue without a name reported %v", unnamed.lines)
	}
	if q := NewNamed("named"); q.metrics != nil {
		t.Error("a queue without a provider has metrics")
	}
}

func TestSetProviderOnlyOnce(t *testing.T) {
	globalProviderOnce = sync.Once{} // the test may run more than once in a process
	first, second := &journal{}, &journal{}
	SetProvider(first)
	SetProvider(second)
	t.Cleanup(func() {
		globalProviderMu.Lock()
		defer globalProviderMu.Unlock()
		globalProvider = nil
	})
	synctest.Test(t, func(t *testing.T) {
		q := NewNamed("global")
		q.Add("a")
		q.ShutDown()
	})
	if len(second.lines) != 0 || !slices.Equal(first.lines, []string{"global adds inc", "global depth inc"}) {
		t.Errorf("the first provider got %v, the second %v", first.lines, second.lines)
	}
}
