package probe

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// answer contains the parts of an answer that later steps may refer to.
type answer struct {
	rv, uid, name, token string
	bearer               string // of a token request
}

var (
	variable = regexp.MustCompile(`\$\{([^}]*)\}`)
	sum      = regexp.MustCompile(`^(.*?)([+-]\d+)?$`)
)

// expand replaces the ${…} of text. A variable that was never saved expands to the empty string, so that a script
// continues after a failed request.
func (s *Session) expand(text string) (string, error) {
	var failed error
	out := variable.ReplaceAllStringFunc(text, func(match string) string {
		value, err := s.lookUp(match[2 : len(match)-1])
		if err != nil && failed == nil {
			failed = err
		}
		return value
	})
	return out, failed
}

// expandHeaders returns headers with the ${…} of their values replaced.
func (s *Session) expandHeaders(headers []Header) ([]Header, error) {
	var expanded []Header
	for _, h := range headers {
		value, err := s.expand(h.Value)
		if err != nil {
			return nil, err
		}
		expanded = append(expanded, Header{h.Name, value})
	}
	return expanded, nil
}

func (s *Session) lookUp(expression string) (string, error) {
	if rest, found := strings.CutPrefix(expression, "repeat:"); found {
		text, count, _ := strings.Cut(rest, ":")
		n, err := strconv.Atoi(count)
		if err != nil || n < 0 {
			return "", fmt.Errorf("${%s}: bad count %q", expression, count)
		}
		return strings.Repeat(text, n), nil
	}
	if rest, found := strings.CutPrefix(expression, "token:"); found {
		rv, start, _ := strings.Cut(rest, ":")
		if value, err := s.lookUp(rv); err == nil && value != "" {
			rv = value
		}
		return forgeToken(rv, strings.ReplaceAll(start, `\0`, "\x00")), nil
	}
	parts := sum.FindStringSubmatch(expression)
	value, err := s.variable(parts[1])
	if err != nil || parts[2] == "" || value == "" {
		return value, err
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return "", fmt.Errorf("${%s}: %q is not a number", expression, value)
	}
	delta, _ := strconv.ParseInt(parts[2], 10, 64)
	return strconv.FormatInt(n+delta, 10), nil
}

func (s *Session) variable(name string) (string, error) {
	if name == "base" {
		return strconv.FormatInt(s.base, 10), nil
	}
	if name == "i" {
		return strconv.Itoa(s.turn), nil
	}
	saved, field, found := strings.Cut(name, ".")
	if !found {
		return "", fmt.Errorf("unknown variable %q", name)
	}
	a := s.saved[saved]
	switch field {
	case "rv":
		return a.rv, nil
	case "uid":
		return a.uid, nil
	case "name":
		return a.name, nil
	case "continue":
		return a.token, nil
	case "bearer":
		return a.bearer, nil
	}
	return "", fmt.Errorf("unknown field %q of variable %q (want rv, uid, name, continue or bearer)", field, saved)
}

// forgeToken returns a continue token in a server's format: unpadded base64 of a small JSON document.
func forgeToken(rv, start string) string {
	n, err := strconv.ParseInt(rv, 10, 64)
	if err != nil {
		n = 0
	}
	data, err := json.Marshal(continueToken{Version: "meta.k8s.io/v1", RV: n, Start: start})
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// continueToken is a decoded continue token.
type continueToken struct {
	Version string `json:"v"`
	RV      int64  `json:"rv"`
	Start   string `json:"start"`
}
