//go:build no_http2_lost

package informer

// connectionLost is false: a REST client of these releases does not know such a connection, and retries nothing because of it.
func connectionLost(error) bool { return false }
