package controllermanager

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	basecontroller "k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/endpointslicemirroring"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/replication"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"
	"k8s.io/kubernetes/pkg/controller/volume/pvprotection"
	quota "k8s.io/kubernetes/pkg/quota/v1/install"
)

// controller is one of Kubernetes' controllers.
type controller struct {
	name    string // as in --controllers
	client  string // its client's name
	prepare func(*environment, kubernetes.Interface) (run func(context.Context), err error)
}

// table has the controllers with kube-controller-manager's names, clients and defaults.
var table = []controller{
	{"deployment", "deployment-controller", func(e *environment, c kubernetes.Interface) (func(context.Context), error) {
		apps := e.shared.Apps().V1()
		d, err := deployment.NewDeploymentController(e.ctx, apps.Deployments(), apps.ReplicaSets(), e.shared.Core().V1().Pods(), c)
		return workers(d, 5), err
	}},
	{"replicaset", "replicaset-controller", func(e *environment, c kubernetes.Interface) (func(context.Context), error) {
		return workers(replicaset.NewReplicaSetController(e.ctx, e.shared.Apps().V1().ReplicaSets(), e.shared.Core().V1().Pods(), c, replicaset.BurstReplicas), 5), nil
	}},
	{"statefulset", "statefulset-controller", func(e *environment, c kubernetes.Interface) (func(context.Context), error) {
		core, apps := e.shared.Core().V1(), e.shared.Apps().V1()
		return workers(statefulset.NewStatefulSetController(e.ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(), apps.ControllerRevisions(), c), 5), nil
	}},
	{"daemonset", "daemon-set-controller", func(e *environment, c kubernetes.Interface) (func(context.Context), error) {
		core, apps := e.shared.Core().V1(), e.shared.Apps().V1()
		backoff := flowcontrol.NewBackOff(time.Second, 15*time.Minute)
		d, err := daemon.NewDaemonSetsController(e.ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(), c, backoff)
		return workers(d, 2), err
	}},
	{"job", "job-controller", func(e *environment, c kubernetes.Interface) (func(context.Context), error) {
		// The kinds of the feature WorkloadWithJob, which is off, are not served.
		j, err := job.NewController(e.ctx, c, e.shared.Core().V1().Pods(), e.shared.Batch().V1().Jobs(), nil, nil)
		return workers(j, 5), err
	}},
	{"cronjob", "cronjob-controller", func(e *environment, c kubernetes.Interface) (func(context.Context), error) {
		j, err := cronjob.NewControllerV2(e.ctx, e.shared.Batch().V1().Jobs(), e.shared.Batch().V1().CronJobs(), c)
		return workers(j, 5), err
	}},
	{"replicationcontroller", "replication-controller", func(e *environment, c kubernetes.Interface) (func(context.Context), error) {
		core := e.shared.Core().V1()
		return workers(replication.NewReplicationManager(e.ctx, core.Pods(), core.ReplicationControllers(), c, replication.BurstReplicas), 5), nil
	}},
	{"disruption", "disruption-controller", prepareDisruption},
	{"ttl-after-finished", "ttl-after-finished-controller", func(e *environment, c kubernetes.Interface) (func(context.Context), error) {
		return workers(ttlafterfinished.New(e.ctx, e.shared.Batch().V1().Jobs(), c), 5), nil
	}},
	{"resourcequota", "resourcequota-controller", prepareResourceQuota},
	{"endpointslice", "endpointslice-controller", func(e *environment, c kubernetes.Interface) (func(context.Context), error) {
		core := e.shared.Core().V1()
		return workers(endpointslice.NewController(e.ctx, core.Pods(), core.Services(), core.Nodes(), e.shared.Discovery().V1().EndpointSlices(), 100, c, 0), 5), nil
	}},
	{"endpoint", "endpoint-controller", func(e *environment, c kubernetes.Interface) (func(context.Context), error) {
		core := e.shared.Core().V1()
		return workers(endpoint.NewEndpointController(e.ctx, core.Pods(), core.Services(), core.Endpoints(), c, 0), 5), nil
	}},
	{"endpointslicemirroring", "endpointslicemirroring-controller", func(e *environment, c kubernetes.Interface) (func(context.Context), error) {
		core := e.shared.Core().V1()
		return workers(endpointslicemirroring.NewController(e.ctx, core.Endpoints(), e.shared.Discovery().V1().EndpointSlices(), core.Services(), 1000, c, 0), 5), nil
	}},
	{"pvc-protection", "pvc-protection-controller", func(e *environment, c kubernetes.Interface) (func(context.Context), error) {
		core := e.shared.Core().V1()
		p, err := pvcprotection.NewPVCProtectionController(klog.FromContext(e.ctx), core.PersistentVolumeClaims(), core.Pods(), c)
		return workers(p, 1), err
	}},
	{"pv-protection", "pv-protection-controller", func(e *environment, c kubernetes.Interface) (func(context.Context), error) {
		p, err := pvprotection.NewPVProtectionController(klog.FromContext(e.ctx), e.shared.Core().V1().PersistentVolumes(), c)
		return workers(p, 1), err
	}},
	{"clusterrole-aggregation", "clusterrole-aggregation-controller", func(e *environment, c kubernetes.Interface) (func(context.Context), error) {
		return workers(clusterroleaggregation.NewClusterRoleAggregation(e.shared.Rbac().V1().ClusterRoles(), c.RbacV1()), 5), nil
	}},
}

