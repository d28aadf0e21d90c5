package builtin

import (
	"net/http"

	"k8s.io/kubernetes/pkg/serviceaccount"
)

// Issuer describes who issues the tokens of ServiceAccounts: OpenID's configuration and keys, with which anyone can check a token.
type Issuer struct {
	provider serviceaccount.OpenIDMetadataProvider
}

// Where a server has these.
const (
	IssuerConfigurationPath = serviceaccount.OpenIDConfigPath
	IssuerKeysPath          = serviceaccount.JWKSPath
	IssuerKeysType          = "application/jwk-set+json"
)

// NewIssuer returns the issuer of all servers of this package, which all have the same key. address is host:port of the server that has the keys.
func NewIssuer(address string) (*Issuer, error) {
	s, err := newSigner()
	if err != nil {
		return nil, err
	}
	keys, err := serviceaccount.StaticPublicKeysGetter([]any{&s.key.PublicKey})
	if err != nil {
		return nil, err
	}
	provider, err := serviceaccount.NewOpenIDMetadataProvider(issuer, "", address, keys)
	if err != nil {
		return nil, err
	}
	return &Issuer{provider}, nil
}

// Configuration answers with the issuer's configuration.
func (i *Issuer) Configuration(w http.ResponseWriter, _ *http.Request) {
	data, _ := i.provider.GetConfigJSON()
	cached(w, "application/json", data)
}

// Keys answers with the issuer's public keys.
func (i *Issuer) Keys(w http.ResponseWriter, _ *http.Request) {
	data, _ := i.provider.GetKeysetJSON()
	cached(w, IssuerKeysType, data)
}

// cached answers with what may be cached for an hour, the time of a real server whose keys come from its flags.
func cached(w http.ResponseWriter, mediaType string, data []byte) {
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "public, max-age=3600")
	_, _ = w.Write(data) // into memory
}
