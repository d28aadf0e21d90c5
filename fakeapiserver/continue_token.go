package fakeapiserver

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
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
	if own, ok := decodeOwn(string(data)); ok {
		t = own
	} else if err := json.Unmarshal(data, &t); err != nil {
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

// decodeOwn decodes the JSON of a token as encodeContinue writes it, of keys that need no escapes but that of the byte behind them. A list in pages
// has each of its tokens read three times. ok is false for any other text, which may be a token all the same.
func decodeOwn(text string) (t continueToken, ok bool) {
	rest, ok := strings.CutPrefix(text, `{"v":"`+continueVersion+`","rv":`)
	if !ok {
		return t, false
	}
	number, rest, ok := strings.Cut(rest, `,"start":"`)
	if !ok {
		return t, false
	}
	start, ok := strings.CutSuffix(rest, `\u0000"}`)
	if !ok || strings.IndexFunc(start, needsEscape) >= 0 {
		return t, false
	}
	rv, err := strconv.ParseInt(number, 10, 64)
	if err != nil || strconv.FormatInt(rv, 10) != number {
		return t, false
	}
	return continueToken{APIVersion: continueVersion, Revision: rv, Start: start + "\x00"}, true
}

// needsEscape reports whether a rune may stand for another in JSON, or must not stand for itself.
func needsEscape(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r >= utf8.RuneSelf }

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
