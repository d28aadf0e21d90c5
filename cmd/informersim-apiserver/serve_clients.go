package main

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxClients limits how many clients are told apart, because names are never evicted. Later ones share the client "http".
const maxClients = 1000

// sharedClient is the client of requests that have no name of their own.
const sharedClient = "http"

// clientNames are the clients that have sent a request, or that a fault waits for.
type clientNames struct {
	mu    sync.Mutex
	known map[string]*seenClient
}

// seenClient describes a client that has sent requests.
type seenClient struct {
	requests int // 0 if only a fault has named it
	last     time.Time
}

var clientName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// clientOf names the client of a request: its User-Agent up to the first slash, as managedFields do.
func (w *served) clientOf(r *http.Request) string {
	name, _, _ := strings.Cut(r.UserAgent(), "/")
	return w.clients.saw(name, time.Now())
}

// of returns the name for a client, "" if it gets no name of its own.
func (c *clientNames) of(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.find(name) == nil {
		return ""
	}
	return name
}

// saw notes a request of a client, and returns the name for it.
func (c *clientNames) saw(name string, now time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.find(name)
	if seen == nil {
		name = sharedClient
		seen = c.add(name)
	}
	seen.requests++
	seen.last = now
	return name
}

// find returns the client of that name, which may be new; nil if it gets no name of its own.
func (c *clientNames) find(name string) *seenClient {
	switch known := c.known[name]; {
	case known != nil:
		return known
	case !clientName.MatchString(name) || len(c.known) >= maxClients:
		return nil
	}
	return c.add(name)
}

func (c *clientNames) add(name string) *seenClient {
	if c.known == nil {
		c.known = map[string]*seenClient{}
	}
	if c.known[name] == nil {
		c.known[name] = &seenClient{}
	}
	return c.known[name]
}

// listedClient is a client of GET /clients.
type listedClient struct {
	Name     string `json:"name"`
	Requests int    `json:"requests"`
	InFlight int    `json:"inFlight"` // open watches included
	Last     string `json:"lastRequest"`
}

// list returns the clients that have sent a request, by name.
func (c *clientNames) list() []listedClient {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []listedClient
	for name, seen := range c.known {
		if seen.requests > 0 {
			all = append(all, listedClient{Name: name, Requests: seen.requests, Last: seen.last.UTC().Format(time.RFC3339)})
		}
	}
	slices.SortFunc(all, func(a, b listedClient) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func (w *served) listClients(rw http.ResponseWriter, r *http.Request) {
	if _, err := readQuery(r, nil); err != nil {
		refuse(rw, err)
		return
	}
	clients := w.clients.list()
	w.pump.Look(func() {
		for i := range clients {
			if cl := w.cluster.Client(clients[i].Name); cl != nil {
				clients[i].InFlight = cl.InFlight()
			}
		}
	})
	list := make([]any, 0, len(clients))
	for _, c := range clients {
		list = append(list, c)
	}
	writeList(rw, list)
}
