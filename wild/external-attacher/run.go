package attacher

import (
	"context"
	"sync"
	"time"

	csi "github.com/kubernetes-csi/external-attacher/v4/pkg/attacher"
	"github.com/kubernetes-csi/external-attacher/v4/pkg/controller"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	csitrans "k8s.io/csi-translation-lib"
	"k8s.io/klog/v2"
)

// The defaults of csi-attacher's flags.
const (
	resyncPeriod = 10 * time.Minute
	retryStart   = time.Second
	retryMax     = 5 * time.Minute
	workers      = 10
)

// Run runs the controller until ctx ends, for a driver that publishes volumes and does not list them, as cmd/csi-attacher does.
func Run(ctx context.Context, cfg *rest.Config, name string, driver csi.Attacher) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	timeout := 15 * time.Second
	shared := informers.NewSharedInformerFactory(client, resyncPeriod)
	volumes, attachments := shared.Core().V1().PersistentVolumes(), shared.Storage().V1().VolumeAttachments()
	handler := controller.NewCSIHandler(client, name, driver, nil, volumes.Lister(), shared.Storage().V1().CSINodes().Lister(), attachments.Lister(),
		&timeout, true, false, csitrans.New(), "")
	retry := func() workqueue.TypedRateLimiter[string] {
		return workqueue.NewTypedItemExponentialFailureRateLimiter[string](retryStart, retryMax)
	}
	c := controller.NewCSIAttachController(klog.FromContext(ctx), client, name, handler, attachments, volumes, retry(), retry(), false, 0)
	shared.Start(ctx.Done())
	defer shared.Shutdown()
	var running sync.WaitGroup
	c.Run(ctx, workers, &running)
	running.Wait()
	return nil
}
