package fakeapiserver

import (
	"strings"

	"github.com/informersim/informersim/sim"
)

// Serving returns the client whose request is being served in this step, and the request: what is committed now is theirs. It returns nil
// between requests, and while the cluster's own controllers write without one.
func (c *Cluster) Serving() (*Client, ReqID) {
	if c.serving == nil {
		return nil, 0
	}
	return c.serving.client, c.serving.id
}

// Actor returns the number under which the client is known to the kernel.
func (cl *Client) Actor() sim.ActorID { return cl.id }

// Clients returns the names of all clients, in the order in which they were connected.
func (c *Cluster) Clients() (names []string) {
	for _, cl := range c.clients {
		names = append(names, strings.TrimPrefix(cl.name, "conn/"))
	}
	return names
}

// Requests returns how many requests the client has made.
func (cl *Client) Requests() int { return int(cl.last) }
