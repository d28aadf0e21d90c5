package informer

import "k8s.io/client-go/tools/cache"

var (
	NewIntegerResourceVersionMutationCache            = cache.NewIntegerResourceVersionMutationCache
	NewIntegerResourceVersionMutationCacheWithOptions = cache.NewIntegerResourceVersionMutationCacheWithOptions
	NewRetryWithDeadline                              = cache.NewRetryWithDeadline
)
