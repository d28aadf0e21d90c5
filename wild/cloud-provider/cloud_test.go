package cloudprovider_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"
)

// cloud has instances and routes. It outlives the processes that call it. The goroutines of a run take turns, so it needs no lock.
type cloud struct {
	cloudprovider.Interface // nil: the controllers call no other method

	made      int
	instances map[string]string // the IDs of those that there are, by name; a name may come again
	routes    map[string]string // the names of Nodes, by the networks that lead to them
	slow      time.Duration     // of the next call that asks for an instance
	fails     func() bool
}

func newCloud(fails func() bool) *cloud {
	return &cloud{instances: map[string]string{}, routes: map[string]string{}, fails: fails}
}

// start makes an instance.
func (c *cloud) start(name string) {
	c.made++
	c.instances[name] = fmt.Sprintf("example://%s-%d", name, c.made)
}

// call takes a moment, and fails if the caller has crashed meanwhile, or as a cloud does now and then.
func (c *cloud) call(ctx context.Context) error {
	takes := 100*time.Millisecond + c.slow
	c.slow = 0
	select {
	case <-time.After(takes):
	case <-ctx.Done():
	}
	if ctx.Err() == nil && c.fails() {
		return errors.New("the cloud is not available")
	}
	return ctx.Err()
}

// find returns the ID of a Node's instance, "" if it is gone. A Node that has an ID means that instance, and no other of its name.
func (c *cloud) find(n *corev1.Node) string {
	id := c.instances[n.Name]
	if n.Spec.ProviderID != "" && n.Spec.ProviderID != id {
		return ""
	}
	return id
}

func (c *cloud) InstancesV2() (cloudprovider.InstancesV2, bool) { return c, true }
func (c *cloud) Instances() (cloudprovider.Instances, bool)     { return nil, false }

func (c *cloud) InstanceExists(ctx context.Context, n *corev1.Node) (bool, error) {
	id := c.find(n)
	return id != "", c.call(ctx)
}

func (c *cloud) InstanceShutdown(ctx context.Context, _ *corev1.Node) (bool, error) {
	return false, c.call(ctx)
}

func (c *cloud) InstanceMetadata(ctx context.Context, n *corev1.Node) (*cloudprovider.InstanceMetadata, error) {
	id := c.find(n)
	if err := c.call(ctx); err != nil {
		return nil, err
	}
	if id == "" {
		return nil, cloudprovider.InstanceNotFound
	}
	return &cloudprovider.InstanceMetadata{
		ProviderID: id, InstanceType: "small", Zone: "north", NodeAddresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.0.2.1"}},
	}, nil
}

func (c *cloud) ListRoutes(ctx context.Context, _ string) (all []*cloudprovider.Route, err error) {
	for _, network := range slices.Sorted(maps.Keys(c.routes)) {
		all = append(all, &cloudprovider.Route{Name: network, TargetNode: types.NodeName(c.routes[network]), DestinationCIDR: network})
	}
	return all, c.call(ctx)
}

func (c *cloud) CreateRoute(ctx context.Context, _, _ string, r *cloudprovider.Route) error {
	if err := c.call(ctx); err != nil {
		return err
	}
	if to, there := c.routes[r.DestinationCIDR]; there {
		return fmt.Errorf("there is a route to %s already, by way of %s", r.DestinationCIDR, to)
	}
	c.routes[r.DestinationCIDR] = string(r.TargetNode)
	return nil
}

func (c *cloud) DeleteRoute(ctx context.Context, _ string, r *cloudprovider.Route) error {
	if err := c.call(ctx); err != nil {
		return err
	}
	if c.routes[r.DestinationCIDR] == string(r.TargetNode) {
		delete(c.routes, r.DestinationCIDR)
	}
	return nil
}
