package builtin

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"time"

	"gopkg.in/go-jose/go-jose.v2/jwt"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// issuer is who issues the tokens of ServiceAccounts, and their audience unless a request names another: a kube-apiserver's usual one.
const issuer = "https://kubernetes.default.svc.cluster.local"

// signer signs the tokens of ServiceAccounts, ES256, always with the same key and in the same way: a run that is repeated issues the same
// tokens, and a session that is resumed knows them. Nothing secret is behind them.
type signer struct {
	key *ecdsa.PrivateKey
	id  string
}

func newSigner() (*signer, error) {
	seed := sha256.Sum256([]byte("the service account issuer of informersim"))
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), seed[:])
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(der)
	return &signer{key, base64.RawURLEncoding.EncodeToString(sum[:])}, nil
}

// sign returns a JSON Web Token.
func (s *signer) sign(payload []byte) (string, error) {
	head, err := json.Marshal(map[string]string{"alg": "ES256", "kid": s.id})
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(payload)
	digest := sha256.Sum256([]byte(text))
	der, err := s.key.Sign(nil, digest[:], crypto.SHA256) // without a random source the signature is determined by what is signed
	if err != nil {
		return "", err
	}
	var signature struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &signature); err != nil {
		return "", err
	}
	raw := make([]byte, 64)
	signature.R.FillBytes(raw[:32])
	signature.S.FillBytes(raw[32:])
	return text + "." + base64.RawURLEncoding.EncodeToString(raw), nil
}

// payload returns the payload of a token that this signer has signed, ok is false for any other text.
func (s *signer) payload(token string) (payload []byte, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, false
	}
	again, err := s.sign(payload)
	return payload, err == nil && again == token
}

// tokens issues and knows the tokens of ServiceAccounts. It implements token.TokenGenerator.
type tokens struct {
	now    *current
	signer *signer
}

// GenerateToken implements token.TokenGenerator. The claims' times are those of the clock, and move to the write's.
func (t tokens) GenerateToken(ctx context.Context, claims *jwt.Claims, private any) (string, error) {
	s := sessionOf(ctx)
	if s == nil {
		return "", errNotHere
	}
	now := s.now()
	lives := claims.Expiry.Time().Sub(claims.IssuedAt.Time())
	payload := map[string]any{}
	data, err := json.Marshal(private)
	if err == nil {
		err = json.Unmarshal(data, &payload)
	}
	if err != nil {
		return "", err
	}
	payload["aud"], payload["iss"], payload["sub"], payload["jti"] = claims.Audience, issuer, claims.Subject, string(s.write.System.UID)
	payload["iat"], payload["nbf"], payload["exp"] = now.Unix(), now.Unix(), now.Add(lives).Unix()
	if data, err = json.Marshal(payload); err != nil {
		return "", err
	}
	return t.signer.sign(data)
}

// AuthenticateRequest implements authenticator.Request for TokenReviews.
func (t tokens) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	s := t.now.session
	payload, ok := t.signer.payload(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	if s == nil || !ok {
		return nil, false, errNoToken
	}
	return accountOf(r.Context(), payload, s.now().Time, s.other)
}

// reader gets the objects of a resource for the code that issues tokens. It implements rest.Getter.
type reader struct {
	schema.GroupResource
	namespaced bool
}

// Get implements rest.Getter.
func (r reader) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	if name == "" {
		return nil, apierrors.NewBadRequest("Name parameter required.") // a store's words
	}
	namespace := ""
	if r.namespaced {
		namespace = request.NamespaceValue(ctx)
	}
	if s := sessionOf(ctx); s != nil {
		if obj := s.other(r.GroupResource, namespace, name); obj != nil {
			return internal(obj.DeepCopyObject())
		}
	}
	return nil, apierrors.NewNotFound(r.GroupResource, name)
}

// stampToken replaces, in place, the times of an answer to a token request.
func (s *session) stampToken(created, expires *metav1.Time, lives int64) {
	*created = s.now()
	*expires = metav1.NewTime(s.now().Add(time.Duration(lives) * time.Second))
}
