package basic

import (
	"context"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/flowcontrol"
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
	"k8s.io/kubernetes/pkg/controller/statefulset"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
)

// Table has controllers with kube-controller-manager's names, clients and defaults.
var Table = []Controller{
	{"deployment", "deployment-controller", func(e *Environment, c kubernetes.Interface) (func(context.Context), error) {
		apps := e.Shared.Apps().V1()
		d, err := deployment.NewDeploymentController(e.Context, apps.Deployments(), apps.ReplicaSets(), e.Shared.Core().V1().Pods(), c)
		return Workers(d, 5), err
	}},
	{"replicaset", "replicaset-controller", func(e *Environment, c kubernetes.Interface) (func(context.Context), error) {
		return Workers(replicaset.NewReplicaSetController(e.Context, e.Shared.Apps().V1().ReplicaSets(), e.Shared.Core().V1().Pods(), c, replicaset.BurstReplicas), 5), nil
	}},
	{"statefulset", "statefulset-controller", func(e *Environment, c kubernetes.Interface) (func(context.Context), error) {
		core, apps := e.Shared.Core().V1(), e.Shared.Apps().V1()
		return Workers(statefulset.NewStatefulSetController(e.Context, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(), apps.ControllerRevisions(), c), 5), nil
	}},
	{"daemonset", "daemon-set-controller", func(e *Environment, c kubernetes.Interface) (func(context.Context), error) {
		core, apps := e.Shared.Core().V1(), e.Shared.Apps().V1()
		backoff := flowcontrol.NewBackOff(time.Second, 15*time.Minute)
		d, err := daemon.NewDaemonSetsController(e.Context, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(), c, backoff)
		return Workers(d, 2), err
	}},
	{"job", "job-controller", func(e *Environment, c kubernetes.Interface) (func(context.Context), error) {
		// The kinds of the feature WorkloadWithJob, which is off, are not served.
		j, err := job.NewController(e.Context, c, e.Shared.Core().V1().Pods(), e.Shared.Batch().V1().Jobs(), nil, nil)
		return Workers(j, 5), err
	}},
	{"cronjob", "cronjob-controller", func(e *Environment, c kubernetes.Interface) (func(context.Context), error) {
		j, err := cronjob.NewControllerV2(e.Context, e.Shared.Batch().V1().Jobs(), e.Shared.Batch().V1().CronJobs(), c)
		return Workers(j, 5), err
	}},
	{"replicationcontroller", "replication-controller", func(e *Environment, c kubernetes.Interface) (func(context.Context), error) {
		core := e.Shared.Core().V1()
		return Workers(replication.NewReplicationManager(e.Context, core.Pods(), core.ReplicationControllers(), c, replication.BurstReplicas), 5), nil
	}},
	{"disruption", "disruption-controller", prepareDisruption},
	{"ttl-after-finished", "ttl-after-finished-controller", func(e *Environment, c kubernetes.Interface) (func(context.Context), error) {
		return Workers(ttlafterfinished.New(e.Context, e.Shared.Batch().V1().Jobs(), c), 5), nil
	}},
	{"endpointslice", "endpointslice-controller", func(e *Environment, c kubernetes.Interface) (func(context.Context), error) {
		core := e.Shared.Core().V1()
		return Workers(endpointslice.NewController(e.Context, core.Pods(), core.Services(), core.Nodes(), e.Shared.Discovery().V1().EndpointSlices(), 100, c, 0), 5), nil
	}},
	{"endpoint", "endpoint-controller", func(e *Environment, c kubernetes.Interface) (func(context.Context), error) {
		core := e.Shared.Core().V1()
		return Workers(endpoint.NewEndpointController(e.Context, core.Pods(), core.Services(), core.Endpoints(), c, 0), 5), nil
	}},
	{"endpointslicemirroring", "endpointslicemirroring-controller", func(e *Environment, c kubernetes.Interface) (func(context.Context), error) {
		core := e.Shared.Core().V1()
		return Workers(endpointslicemirroring.NewController(e.Context, core.Endpoints(), e.Shared.Discovery().V1().EndpointSlices(), core.Services(), 1000, c, 0), 5), nil
	}},
	{"clusterrole-aggregation", "clusterrole-aggregation-controller", func(e *Environment, c kubernetes.Interface) (func(context.Context), error) {
		return Workers(clusterroleaggregation.NewClusterRoleAggregation(e.Shared.Rbac().V1().ClusterRoles(), c.RbacV1()), 5), nil
	}},
}

// Workers runs a controller with that many workers.
func Workers(c interface{ Run(context.Context, int) }, n int) func(context.Context) {
	return func(ctx context.Context) { c.Run(ctx, n) }
}

// prepareDisruption makes the controller that counts how many Pods a PodDisruptionBudget may lose.
func prepareDisruption(e *Environment, c kubernetes.Interface) (func(context.Context), error) {
	mapper, err := e.mapper()
	if err != nil {
		return nil, err
	}
	scales, err := scale.NewForConfig(e.Config("disruption-controller"), mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(c.Discovery()))
	if err != nil {
		return nil, err
	}
	core, apps := e.Shared.Core().V1(), e.Shared.Apps().V1()
	d := disruption.NewDisruptionController(e.Context, core.Pods(), e.Shared.Policy().V1().PodDisruptionBudgets(), core.ReplicationControllers(), apps.ReplicaSets(),
		apps.Deployments(), apps.StatefulSets(), c, mapper, scales, c.Discovery())
	return Workers(d, 5), nil
}
