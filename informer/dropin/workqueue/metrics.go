package workqueue

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

var (
	globalProvider     MetricsProvider
	globalProviderMu   sync.Mutex
	globalProviderOnce sync.Once
)

// SetProvider sets the default metrics provider of queues created from now on. Only the first call has an effect. It is
// independent of client-go's SetProvider.
func SetProvider(metricsProvider MetricsProvider) {
	globalProviderOnce.Do(func() {
		globalProviderMu.Lock()
		defer globalProviderMu.Unlock()
		globalProvider = metricsProvider
	})
}

func providerOr(provider MetricsProvider) MetricsProvider {
	if provider != nil {
		return provider
	}
	globalProviderMu.Lock()
	defer globalProviderMu.Unlock()
	return globalProvider
}

// queueMetrics reports on one queue; its methods are called under the queue's lock. A nil *queueMetrics reports nothing.
type queueMetrics[T comparable] struct {
	clock clock.PassiveClock

	depth          GaugeMetric
	adds           CounterMetric
	latency        HistogramMetric
	workDuration   HistogramMetric
	unfinished     SettableGaugeMetric
	longestRunning SettableGaugeMetric

	addedAt   map[T]time.Time // when an item became due for processing
	startedAt map[T]time.Time // when its processing began
}

func newQueueMetrics[T comparable](provider MetricsProvider, name string, clock clock.PassiveClock) *queueMetrics[T] {
	provider = providerOr(provider)
	if name == "" || provider == nil {
		return nil
	}
	return &queueMetrics[T]{
		clock:          clock,
		depth:          provider.NewDepthMetric(name),
		adds:           provider.NewAddsMetric(name),
		latency:        provider.NewLatencyMetric(name),
		workDuration:   provider.NewWorkDurationMetric(name),
		unfinished:     provider.NewUnfinishedWorkSecondsMetric(name),
		longestRunning: provider.NewLongestRunningProcessorSecondsMetric(name),
		addedAt:        map[T]time.Time{},
		startedAt:      map[T]time.Time{},
	}
}

func (m *queueMetrics[T]) add(item T) {
	if m == nil {
		return
	}
	m.adds.Inc()
	m.depth.Inc()
	if _, known := m.addedAt[item]; !known {
		m.addedAt[item] = m.clock.Now()
	}
}

func (m *queueMetrics[T]) get(item T) {
	if m == nil {
		return
	}
	m.depth.Dec()
	now := m.clock.Now()
	m.startedAt[item] = now
	if addedAt, known := m.addedAt[item]; known {
		m.latency.Observe(now.Sub(addedAt).Seconds())
		delete(m.addedAt, item)
	}
}

func (m *queueMetrics[T]) done(item T) {
	if m == nil {
		return
	}
	if startedAt, known := m.startedAt[item]; known {
		m.workDuration.Observe(m.clock.Since(startedAt).Seconds())
		delete(m.startedAt, item)
	}
}

func (m *queueMetrics[T]) reportUnfinishedWork() {
	now := m.clock.Now()
	// Summed as whole nanoseconds, so that map order cannot change the sum.
	var total, longest time.Duration
	for _, startedAt := range m.startedAt {
		age := now.Sub(startedAt)
		total += age
		longest = max(longest, age)
	}
	m.unfinished.Set(total.Seconds())
	m.longestRunning.Set(longest.Seconds())
}

// newRetryMetric returns the counter of AddAfter calls, or nil without a name or a provider.
func newRetryMetric(name string, provider MetricsProvider) CounterMetric {
	provider = providerOr(provider)
	if name == "" || provider == nil {
		return nil
	}
	return provider.NewRetriesMetric(name)
}
