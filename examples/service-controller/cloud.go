package service

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"
)

// Cloud is a cloud with load balancers, whose calls fail now and then.
type Cloud struct {
	cloudprovider.Interface // nil: the service controller calls no other method

	mu        sync.Mutex
	balancers map[string][]corev1.ServicePort
	calls     map[string]int
}

// NewCloud returns an empty cloud.
func NewCloud() *Cloud {
	return &Cloud{balancers: map[string][]corev1.ServicePort{}, calls: map[string]int{}}
}

var (
	_ cloudprovider.Interface    = (*Cloud)(nil)
	_ cloudprovider.LoadBalancer = (*Cloud)(nil)
)

// LoadBalancer implements cloudprovider.Interface.
func (c *Cloud) LoadBalancer() (cloudprovider.LoadBalancer, bool) { return c, true }

// ProviderName implements cloudprovider.Interface.
func (c *Cloud) ProviderName() string { return "example" }

// HasClusterID implements cloudprovider.Interface.
func (c *Cloud) HasClusterID() bool { return true }

// Balancers returns the ports of the existing load balancers.
func (c *Cloud) Balancers() map[string][]corev1.ServicePort {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.balancers)
}

// GetLoadBalancerName implements cloudprovider.LoadBalancer.
func (c *Cloud) GetLoadBalancerName(_ context.Context, _ string, s *corev1.Service) string {
	return s.Namespace + "/" + s.Name
}

// GetLoadBalancer implements cloudprovider.LoadBalancer.
func (c *Cloud) GetLoadBalancer(ctx context.Context, cluster string, s *corev1.Service) (*corev1.LoadBalancerStatus, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.balancers[c.GetLoadBalancerName(ctx, cluster, s)]; !ok {
		return nil, false, nil
	}
	return status(), true, nil
}

func status() *corev1.LoadBalancerStatus {
	return &corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}}
}

// EnsureLoadBalancer implements cloudprovider.LoadBalancer.
func (c *Cloud) EnsureLoadBalancer(ctx context.Context, cluster string, s *corev1.Service, _ []*corev1.Node) (*corev1.LoadBalancerStatus, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := c.GetLoadBalancerName(ctx, cluster, s)
	if err := c.fails(name); err != nil {
		return nil, err
	}
	c.balancers[name] = slices.Clone(s.Spec.Ports)
	return status(), nil
}

// UpdateLoadBalancer implements cloudprovider.LoadBalancer.
func (c *Cloud) UpdateLoadBalancer(context.Context, string, *corev1.Service, []*corev1.Node) error {
	return nil // balancers do not track nodes
}

// EnsureLoadBalancerDeleted implements cloudprovider.LoadBalancer.
func (c *Cloud) EnsureLoadBalancerDeleted(ctx context.Context, cluster string, s *corev1.Service) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := c.GetLoadBalancerName(ctx, cluster, s)
	if err := c.fails(name); err != nil {
		return err
	}
	delete(c.balancers, name)
	return nil
}

// fails fails every fourth call for a balancer.
func (c *Cloud) fails(name string) error {
	if c.calls[name]++; c.calls[name]%4 == 0 {
		return errors.New("the cloud is not available")
	}
	return nil
}
