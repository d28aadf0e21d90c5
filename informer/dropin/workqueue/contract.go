package workqueue

import "k8s.io/client-go/util/workqueue"

// The contract is client-go's own: these names are aliases, so a value of one package is a value of the other.
type (
	// TypedInterface is a queue of items of type T.
	TypedInterface[T comparable] = workqueue.TypedInterface[T]
	// TypedDelayingInterface is a queue to which items can be added after a delay.
	TypedDelayingInterface[T comparable] = workqueue.TypedDelayingInterface[T]
	// TypedRateLimitingInterface is a delaying queue whose delays come from a rate limiter.
	TypedRateLimitingInterface[T comparable] = workqueue.TypedRateLimitingInterface[T]
	// TypedRateLimiter decides how long an item has to wait before a retry.
	TypedRateLimiter[T comparable] = workqueue.TypedRateLimiter[T]
	// Queue is the order in which ready items are handed out.
	Queue[T comparable] = workqueue.Queue[T]

	// TypedQueueConfig configures NewTypedWithConfig; its zero value works.
	TypedQueueConfig[T comparable] = workqueue.TypedQueueConfig[T]
	// TypedDelayingQueueConfig configures NewTypedDelayingQueueWithConfig; its zero value works.
	TypedDelayingQueueConfig[T comparable] = workqueue.TypedDelayingQueueConfig[T]
	// TypedRateLimitingQueueConfig configures NewTypedRateLimitingQueueWithConfig; its zero value works.
	TypedRateLimitingQueueConfig[T comparable] = workqueue.TypedRateLimitingQueueConfig[T]

	// MetricsProvider creates the metrics of a named queue.
	MetricsProvider = workqueue.MetricsProvider
	// GaugeMetric is a number that increases and decreases.
	GaugeMetric = workqueue.GaugeMetric
	// SettableGaugeMetric is a number that can be set.
	SettableGaugeMetric = workqueue.SettableGaugeMetric
	// CounterMetric is a number that only increases.
	CounterMetric = workqueue.CounterMetric
	// SummaryMetric records individual observations.
	SummaryMetric = workqueue.SummaryMetric
	// HistogramMetric records individual observations.
	HistogramMetric = workqueue.HistogramMetric

	// DoWorkPieceFunc does one piece of the work of ParallelizeUntil.
	DoWorkPieceFunc = workqueue.DoWorkPieceFunc
)

// The untyped names, kept because client-go keeps them.
type (
	// Interface is an untyped queue.
	//
	// Deprecated: use TypedInterface.
	Interface = workqueue.Interface
	// DelayingInterface is an untyped delaying queue.
	//
	// Deprecated: use TypedDelayingInterface.
	DelayingInterface = workqueue.DelayingInterface
	// RateLimitingInterface is an untyped rate limiting queue.
	//
	// Deprecated: use TypedRateLimitingInterface.
	RateLimitingInterface = workqueue.RateLimitingInterface
	// RateLimiter is an untyped rate limiter.
	//
	// Deprecated: use TypedRateLimiter.
	RateLimiter = workqueue.RateLimiter
	// QueueConfig configures NewWithConfig.
	//
	// Deprecated: use TypedQueueConfig.
	QueueConfig = TypedQueueConfig[any]
	// DelayingQueueConfig configures NewDelayingQueueWithConfig.
	//
	// Deprecated: use TypedDelayingQueueConfig.
	DelayingQueueConfig = TypedDelayingQueueConfig[any]
	// RateLimitingQueueConfig configures NewRateLimitingQueueWithConfig.
	//
	// Deprecated: use TypedRateLimitingQueueConfig.
	RateLimitingQueueConfig = TypedRateLimitingQueueConfig[any]
)
