package fakeapiserver

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// continueToken is where a paged list continues, in the real server's format, so that the same tools can inspect it.
type continueToken struct {
	APIVersion string `json:"v"`
	// Revision is the list's revision; negative for "the current one", after a compaction made the list inconsistent.
	Revision int64 `json:"rv"`
	// Start is the first key that may come next, relative to the listed prefix.
	Start string `json:"start"`
}

const continueVersion = "meta.k8s.io/v1"

// inconsistent is the revision of a token that continues at the current revision (S10).
const inconsistent = -1

func encodeContinue(revision int64, start string) string {
	if revision != inconsistent {
		start = "/" + start // as in the real server's tokens, except those that replace an expired one
	}
	data, err := json.Marshal(continueToken{APIVersion: continueVersion, Revision: revision, Start: start})
	if err != nil {
		panic(fmt.Sprintf("fakeapiserver: encoding a continue token: %v", err)) // a struct of strings and numbers
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

func decodeContinue(text string) (continueToken, error) {
	var t continueToken
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return t, fmt.Errorf("continue key is not valid: %v", err)
	}
	if err := json.Unmarshal(data, &t); err != nil {
		return t, fmt.Errorf("continue key is not valid: %v", err)
	}
	switch {
	case t.APIVersion != continueVersion:
		return t, fmt.Errorf("continue key is not valid: server does not recognize this encoded version %v", t.APIVersion)
	case t.Revision == 0:
		return t, errors.New("continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
	case t.Start == "":
		return t, errors.New("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)")
	}
	key := t.Start
	if !strings.HasPrefix(key, "/") {
		key = "/" + key
	}
	if path.Clean(key) != key {
		return t, fmt.Errorf("continue key is not valid: %v", t.Start)
	}
	t.Start = key[1:]
	return t, nil
}

// describeContinue formats a token for people: "3:default/b" continues after default/b at revision 3. An invalid token is
// quoted.
func describeContinue(text string) string {
	if text == "" {
		return ""
	}
	t, err := decodeContinue(text)
	if err != nil {
		return strconv.Quote(text)
	}
	at := "current"
	if t.Revision > 0 {
		at = strconv.FormatInt(t.Revision, 10)
	}
	return at + ":" + strings.TrimSuffix(t.Start, "\x00")
}
