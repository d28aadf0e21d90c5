package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Tokens knows the tokens of ServiceAccounts that servers of this package issue, for requests that come with one. It implements authenticator.Token.
type Tokens struct {
	signer *signer
	look   func(func(now time.Time, get getter))
}

// getter returns a stored object, nil if there is none.
type getter = func(gr schema.GroupResource, namespace, name string) runtime.Object

// NewTokens returns the tokens of a server. look runs a function between two of its steps, with the time and the stored objects.
func NewTokens(look func(func(now time.Time, get func(gr schema.GroupResource, namespace, name string) runtime.Object))) (*Tokens, error) {
	s, err := newSigner()
	if err != nil {
		return nil, err
	}
	return &Tokens{s, look}, nil
}

// AuthenticateToken implements authenticator.Token. The audience is the server.
func (t *Tokens) AuthenticateToken(_ context.Context, token string) (answer *authenticator.Response, ok bool, err error) {
	payload, ours := t.signer.payload(token) // whoever looks waits for a step
	if !ours {
		return nil, false, errNoToken
	}
	ctx := authenticator.WithAudiences(context.Background(), authenticator.Audiences{issuer})
	t.look(func(now time.Time, get getter) { answer, ok, err = accountOf(ctx, payload, now, get) })
	return answer, ok, err
}

// bearer is what is read of a token.
type bearer struct {
	Audience   []string `json:"aud"`
	ID         string   `json:"jti"`
	Expires    int64    `json:"exp"`
	Kubernetes struct {
		Namespace string `json:"namespace"`
		Account   struct {
			Name string `json:"name"`
			UID  string `json:"uid"`
		} `json:"serviceaccount"`
	} `json:"kubernetes.io"`
}

// errNoToken is what a kube-apiserver says of a token that it did not issue.
var errNoToken = errors.New("invalid bearer token")

// accountOf returns the ServiceAccount that a token is of, if it has been issued for one of the audiences in ctx.
func accountOf(ctx context.Context, payload []byte, now time.Time, get getter) (*authenticator.Response, bool, error) {
	var b bearer
	if json.Unmarshal(payload, &b) != nil {
		return nil, false, errNoToken
	}
	if now.Unix() >= b.Expires {
		return nil, false, fmt.Errorf("[%w, service account token has expired]", errNoToken)
	}
	account, _ := get(corev1.Resource("serviceaccounts"), b.Kubernetes.Namespace, b.Kubernetes.Account.Name).(*corev1.ServiceAccount)
	if account == nil || string(account.UID) != b.Kubernetes.Account.UID {
		return nil, false, fmt.Errorf("[%w, service account %s/%s has been deleted]", errNoToken, b.Kubernetes.Namespace, b.Kubernetes.Account.Name)
	}
	audiences := authenticator.Audiences(b.Audience)
	if asked, ok := authenticator.AudiencesFrom(ctx); ok {
		if audiences = audiences.Intersect(asked); len(audiences) == 0 {
			return nil, false, fmt.Errorf("[%w, token audiences %q is invalid for the target audiences %q]", errNoToken, b.Audience, asked)
		}
	}
	who := serviceaccount.UserInfo(b.Kubernetes.Namespace, b.Kubernetes.Account.Name, b.Kubernetes.Account.UID)
	return &authenticator.Response{Audiences: audiences, User: &user.DefaultInfo{
		Name: who.GetName(), UID: who.GetUID(), Groups: append(slices.Clone(who.GetGroups()), user.AllAuthenticated),
		Extra: map[string][]string{user.CredentialIDKey: {"JTI=" + b.ID}},
	}}, true, nil
}
