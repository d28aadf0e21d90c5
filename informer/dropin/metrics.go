package dropin

import "sync"

var (
	globalMetricsMu       sync.Mutex
	globalMetricsOnce     sync.Once
	globalMetricsProvider InformerMetricsProvider
)

// SetInformerMetricsProvider sets the default metrics provider of informers created from now on. Only the first call has an
// effect. It is independent of client-go's function of that name.
func SetInformerMetricsProvider(metricsProvider InformerMetricsProvider) {
	globalMetricsOnce.Do(func() {
		globalMetricsMu.Lock()
		defer globalMetricsMu.Unlock()
		globalMetricsProvider = metricsProvider
	})
}

func metricsProviderOr(provider InformerMetricsProvider) InformerMetricsProvider {
	if provider != nil {
		return provider
	}
	globalMetricsMu.Lock()
	defer globalMetricsMu.Unlock()
	return globalMetricsProvider
}

// newStoreMetric returns nil if there is nothing to report to.
func newStoreMetric(id InformerNameAndResource, provider InformerMetricsProvider) GaugeMetric {
	if provider = metricsProviderOr(provider); provider == nil || !id.Reserved() {
		return nil
	}
	return provider.NewStoreResourceVersionMetric(id)
}

// queueMetrics holds the metrics of a RealFIFO. A nil *queueMetrics reports nothing.
type queueMetrics struct {
	queued  GaugeMetric
	latency HistogramMetric
}

func newQueueMetrics(id InformerNameAndResource, provider InformerMetricsProvider) *queueMetrics {
	if provider = metricsProviderOr(provider); provider == nil || !id.Reserved() {
		return nil
	}
	return &queueMetrics{queued: provider.NewQueuedItemMetric(id), latency: provider.NewProcessingLatencyMetric(id)}
}
