package authentication

import (
	"crypto/x509"
	"net/http"
	"strings"

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
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/filters/impersonation"
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
	// Anonymous lets in requests that prove nothing, as system:anonymous.
	Anonymous bool
	// Authorizer says who may be on behalf of whom; nil if everyone may be.
	Authorizer authorizer.UnconditionalAuthorizer
}

// who returns the authenticators, without that of anonymous requests.
func (o Options) who() authenticator.Request {
	var ways []authenticator.Request
	if o.ClientCA != nil {
		verify := requestx509.DefaultVerifyOptions()
		verify.Roots = o.ClientCA
		ways = append(ways, requestx509.New(verify, requestx509.CommonNameUserConversion))
	}
	if o.Token != nil {
		ways = append(ways, bearertoken.New(o.Token))
	}
	return group.NewAuthenticatedGroupAdder(union.New(ways...))
}

// Filter returns a handler that hands requests on with their users in the context (request.UserFrom), and refuses those that prove
// nothing, or something false.
func Filter(o Options, next http.Handler) http.Handler {
	who := o.who()
	if o.Anonymous {
		// A false proof is refused, although none at all is let in.
		who = union.NewFailOnError(who, anonymous.NewAuthenticator(nil))
	}
	next = onBehalf(o.Authorizer, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok, err := who.AuthenticateRequest(r)
		if err != nil || !ok {
			unauthorized(w, r)
			return
		}
		r.Header.Del("Authorization") // the server behind has no use for it
		next.ServeHTTP(w, r.WithContext(request.WithUser(r.Context(), answer.User)))
	})
}

// Open returns a handler that lets in whoever proves nothing, as one user. Those requests that neither prove anything nor are on behalf of another are handed
// on without a user. A false proof counts for nothing; with an Authorizer it is refused, since it would make an administrator of him who has mistyped it.
func Open(as user.Info, o Options, next http.Handler) http.Handler {
	who := o.who()
	onBehalf := onBehalf(o.Authorizer, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		impersonates := false
		for name := range r.Header { // order: one is enough
			impersonates = impersonates || strings.HasPrefix(name, "Impersonate-")
		}
		answer, proven, err := who.AuthenticateRequest(r)
		switch {
		case err != nil && o.Authorizer != nil:
			unauthorized(w, r)
		case proven && err == nil:
			onBehalf.ServeHTTP(w, r.WithContext(request.WithUser(r.Context(), answer.User)))
		case impersonates:
			onBehalf.ServeHTTP(w, r.WithContext(request.WithUser(r.Context(), as)))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// onBehalf returns a handler that lets requests be on behalf of another, whom next then gets as the user.
func onBehalf(a authorizer.UnconditionalAuthorizer, next http.Handler) http.Handler {
	if a == nil {
		a = authorizerfactory.NewAlwaysAllowAuthorizer()
	}
	impersonates := impersonation.WithConstrainedImpersonation(next, a, scheme.Codecs.WithoutConversion())
	return filters.WithCacheControl(filters.WithRequestInfo(impersonates, &request.RequestInfoFactory{
		APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api"),
	}))
}

// unauthorized answers with a 401 in the form that the client accepts.
func unauthorized(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache, private")
	err := apierrors.NewUnauthorized("Unauthorized")
	responsewriters.ErrorNegotiated(err, scheme.Codecs.WithoutConversion(), schema.GroupVersion{Version: "v1"}, w, r)
}
