package volume

import (
	"context"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// Name is the provisioner that a StorageClass names.
const Name = "example.com/volumes"

// Run runs the controller until ctx ends, as the only one.
func Run(ctx context.Context, cfg *rest.Config, s *Storage, o ...func(*controller.ProvisionController) error) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	o = append(o, controller.LeaderElection(false))
	controller.NewProvisionController(ctx, client, Name, provisioner{s, ctx}, o...).Run(ctx)
	return nil
}

// SaveForEver has the controller try to save a PersistentVolume until it succeeds. By default, it removes the volume after five tries.
func SaveForEver(c *controller.ProvisionController) error {
	return controller.CreateProvisionedPVLimiter(workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute))(c)
}
