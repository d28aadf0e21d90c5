package snapshotter

import (
	"context"
	"sync"
	"time"

	snapshots "github.com/kubernetes-csi/external-snapshotter/client/v8/clientset/versioned"
	snapshotscheme "github.com/kubernetes-csi/external-snapshotter/client/v8/clientset/versioned/scheme"
	snapshotinformers "github.com/kubernetes-csi/external-snapshotter/client/v8/informers/externalversions"
	controller "github.com/kubernetes-csi/external-snapshotter/v8/pkg/common-controller"
	"github.com/kubernetes-csi/external-snapshotter/v8/pkg/metrics"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
)

// The defaults of the snapshot controller's flags.
const (
	resyncPeriod = 15 * time.Minute
	retryStart   = time.Second
	retryMax     = 5 * time.Minute
	workers      = 10
)

func init() { utilruntime.Must(snapshotscheme.AddToScheme(scheme.Scheme)) } // for its events, as its main does

// Run runs the snapshot controller until ctx ends, without group snapshots, as cmd/snapshot-controller does.
func Run(ctx context.Context, cfg *rest.Config) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	snapshotClient, err := snapshots.NewForConfig(cfg)
	if err != nil {
		return err
	}
	core := informers.NewSharedInformerFactory(client, resyncPeriod)
	custom := snapshotinformers.NewSharedInformerFactory(snapshotClient, resyncPeriod)
	retry := func() workqueue.TypedRateLimiter[string] {
		return workqueue.NewTypedItemExponentialFailureRateLimiter[string](retryStart, retryMax)
	}
	v1 := custom.Snapshot().V1()
	c := controller.NewCSISnapshotCommonController(
		snapshotClient, client, v1.VolumeSnapshots(), v1.VolumeSnapshotContents(), v1.VolumeSnapshotClasses(), nil, nil, nil,
		core.Core().V1().PersistentVolumeClaims(), core.Core().V1().PersistentVolumes(), nil, metrics.NewMetricsManager(),
		resyncPeriod, retry(), retry(), retry(), retry(), false, false, false,
	)
	custom.Start(ctx.Done())
	core.Start(ctx.Done())
	defer custom.Shutdown()
	defer core.Shutdown()
	var running sync.WaitGroup
	defer running.Wait()
	c.Run(workers, ctx.Done(), &running)
	return nil
}
