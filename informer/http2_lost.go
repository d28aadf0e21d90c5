//go:build !no_http2_lost

package informer

import utilnet "k8s.io/apimachinery/pkg/util/net"

// connectionLost reports whether HTTP/2's health check has found the connection dead (I36).
func connectionLost(err error) bool { return utilnet.IsHTTP2ConnectionLost(err) }
