package authentication

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/token/tokenfile"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.cert, a.key = a.sign(template, nil)
	return a
}

// sign returns a certificate and its key; with no authority yet, it signs itself.
func (a *authority) sign(template *x509.Certificate, parent *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	signer := a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

// client returns the connection of a client with that user's certificate.
func (a *authority) client(name string, usage x509.ExtKeyUsage, groups ...string) *tls.ConnectionState {
	cert, _ := a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), Subject: pkix.Name{CommonName: name, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}, a.cert)
	return &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}}
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

func TestWhoARequestIsFrom(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	admin := ca.client("admin", x509.ExtKeyUsageClientAuth, user.SystemPrivilegedGroup)
	tokens := tokenfile.New(map[string]*user.DefaultInfo{"sesame": {Name: "ali", Groups: []string{"thieves"}}})
	all := Options{ClientCA: ca.pool(), Token: tokens, Anonymous: true, Authorizer: onlyMasters{}}
	closed := all
	closed.Anonymous = false
	for _, tt := range []struct {
		what    string
		options Options
		tls     *tls.ConnectionState
		headers string // "Name: value", separated by semicolons
		path    string
		code    int
		want    string // the user and its groups, or the message
	}{
		{"a certificate", all, admin, "", "/api/v1/pods", 200, "admin [system:masters system:authenticated]"},
		{"a token", all, nil, "Authorization: Bearer sesame", "/api/v1/pods", 200, "ali [thieves system:authenticated]"},
		{"a wrong token", all, nil, "Authorization: Bearer barley", "/healthz", 401, "Unauthorized"},
		{"a certificate of someone else's", all, other.client("admin", x509.ExtKeyUsageClientAuth), "", "/healthz", 401, "Unauthorized"},
		{"a server's certificate", all, ca.client("admin", x509.ExtKeyUsageServerAuth), "", "/api", 401, "Unauthorized"},
		{"nothing", all, nil, "", "/healthz", 200, "system:anonymous [system:unauthenticated]"},
		{"nothing, and a resource", all, nil, "", "/api/v1/namespaces/a/pods", 200, "system:anonymous [system:unauthenticated]"},
		{"nothing, where all is closed", closed, nil, "", "/healthz", 401, "Unauthorized"},
		{"on behalf of another", all, admin, "Impersonate-User: eve; Impersonate-Group: dev; Impersonate-Extra-Why%2fNot: x", "/api", 200, "eve [dev system:authenticated] map[why/not:[x]]"},
		{"on behalf of a service account", all, admin, "Impersonate-User: system:serviceaccount:a:b", "/api", 200, "system:serviceaccount:a:b [system:serviceaccounts system:serviceaccounts:a system:authenticated]"},
		{"on behalf of nobody", all, admin, "Impersonate-User: system:anonymous", "/api/v1/pods", 200, "system:anonymous [system:unauthenticated]"},
		{"on behalf of a group", all, admin, "Impersonate-Group: dev", "/api", 400, `requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"dev"}, Extra:map[string][]string(nil)} without impersonating a user name`},
		{"on behalf of another, without a right to be", all, nil, "Authorization: Bearer sesame; Impersonate-User: eve", "/api", 403, `forbidden: User "ali" cannot impersonate-on:user-info:get path "/api"`},
		{"nothing, on behalf of another", all, nil, "Impersonate-User: eve", "/healthz", 403, `forbidden: User "system:anonymous" cannot impersonate-on:user-info:get path "/healthz"`},
	} {
		r := httptest.NewRequest(http.MethodGet, tt.path, nil)
		r.TLS = tt.tls
		for line := range strings.SplitSeq(tt.headers, "; ") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				r.Header.Add(name, value)
			}
		}
		w := httptest.NewRecorder()
		Filter(tt.options, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			u, _ := request.UserFrom(r.Context())
			fmt.Fprint(w, u.GetName(), " ", u.GetGroups())
			if len(u.GetExtra()) > 0 {
				fmt.Fprint(w, " ", u.GetExtra())
			}
			for name := range r.Header { // order: at most one line fails
				if strings.HasPrefix(name, "Impersonate-") || name == "Authorization" {
					t.Errorf("%s: the server gets %s", tt.what, name)
				}
			}
		})).ServeHTTP(w, r)
		got := w.Body.String()
		if w.Code != 200 {
			var status metav1.Status
			if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil || int(status.Code) != w.Code {
				t.Errorf("%s: the answer is %s, %v", tt.what, got, err)
			}
			got = status.Message
		}
		// A certificate is an entry in the extra of its user.
		if w.Code != tt.code || got != tt.want && !strings.HasPrefix(got, tt.want+" map[authentication.kubernetes.io/credential-id:") {
			t.Errorf("%s: %d %s, want %d %s", tt.what, w.Code, got, tt.code, tt.want)
		}
	}
}

// onlyMasters allows system:masters everything, and nobody else anything.
type onlyMasters struct{}

func (onlyMasters) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if slices.Contains(a.GetUser().GetGroups(), user.SystemPrivilegedGroup) {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func TestOpen(t *testing.T) {
	tokens := tokenfile.New(map[string]*user.DefaultInfo{"sesame": {Name: "ali"}})
	lenient := Options{Token: tokens}
	strict := Options{Token: tokens, Authorizer: onlyMasters{}}
	for _, tt := range []struct {
		what    string
		options Options
		headers string
		code    int
		want    string // the user and its groups
	}{
		{"nothing", strict, "", 200, ""},
		{"a token", strict, "Authorization: Bearer sesame", 200, "ali [system:authenticated]"},
		{"a wrong token, where all may do everything", lenient, "Authorization: Bearer barley", 200, ""},
		{"a wrong token, where not all may", strict, "Authorization: Bearer barley", 401, ""},
		{"nothing, on behalf of another", strict, "Impersonate-User: eve", 200, "eve [system:authenticated]"},
		{"a token, on behalf of another, where all may", lenient, "Authorization: Bearer sesame; Impersonate-User: eve", 200, "eve [system:authenticated]"},
		{"a token, on behalf of another, where not all may", strict, "Authorization: Bearer sesame; Impersonate-User: eve", 403, ""},
	} {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/pods", nil)
		for line := range strings.SplitSeq(tt.headers, "; ") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				r.Header.Add(name, value)
			}
		}
		w, got := httptest.NewRecorder(), ""
		Open(&user.DefaultInfo{Name: "admin", Groups: []string{user.SystemPrivilegedGroup}}, tt.options, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if u, ok := request.UserFrom(r.Context()); ok {
				got = fmt.Sprint(u.GetName(), " ", u.GetGroups())
			}
		})).ServeHTTP(w, r)
		if w.Code != tt.code || got != tt.want {
			t.Errorf("%s: %d, as %q; want %d, as %q", tt.what, w.Code, got, tt.code, tt.want)
		}
	}
}
