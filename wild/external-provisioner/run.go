package provisioner

import (
	"context"
	"sync"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	ctrl "github.com/kubernetes-csi/external-provisioner/v6/pkg/controller"
	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	csitrans "k8s.io/csi-translation-lib"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// The defaults of csi-provisioner's flags.
const (
	volumeNamePrefix = "pvc"
	wholeUID         = -1 // of a claim, in the name of its volume
	retryStart       = time.Second
	retryMax         = 5 * time.Minute
	workers          = 100
	cloneWorkers     = 1
	timeout          = 10 * time.Second
)

// Run runs the controller until ctx ends, for a driver without snapshots and topology, as cmd/csi-provisioner does once it leads.
func Run(ctx context.Context, cfg *rest.Config, driver *grpc.ClientConn) error {
	cfg = rest.CopyConfig(cfg)
	cfg.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	if err := ctrl.Probe(ctx, driver, timeout); err != nil {
		return err
	}
	name, err := ctrl.GetDriverName(driver, timeout)
	if err != nil {
		return err
	}
	ofPlugin, ofController, err := ctrl.GetDriverCapabilities(driver, timeout)
	if err != nil {
		return err
	}
	shared := informers.NewSharedInformerFactory(client, ctrl.ResyncPeriodOfCsiNodeInformer)
	classes, claims := shared.Storage().V1().StorageClasses().Lister(), shared.Core().V1().PersistentVolumeClaims()
	attachments := shared.Storage().V1().VolumeAttachments().Lister()
	if !ofController[csi.ControllerServiceCapability_RPC_PUBLISH_UNPUBLISH_VOLUME] {
		attachments = nil
	}
	retry := func() workqueue.TypedRateLimiter[string] {
		return workqueue.NewTypedItemExponentialFailureRateLimiter[string](retryStart, retryMax)
	}
	cloned := workqueue.NewTypedRateLimitingQueueWithConfig(retry(), workqueue.TypedRateLimitingQueueConfig[string]{Name: "claims"})
	provisioner := ctrl.NewCSIProvisioner(client, timeout, name, volumeNamePrefix, wholeUID, driver, nil, name, ofPlugin, ofController, "", false, true, csitrans.New(),
		classes, nil, nil, claims.Lister(), attachments, nil, false, "", nil, false, true, nil)
	volumes := controller.NewProvisionController(ctx, client, name, provisioner,
		controller.LeaderElection(false),
		controller.FailedProvisionThreshold(0),
		controller.FailedDeleteThreshold(0),
		controller.RateLimiter(retry()),
		controller.Threadiness(workers),
		controller.CreateProvisionedPVLimiter(workqueue.DefaultTypedControllerRateLimiter[string]()),
		controller.ClaimsInformer(claims.Informer()),
		controller.RetryIntervalMax(retryMax),
		controller.AddFinalizer(true),
	)
	clones := ctrl.NewCloningProtectionController(client, claims.Lister(), claims.Informer(), cloned, ofController)
	shared.Start(ctx.Done())
	defer shared.Shutdown()
	shared.WaitForCacheSync(ctx.Done())
	var running sync.WaitGroup
	defer running.Wait()
	volumes.ControllerWaitGroup(&running)
	if clones != nil {
		running.Go(func() { clones.Run(ctx, cloneWorkers, &running) })
	}
	volumes.Run(ctx)
	return nil
}
