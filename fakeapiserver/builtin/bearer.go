package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"gopkg.in/go-jose/go-jose.v2/jwt"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		Account   named  `json:"serviceaccount"`
		Pod       *named `json:"pod"`
		Secret    *named `json:"secret"`
		Node      *named `json:"node"`
	} `json:"kubernetes.io"`
}

// named is an object that a token names.
type named struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
}

// What a kube-apiserver says of a token that it did not issue, and of one that is bound to what is gone.
var (
	errNoToken     = errors.New("invalid bearer token")
	errInvalidated = fmt.Errorf("[%w, service account token has been invalidated]", errNoToken)
)

// accountOf returns the ServiceAccount that a token is of, if it has been issued for one of the audiences in ctx, and if that and what it is bound to are
// still there (pkg/serviceaccount/claims.go).
func accountOf(ctx context.Context, payload []byte, now time.Time, get getter) (*authenticator.Response, bool, error) {
	var b bearer
	if json.Unmarshal(payload, &b) != nil {
		return nil, false, errNoToken
	}
	if now.Unix() >= b.Expires {
		return nil, false, fmt.Errorf("[%w, service account token has expired]", errNoToken)
	}
	account, _ := get(corev1.Resource("serviceaccounts"), b.Kubernetes.Namespace, b.Kubernetes.Account.Name).(*corev1.ServiceAccount)
	switch {
	case account == nil:
		return nil, false, fmt.Errorf("[%w, serviceaccounts %q not found]", errNoToken, b.Kubernetes.Account.Name)
	case string(account.UID) != b.Kubernetes.Account.UID:
		return nil, false, fmt.Errorf("[%w, service account UID (%s) does not match claim (%s)]", errNoToken, account.UID, b.Kubernetes.Account.UID)
	case gone(account, now):
		return nil, false, fmt.Errorf("[%w, service account %s/%s has been deleted]", errNoToken, b.Kubernetes.Namespace, b.Kubernetes.Account.Name)
	}
	who := serviceaccount.ServiceAccountInfo{
		Namespace: b.Kubernetes.Namespace, Name: b.Kubernetes.Account.Name, UID: b.Kubernetes.Account.UID, CredentialID: "JTI=" + b.ID,
	}
	if err := b.boundTo(&who, now, get); err != nil {
		return nil, false, err
	}
	audiences := authenticator.Audiences(b.Audience)
	if asked, ok := authenticator.AudiencesFrom(ctx); ok {
		if audiences = audiences.Intersect(asked); len(audiences) == 0 {
			return nil, false, fmt.Errorf("[%w, token audiences %q is invalid for the target audiences %q]", errNoToken, b.Audience, asked)
		}
	}
	info := who.UserInfo()
	return &authenticator.Response{Audiences: audiences, User: &user.DefaultInfo{
		Name: info.GetName(), UID: info.GetUID(), Groups: append(slices.Clone(info.GetGroups()), user.AllAuthenticated), Extra: info.GetExtra(),
	}}, true, nil
}

// boundTo adds what the token is bound to, and fails if that is gone. The node of a Pod is said only.
func (b *bearer) boundTo(who *serviceaccount.ServiceAccountInfo, now time.Time, get getter) error {
	in := b.Kubernetes.Namespace
	if secret := b.Kubernetes.Secret; secret != nil {
		if err := secret.check("secret", get(corev1.Resource("secrets"), in, secret.Name), now); err != nil {
			return err
		}
	}
	pod, node := b.Kubernetes.Pod, b.Kubernetes.Node
	if pod != nil {
		if err := pod.check("pod", get(corev1.Resource("pods"), in, pod.Name), now); err != nil {
			return err
		}
		who.PodName, who.PodUID = pod.Name, pod.UID
	}
	if node != nil {
		if pod == nil {
			if err := node.check("node", get(corev1.Resource("nodes"), "", node.Name), now); err != nil {
				return err
			}
		}
		who.NodeName, who.NodeUID = node.Name, node.UID
	}
	return nil
}

// check returns why a token that names an object counts no longer, nil if it does.
func (n *named) check(kind string, obj runtime.Object, now time.Time) error {
	m, err := meta.Accessor(obj)
	if obj == nil || err != nil {
		return errInvalidated
	}
	if uid := string(m.GetUID()); uid != n.UID {
		return fmt.Errorf("[%w, %s UID (%s) does not match service account %s ref claim (%s)]", errNoToken, kind, uid, kind, n.UID)
	}
	if gone(m, now) {
		return errInvalidated
	}
	return nil
}

// gone reports whether an object should have been deleted more than a minute ago.
func gone(m metav1.Object, now time.Time) bool {
	deleted := m.GetDeletionTimestamp()
	return deleted != nil && deleted.Time.Before(now.Add(-jwt.DefaultLeeway))
}
