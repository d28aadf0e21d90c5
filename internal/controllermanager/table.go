package controllermanager

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	basecontroller "k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"
	"k8s.io/kubernetes/pkg/controller/volume/pvprotection"
	quota "k8s.io/kubernetes/pkg/quota/v1/install"

	"github.com/informersim/informersim/internal/controllermanager/basic"
)

// table has the basic controllers, and those that link an apiserver's libraries.
var table = slices.Concat(basic.Table, []basic.Controller{
	{Name: "resourcequota", Client: "resourcequota-controller", Prepare: prepareResourceQuota},
	{Name: "pvc-protection", Client: "pvc-protection-controller", Prepare: func(e *basic.Environment, c kubernetes.Interface) (func(context.Context), error) {
		core := e.Shared.Core().V1()
		p, err := pvcprotection.NewPVCProtectionController(klog.FromContext(e.Context), core.PersistentVolumeClaims(), core.Pods(), c)
		return basic.Workers(p, 1), err
	}},
	{Name: "pv-protection", Client: "pv-protection-controller", Prepare: func(e *basic.Environment, c kubernetes.Interface) (func(context.Context), error) {
		p, err := pvprotection.NewPVProtectionController(klog.FromContext(e.Context), e.Shared.Core().V1().PersistentVolumes(), c)
		return basic.Workers(p, 1), err
	}},
})

// Start starts controllers: some of Names().
func Start(o basic.Options) (*basic.Manager, error) {
	o.Table = table
	return basic.Start(o)
}

// Names returns the names of all controllers.
func Names() []string {
	names := make([]string, 0, len(table))
	for _, c := range table {
		names = append(names, c.Name)
	}
	return names
}

// prepareResourceQuota makes the controller that counts what a ResourceQuota limits. It looks at every kind that can be counted.
func prepareResourceQuota(e *basic.Environment, c kubernetes.Interface) (func(context.Context), error) {
	configuration, err := quota.NewQuotaConfigurationForControllers(generic.ListerFuncForResourceFunc(e.Shared.ForResource), e.Shared)
	if err != nil {
		return nil, err
	}
	discover := c.Discovery().ServerPreferredNamespacedResources
	later := func() ([]*metav1.APIResourceList, error) { return nil, nil } // the constructor would wait for the server; Sync begins with the same
	resync := func() time.Duration { return basic.ResyncPeriod }
	q, err := resourcequota.NewController(e.Context, &resourcequota.ControllerOptions{
		QuotaClient: c.CoreV1(), ResourceQuotaInformer: e.Shared.Core().V1().ResourceQuotas(),
		ResyncPeriod:    basecontroller.StaticResyncPeriodFunc(5 * time.Minute),
		InformerFactory: informerfactory.NewInformerFactory(e.Shared, e.Metadata), ReplenishmentResyncPeriod: resync,
		DiscoveryFunc: later, IgnoredResourcesFunc: configuration.IgnoredResources, InformersStarted: e.Started,
		Registry: generic.NewRegistry(configuration.Evaluators()), UpdateFilter: quota.DefaultUpdateFilter(),
	})
	if err != nil {
		return nil, err
	}
	e.Beside(func(ctx context.Context) { q.Sync(ctx, discover, basic.MapperPeriod) })
	return basic.Workers(q, 5), nil
}
