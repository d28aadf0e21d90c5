// Package authentication finds out whom a request is from, as a real apiserver does: by a client certificate or a bearer token.
//
// It owns the answers 401 and 403 to requests that come before any resource is looked at. The authenticators are k8s.io/apiserver's
// own. Whoever proves an identity may do everything: roles are not looked at, so nobody else may get in.
//
// It may not look at the cluster's state.
package authentication
