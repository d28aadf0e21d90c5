package network_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	network "github.com/informersim/informersim/examples/network-controller"
)

// cloud is a Provider whose calls fail now and then. It outlives the controller's processes.
type cloud struct {
	mu       sync.Mutex
	networks map[string]network.Spec
	calls    map[string]int
	healthy  bool      // only what is wrong fails
	failed   time.Time // when the last call did
	removals int
}

func newCloud() *cloud { return &cloud{networks: map[string]network.Spec{}, calls: map[string]int{}} }

var errUnavailable = errors.New("the cloud is not available")

// outage reports whether a call fails: every third one for a key, so that it does not matter which worker comes first.
func (c *cloud) outage(key string) bool {
	c.calls[key]++
	return !c.healthy && c.calls[key]%3 == 0
}

func (c *cloud) fail(err error) error {
	c.failed = time.Now()
	return err
}

// Ensure implements network.Provider.
func (c *cloud) Ensure(key string, spec network.Spec) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outage(key) {
		return c.fail(errUnavailable)
	}
	c.networks[key] = spec
	return nil
}

// Remove implements network.Provider. In an outage the network is removed, but the caller does not learn of it.
func (c *cloud) Remove(key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, exists := c.networks[key]
	delete(c.networks, key)
	c.removals++
	switch {
	case c.outage(key):
		return c.fail(errUnavailable)
	case !exists:
		return c.fail(network.ErrNotFound)
	}
	return nil
}

// Keys implements network.Provider.
func (c *cloud) Keys() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.networks))
}

// lose makes the cloud forget a network.
func (c *cloud) lose(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.networks, key)
}

// heal ends the outages.
func (c *cloud) heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.healthy = true
}

// quietFor fails if a call failed less than d ago.
func (c *cloud) quietFor(d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ago := time.Since(c.failed); ago < d {
		return fmt.Errorf("a call failed %v ago", ago)
	}
	return nil
}

func (c *cloud) removed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.removals
}

// has fails unless the cloud has exactly these networks.
func (c *cloud) has(want map[string]network.Spec) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !maps.Equal(c.networks, want) {
		return fmt.Errorf("the cloud has %v, the Network objects are %v", c.networks, want)
	}
	return nil
}
