package transport

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Guard decides whether a request may come in.
//
// A server on a loopback address is open to every web page that its user visits: a page can send requests there, and read the
// answers too if its own name resolves to the loopback address (DNS rebinding). So without a token only requests are answered
// that no foreign page can have caused. kubectl, client-go and curl send none of the headers that give a page away.
type Guard struct {
	// Token, if not empty, must be presented by every request: as bearer token, or as the password of any user, which is how
	// clients that send no tokens over plain HTTP can have it in the server's address.
	Token string
	// NoBrowsers refuses the requests of foreign pages even if they present the token.
	NoBrowsers bool
}

// Refusal is the answer to a request that may not come in: the code, the reason as in a Status, and what to do about it.
type Refusal struct {
	Code            int
	Reason, Message string
}

func forbidden(format string, args ...any) *Refusal {
	return &Refusal{http.StatusForbidden, "Forbidden", fmt.Sprintf(format, args...)}
}

// Check returns nil for a request that may come in.
func (g *Guard) Check(r *http.Request) *Refusal {
	if g.Token == "" || g.NoBrowsers {
		if refused := g.checkHost(r); refused != nil {
			return refused
		}
		if refused := g.checkOrigin(r); refused != nil {
			return refused
		}
	}
	if g.Token == "" {
		return nil
	}
	given, basic := credentials(r)
	if !equal(given, g.Token) {
		return &Refusal{http.StatusUnauthorized, "Unauthorized", "Unauthorized"}
	}
	if basic { // a browser adds a password that it remembers to the requests of every page
		return g.checkSite(r)
	}
	return nil
}

func (g *Guard) checkHost(r *http.Request) *Refusal {
	if r.Host == "" || isLoopback(r.Host) { // HTTP/1.0 may leave it out, and no browser does
		return nil
	}
	return forbidden("the Host %q is refused: only localhost and loopback addresses are answered, so that no web page can get in by DNS rebinding; use http://127.0.0.1 or http://localhost with the server's port%s",
		shortened(r.Host), g.orToken())
}

// checkOrigin refuses requests that a page of another origin has caused.
func (g *Guard) checkOrigin(r *http.Request) *Refusal {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	for _, origin := range r.Header["Origin"] {
		if u, err := url.Parse(origin); err != nil || u.Scheme != scheme || !strings.EqualFold(u.Host, r.Host) {
			return forbidden("the Origin %q is refused: web pages of other origins may not use this server; send the request with kubectl, curl or a program, without the header Origin%s",
				shortened(origin), g.orToken())
		}
	}
	return g.checkSite(r)
}

func (g *Guard) checkSite(r *http.Request) *Refusal {
	for _, site := range r.Header["Sec-Fetch-Site"] {
		if site != "same-origin" && site != "none" {
			return forbidden("Sec-Fetch-Site %q is refused: web pages of other origins may not use this server; type its address into the browser, or send the request with kubectl, curl or a program%s",
				shortened(site), g.orToken())
		}
	}
	return nil
}

// orToken is the advice to have a token, where one would help.
func (g *Guard) orToken() string {
	if g.Token != "" || g.NoBrowsers {
		return ""
	}
	return ", or guard the server with a token"
}

// credentials are what a request presents: a bearer token, or the password of basic authentication.
func credentials(r *http.Request) (secret string, basic bool) {
	if _, password, ok := r.BasicAuth(); ok {
		return password, true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") { // RFC 7235: schemes have no case
		return "", false
	}
	return strings.TrimLeft(token, " "), false
}

// equal compares secrets in a time that tells nothing of them, not even their lengths.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// isLoopback tells whether a Host, with or without its port, is this machine whatever a name server says.
func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// shortened is a header's value, cut to what a message can hold.
func shortened(value string) string {
	const most = 100
	if len(value) > most {
		return value[:most] + "…"
	}
	return value
}
