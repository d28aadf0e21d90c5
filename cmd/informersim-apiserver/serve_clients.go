package main

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// maxClients limits how many clients are told apart, because names are never evicted. Later ones share the client "http".
const maxClients = 1000

// clientNames are the clients that have sent a request.
type clientNames struct {
	mu    sync.Mutex
	known map[string]bool
}

var clientName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// clientOf names the client of a request: its User-Agent up to the first slash, as managedFields do.
func (w *served) clientOf(r *http.Request) string {
	name, _, _ := strings.Cut(r.UserAgent(), "/")
	return w.clients.of(name)
}

// of returns the name for a client, "" if it gets no name of its own.
func (c *clientNames) of(name string) string {
	if !clientName.MatchString(name) {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]bool{}
	}
	if !c.known[name] && len(c.known) >= maxClients {
		return ""
	}
	c.known[name] = true
	return name
}