// workers runs a controller with that many workers.
func workers(c interface{ Run(context.Context, int) }, n int) func(context.Context) {
	return func(ctx context.Context) { c.Run(ctx, n) }
}

// Names returns the names of all controllers.
func Names() []string {
	names := make([]string, 0, len(table))
	for _, c := range table {
		names = append(names, c.name)
	}
	return names
}

// prepareDisruption makes the controller that counts how many Pods a PodDisruptionBudget may lose.
func prepareDisruption(e *environment, c kubernetes.Interface) (func(context.Context), error) {
	mapper, err := e.mapper()
	if err != nil {
		return nil, err
	}
	scales, err := scale.NewForConfig(e.config("disruption-controller"), mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(c.Discovery()))
	if err != nil {
		return nil, err
	}
	core, apps := e.shared.Core().V1(), e.shared.Apps().V1()
	d := disruption.NewDisruptionController(e.ctx, core.Pods(), e.shared.Policy().V1().PodDisruptionBudgets(), core.ReplicationControllers(), apps.ReplicaSets(),
		apps.Deployments(), apps.StatefulSets(), c, mapper, scales, c.Discovery())
	return workers(d, 5), nil
}

// prepareResourceQuota makes the controller that counts what a ResourceQuota limits. It looks at every kind that can be counted.
func prepareResourceQuota(e *environment, c kubernetes.Interface) (func(context.Context), error) {
	configuration, err := quota.NewQuotaConfigurationForControllers(generic.ListerFuncForResourceFunc(e.shared.ForResource), e.shared)
	if err != nil {
		return nil, err
	}
	discover := c.Discovery().ServerPreferredNamespacedResources
	later := func() ([]*metav1.APIResourceList, error) { return nil, nil } // the constructor would wait for the server; Sync begins with the same
	resync := func() time.Duration { return resyncPeriod }
	q, err := resourcequota.NewController(e.ctx, &resourcequota.ControllerOptions{
		QuotaClient: c.CoreV1(), ResourceQuotaInformer: e.shared.Core().V1().ResourceQuotas(),
		ResyncPeriod:    basecontroller.StaticResyncPeriodFunc(5 * time.Minute),
		InformerFactory: informerfactory.NewInformerFactory(e.shared, e.metadata), ReplenishmentResyncPeriod: resync,
		DiscoveryFunc: later, IgnoredResourcesFunc: configuration.IgnoredResources, InformersStarted: e.started,
		Registry: generic.NewRegistry(configuration.Evaluators()), UpdateFilter: quota.DefaultUpdateFilter(),
	})
	if err != nil {
		return nil, err
	}
	e.beside = append(e.beside, func(ctx context.Context) { q.Sync(ctx, discover, mapperPeriod) })
	return workers(q, 5), nil
}
