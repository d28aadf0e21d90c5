package karpenter_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/awslabs/operatorpkg/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/test/v1alpha1"
)

// cloud is a provider of instances. It outlives the processes that call it.
type cloud struct {
	launched  int
	instances map[string]*instance // by provider ID
	ended     func(*instance)      // called when Karpenter ends one
}

type instance struct {
	id, claim string
	since     time.Time
	ending    bool
}

func newCloud() *cloud { return &cloud{instances: map[string]*instance{}} }

// ids returns those of all instances, in order.
func (c *cloud) ids() []string { return slices.Sorted(maps.Keys(c.instances)) }

func (c *cloud) Create(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	if err := work(ctx); err != nil {
		return nil, err
	}
	c.launched++
	i := &instance{id: fmt.Sprintf("cloud:///i-%d", c.launched), claim: claim.Name, since: time.Now()}
	c.instances[i.id] = i
	return i.asClaim(), nil
}

// Delete begins to end an instance; the next call finds it gone.
func (c *cloud) Delete(ctx context.Context, claim *v1.NodeClaim) error {
	if err := work(ctx); err != nil {
		return err
	}
	i := c.instances[claim.Status.ProviderID]
	switch {
	case i == nil:
		return notFound(claim.Status.ProviderID)
	case i.ending:
		delete(c.instances, i.id)
		return notFound(i.id)
	}
	i.ending = true
	if c.ended != nil {
		c.ended(i)
	}
	return nil
}

func (c *cloud) Get(ctx context.Context, id string) (*v1.NodeClaim, error) {
	if err := work(ctx); err != nil {
		return nil, err
	}
	if i := c.instances[id]; i != nil {
		return i.asClaim(), nil
	}
	return nil, notFound(id)
}

func (c *cloud) List(ctx context.Context) (all []*v1.NodeClaim, err error) {
	if err := work(ctx); err != nil {
		return nil, err
	}
	for _, id := range c.ids() {
		all = append(all, c.instances[id].asClaim())
	}
	return all, nil
}

func (i *instance) asClaim() *v1.NodeClaim {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: i.claim, CreationTimestamp: metav1.NewTime(i.since)}, Status: v1.NodeClaimStatus{ProviderID: i.id}}
	if i.ending {
		claim.DeletionTimestamp = &claim.CreationTimestamp
	}
	return claim
}

func notFound(id string) error {
	return cloudprovider.NewNodeClaimNotFoundError(errors.New("there is no instance " + id))
}

// work takes a second, and fails if the caller has crashed meanwhile.
func work(ctx context.Context) error {
	select {
	case <-time.After(time.Second):
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (*cloud) Name() string { return "cloud" }
func (*cloud) GetInstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return nil, nil
}
func (*cloud) IsDrifted(context.Context, *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", nil
}
func (*cloud) RepairPolicies() []cloudprovider.RepairPolicy { return nil }
func (*cloud) GetSupportedNodeClasses() []status.Object {
	return []status.Object{&v1alpha1.TestNodeClass{}}
}
