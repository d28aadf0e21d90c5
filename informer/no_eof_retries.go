//go:build no_eof_retries

package informer

// A REST client of these releases sends a request ten times in all, and does not repeat a list whose answer ended early.
const (
	DefaultRESTRetries = 9
	retriesEOF         = false
)
