package world

import (
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// impersonated returns the user that a request is on behalf of, nil if it names none: as k8s.io/apiserver's filter reads the headers, which the test's
// own clients may always set.
func impersonated(h http.Header) user.Info {
	name := h.Get(authenticationv1.ImpersonateUserHeader)
	if name == "" {
		return nil
	}
	as := &user.DefaultInfo{Name: name, UID: h.Get(authenticationv1.ImpersonateUIDHeader), Groups: slices.Clone(h[authenticationv1.ImpersonateGroupHeader])}
	if namespace, _, err := serviceaccount.SplitUsername(name); err == nil && len(as.Groups) == 0 {
		as.Groups = serviceaccount.MakeGroupNames(namespace)
	}
	all := user.AllAuthenticated
	if name == user.Anonymous {
		all = user.AllUnauthenticated
	}
	if !slices.Contains(as.Groups, all) {
		as.Groups = append(as.Groups, all)
	}
	return as
}
