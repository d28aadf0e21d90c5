package authentication

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// impersonated returns the user that a request acts as: its own, or the one of its Impersonate headers, which it then loses.
func impersonated(own user.Info, h http.Header) (user.Info, error) {
	name := h.Get(authenticationv1.ImpersonateUserHeader)
	as := &user.DefaultInfo{
		Name: name, UID: h.Get(authenticationv1.ImpersonateUIDHeader), Groups: slices.Clone(h[authenticationv1.ImpersonateGroupHeader]),
		Extra: impersonatedExtra(h),
	}
	if name == "" {
		if as.UID != "" || len(as.Groups) > 0 || len(as.Extra) > 0 {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("requested %#v without impersonating a user name", as))
		}
		return own, nil
	}
	if slices.Contains(own.GetGroups(), user.AllUnauthenticated) {
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "users"}, name,
			errors.New(`User "system:anonymous" cannot impersonate resource "users" in API group "" at the cluster scope`))
	}
	if namespace, account, err := serviceaccount.SplitUsername(name); err == nil && len(as.Groups) == 0 {
		as.Groups = serviceaccount.MakeGroupNames(namespace)
		as.Name = serviceaccount.MakeUsername(namespace, account)
	}
	if name != user.Anonymous && !slices.Contains(as.Groups, user.AllAuthenticated) && !slices.Contains(as.Groups, user.AllUnauthenticated) {
		as.Groups = append(as.Groups, user.AllAuthenticated)
	}
	if name == user.Anonymous && !slices.Contains(as.Groups, user.AllUnauthenticated) {
		as.Groups = append(as.Groups, user.AllUnauthenticated)
	}
	for _, header := range given(h) {
		h.Del(header)
	}
	return as, nil
}

// given lists the Impersonate headers of a request.
func given(h http.Header) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(h)), func(name string) bool { return !strings.HasPrefix(name, "Impersonate-") })
}

// impersonatedExtra reads the headers Impersonate-Extra-KEY. A key has no case there, and may be escaped like a part of a URL.
func impersonatedExtra(h http.Header) map[string][]string {
	var extra map[string][]string
	for _, header := range given(h) {
		key, ok := strings.CutPrefix(header, authenticationv1.ImpersonateUserExtraHeaderPrefix)
		if !ok {
			continue
		}
		key = strings.ToLower(key)
		if plain, err := url.PathUnescape(key); err == nil {
			key = plain
		}
		if extra == nil {
			extra = map[string][]string{}
		}
		extra[key] = append(extra[key], h[header]...)
	}
	return extra
}
