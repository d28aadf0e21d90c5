package dropin

import "sync"

var (
	globalMetricsMu       sync.Mutex
	globalMetricsOnce     sync.Once
	globalMetricsProvider InformerMetricsProvider
)

// SetInformerMetricsProvider sets the provider of the metrics of informers made from now on that name none. Only the first
// call has an effect. It is this package's own: a provider given to client-go's is not used here.
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

// newStoreMetric is nil if nothing is to be reported.
func newStoreMetric(id InformerNameAndResource, provider InformerMetricsProvider) GaugeMetric {
	if provider = metricsProviderOr(provider); provider == nil || !id.Reserved() {
		return nil
	}
	return provider.NewStoreResourceVersionMetric(id)
}

// queueMetrics are those of a RealFIFO. A nil *queueMetrics reports nothing.
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
