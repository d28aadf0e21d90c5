package library

import (
	"fmt"
	"time"

	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
)

// meter is one metric: how often it was told something, what it adds up to, and what it was told last.
type meter struct {
	n         int
	sum, last float64
}

// Inc implements workqueue.CounterMetric.
func (m *meter) Inc() { m.add(1) }

// Dec implements workqueue.GaugeMetric.
func (m *meter) Dec() { m.add(-1) }

// Set implements workqueue.SettableGaugeMetric.
func (m *meter) Set(to float64) { m.n++; m.last = to }

// Observe implements workqueue.HistogramMetric.
func (m *meter) Observe(v float64) { m.add(v) }

func (m *meter) add(v float64) {
	m.n++
	m.sum += v
	m.last = v
}

// queueMeters are the metrics of a work queue.
type queueMeters struct {
	depth, adds, latency, duration, unfinished, longest, retries meter
	names                                                        map[string]int // for how many metrics each name was given
}

func (q *queueMeters) of(name string, m *meter) *meter {
	q.names[name]++
	return m
}

// NewDepthMetric implements workqueue.MetricsProvider.
func (q *queueMeters) NewDepthMetric(name string) workqueue.GaugeMetric { return q.of(name, &q.depth) }

// NewAddsMetric implements workqueue.MetricsProvider.
func (q *queueMeters) NewAddsMetric(name string) workqueue.CounterMetric { return q.of(name, &q.adds) }

// NewLatencyMetric implements workqueue.MetricsProvider.
func (q *queueMeters) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return q.of(name, &q.latency)
}

// NewWorkDurationMetric implements workqueue.MetricsProvider.
func (q *queueMeters) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return q.of(name, &q.duration)
}

// NewUnfinishedWorkSecondsMetric implements workqueue.MetricsProvider.
func (q *queueMeters) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return q.of(name, &q.unfinished)
}

// NewLongestRunningProcessorSecondsMetric implements workqueue.MetricsProvider.
func (q *queueMeters) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return q.of(name, &q.longest)
}

// NewRetriesMetric implements workqueue.MetricsProvider.
func (q *queueMeters) NewRetriesMetric(name string) workqueue.CounterMetric {
	return q.of(name, &q.retries)
}

// queueTimes are when the keys of a work queue were added, and taken.
type queueTimes struct {
	added, taken map[string]time.Duration
	ready        []string
	want         queueMeters
}

// queueMetrics hold the metrics of a work queue against the times of its keys, which are those of a clock of the check. Metrics are asked for once
// each, under the queue's name; a queue without a name has none.
func queueMetrics(c *check) {
	now, got := clocktesting.NewFakeClock(time.Unix(1000, 0)), &queueMeters{names: map[string]int{}}
	name := []string{"", "q"}[min(1, c.IntN(8))]
	q := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Hour, time.Hour),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: name, MetricsProvider: got, Clock: now})
	if name == "" {
		q.Add("a")
		c.is("how many metrics a queue without a name has", 0, len(got.names))
		q.ShutDown()
		c.quiesce()
		return
	}
	c.is("for which names a queue asks how many metrics", map[string]int{"q": 7}, got.names)
	m, at := queueTimes{added: map[string]time.Duration{}, taken: map[string]time.Duration{}}, time.Duration(0)
	for range 24 {
		c.measured(q, &m, at)
		c.is("Len of a queue with metrics", len(m.ready), q.Len())
		if c.IntN(3) == 0 {
			const tick = 500 * time.Millisecond // that of the loop that looks at unfinished work
			c.quiesce()
			at += tick
			now.Step(tick)
			c.quiesce()
			m.unfinished(at)
		}
		for _, of := range []struct {
			name      string
			got, want meter
		}{
			{"depth", got.depth, m.want.depth}, {"adds", got.adds, m.want.adds}, {"retries", got.retries, m.want.retries},
			{"latency", got.latency, m.want.latency}, {"work duration", got.duration, m.want.duration},
			{"unfinished work", got.unfinished, m.want.unfinished}, {"longest running processor", got.longest, m.want.longest},
		} {
			c.is(fmt.Sprintf("the metric of %s after %v, as number of calls, sum and last value", of.name, at), of.want, of.got)
		}
		if len(c.wrong) > 0 {
			break
		}
	}
	q.ShutDown()
	q.Add("late")
	q.AddAfter("late", 0)
	c.is("how many adds and retries a queue that was shut down counts", [2]int{m.want.adds.n, m.want.retries.n}, [2]int{got.adds.n, got.retries.n})
	c.quiesce()
	idle := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: "idle", MetricsProvider: &queueMeters{names: map[string]int{}}, Clock: now})
	waits, _ := c.waits(idle.ShutDownWithDrain, idle.ShutDown)
	c.is("whether ShutDownWithDrain of a queue with metrics waits for nothing", false, waits)
	c.orderedMeters()
	c.queueProviders()
	c.measuringTicker()
	c.inheritsKeys()
}

// orderedMeters are those of a work queue that is given its order.
func (c *check) orderedMeters() {
	got := &queueMeters{names: map[string]int{}}
	q := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: "q", MetricsProvider: got, Queue: workqueue.DefaultQueue[string]()})
	q.Add("a")
	q.ShutDown()
	c.is("for which names a queue with an order of its own asks how many metrics", map[string]int{"q": 6}, got.names)
	c.is("how many adds it counts", 1, got.adds.n)
	c.quiesce()
}

// measured adds a key, takes one, or is done with one, and notes what metrics there should be.
func (c *check) measured(q workqueue.TypedRateLimitingInterface[string], m *queueTimes, at time.Duration) {
	key := c.key()
	switch n := c.IntN(6); {
	case n < 2 && len(m.ready) > 0 && q.Len() > 0:
		key, _ = q.Get()
		c.is("Get", m.ready[0], key)
		m.ready = m.ready[1:]
		m.want.depth.add(-1)
		m.want.latency.add((at - m.added[key]).Seconds())
		delete(m.added, key)
		m.taken[key] = at
	case n == 2:
		since, taken := m.taken[key]
		_, dirty := m.added[key]
		if !taken && dirty {
			return // a queue that is told so although nobody has taken the key has it twice
		}
		q.Done(key)
		if !taken {
			return
		}
		m.want.duration.add((at - since).Seconds())
		delete(m.taken, key)
		if dirty {
			m.ready = append(m.ready, key)
		}
	case n == 3:
		q.AddRateLimited("later")
		m.want.retries.add(1)
	default:
		if n == 4 {
			q.AddAfter(key, 0)
			m.want.retries.add(1)
		} else {
			q.Add(key)
		}
		if _, dirty := m.added[key]; dirty {
			return
		}
		m.want.adds.add(1)
		m.want.depth.add(1)
		m.added[key] = at
		if _, taken := m.taken[key]; !taken {
			m.ready = append(m.ready, key)
		}
	}
}

// unfinished notes what the loop that looks at unfinished work should set.
func (m *queueTimes) unfinished(at time.Duration) {
	var sum, most time.Duration
	for _, since := range m.taken { // the order does not matter to a sum
		sum += at - since
		most = max(most, at-since)
	}
	m.want.unfinished.Set(sum.Seconds())
	m.want.longest.Set(most.Seconds())
}
