package resizer

import (
	"context"
	"sync"
	"time"

	"github.com/kubernetes-csi/external-resizer/v2/pkg/controller"
	csi "github.com/kubernetes-csi/external-resizer/v2/pkg/resizer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
)

// The defaults of csi-resizer's flags.
const (
	resyncPeriod = 10 * time.Minute
	retryStart   = time.Second
	retryMax     = 5 * time.Minute
	workers      = 10
)

// Run runs the controller until ctx ends, as cmd/csi-resizer does.
func Run(ctx context.Context, cfg *rest.Config, driver csi.Resizer) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	shared := informers.NewSharedInformerFactory(client, resyncPeriod)
	retry := workqueue.NewTypedItemExponentialFailureRateLimiter[string](retryStart, retryMax)
	c := controller.NewResizeController(driver.Name(), driver, client, resyncPeriod, shared, retry, true, retryMax)
	shared.Start(ctx.Done())
	defer shared.Shutdown()
	var running sync.WaitGroup
	c.Run(workers, ctx, &running)
	running.Wait()
	return nil
}
