package authentication

import (
	"crypto/x509"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/union"
	requestx509 "k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes/scheme"
)

// Options say how a request may prove whom it is from. A way that is nil is closed.
type Options struct {
	// ClientCA signs the certificates of clients: the common name is the user, the organizations are its groups.
	ClientCA *x509.CertPool
	// Token looks up bearer tokens.
	Token authenticator.Token
	// Anonymous lets in requests that prove nothing, as system:anonymous. They get health checks and the version.
	Anonymous bool
}

// authentication is the filter before a server.
type authentication struct {
	who  authenticator.Request
	info *request.RequestInfoFactory
	next http.Handler
}

// Filter returns a handler that hands requests on with their users in the context (request.UserFrom), and refuses those that prove
// nothing, or something false.
func Filter(o Options, next http.Handler) http.Handler {
	var ways []authenticator.Request
	if o.ClientCA != nil {
		verify := requestx509.DefaultVerifyOptions()
		verify.Roots = o.ClientCA
		ways = append(ways, requestx509.New(verify, requestx509.CommonNameUserConversion))
	}
	if o.Token != nil {
		ways = append(ways, bearertoken.New(o.Token))
	}
	who := group.NewAuthenticatedGroupAdder(union.New(ways...))
	if o.Anonymous {
		// A false proof is refused, although none at all is let in.
		who = union.NewFailOnError(who, anonymous.NewAuthenticator(nil))
	}
	return &authentication{who: who, info: &request.RequestInfoFactory{
		APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api"),
	}, next: next}
}

// ServeHTTP implements http.Handler.
func (a *authentication) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, ok, err := a.who.AuthenticateRequest(r)
	if err != nil || !ok {
		refuse(w, r, apierrors.NewUnauthorized("Unauthorized"))
		return
	}
	r.Header.Del("Authorization") // the server behind has no use for it
	as, err := impersonated(answer.User, r.Header)
	if err != nil {
		refuse(w, r, err)
		return
	}
	ctx := request.WithUser(r.Context(), as)
	if slices.Contains(as.GetGroups(), user.AllUnauthenticated) && !public(r) {
		info, err := a.info.NewRequestInfo(r)
		if err != nil {
			refuse(w, r, apierrors.NewBadRequest(err.Error()))
			return
		}
		refuse(w, r, responsewriters.ForbiddenStatusError(authorizer.AttributesRecord{
			User: as, Verb: info.Verb, Namespace: info.Namespace, APIGroup: info.APIGroup, APIVersion: info.APIVersion, Resource: info.Resource,
			Subresource: info.Subresource, Name: info.Name, ResourceRequest: info.IsResourceRequest, Path: info.Path,
		}, ""))
		return
	}
	a.next.ServeHTTP(w, r.WithContext(ctx))
}

// Impersonation returns a handler that lets requests be on behalf of another, where nobody has to prove who he is: all of them are from one user.
func Impersonation(from user.Info, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(given(r.Header)) > 0 {
			as, err := impersonated(from, r.Header)
			if err != nil {
				refuse(w, r, err)
				return
			}
			r = r.WithContext(request.WithUser(r.Context(), as))
		}
		next.ServeHTTP(w, r)
	})
}

// publicPaths are what the role system:public-info-viewer opens to everyone.
var publicPaths = []string{"/healthz", "/livez", "/readyz", "/version", "/version/"}

func public(r *http.Request) bool {
	return r.Method == http.MethodGet && slices.Contains(publicPaths, r.URL.Path)
}

// refuse answers with an error in the form that the client accepts.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("Cache-Control", "no-cache, private")
	responsewriters.ErrorNegotiated(err, scheme.Codecs.WithoutConversion(), schema.GroupVersion{Version: "v1"}, w, r)
}
