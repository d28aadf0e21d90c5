//go:build !no_watch_retries

package informer

const retriesWatches = true
