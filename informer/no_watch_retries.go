//go:build no_watch_retries

package informer

// A REST client of these releases sends the request of a watch once.
const retriesWatches = false
