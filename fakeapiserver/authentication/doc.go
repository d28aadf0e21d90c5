// Package authentication finds out whom a request is from, as a real apiserver does: by a client certificate or a bearer token, and then by whom it is
// on behalf of.
//
// It owns the answers 401 to a false proof, and 403 to who may not be on behalf of another. The authenticators and the filter of impersonation are
// k8s.io/apiserver's own; the latter remembers for ten seconds what it has allowed. What the user may do is decided elsewhere.
//
// It may not look at the cluster's state but by the authenticators and the authorizer that it is given.
package authentication
