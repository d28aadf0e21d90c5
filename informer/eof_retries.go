//go:build !no_eof_retries

package informer

// DefaultRESTRetries is the number of times a request is retried before its answer is passed on (I36).
const DefaultRESTRetries = 10

const retriesEOF = true
