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

// continueToken is where a paged list goes on, in the format of the real server, so that a token can be inspected with the
// same means.
type continueToken struct {
	APIVersion string `json:"v"`
	// Revision is what the list is at; negative for "whatever is current", after a compaction made the list inconsistent.
	Revision int64 `json:"rv"`
	// Start is the first key that may come next, relative to what is listed.
	Start string `json:"start"`
}

const continueVersion = "meta.k8s.io/v1"

// inconsistent is the revision of a token that goes on at whatever revision is current (S10).
const inconsistent = -1

func encodeContinue(revision int64, start string) string {
	if revision != inconsistent {
		start = "/" + start // as the real server's tokens have it, but for those that it makes of an expired one
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

// describeContinue is what a token says, for people: "3:default/b" goes on after default/b at revision 3. One that says
// nothing is shown as it is.
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
