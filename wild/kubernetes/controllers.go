package kubernetes

import (
	"context"
	"net"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/nodeipam"
	"k8s.io/kubernetes/pkg/controller/nodeipam/ipam"
	"k8s.io/kubernetes/pkg/controller/podgc"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
	"k8s.io/kubernetes/pkg/controller/volume/ephemeral"
	"k8s.io/kubernetes/pkg/controller/volume/persistentvolume"
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"
)

// kube-controller-manager's default of --min-resync-period.
const resyncPeriod = 12 * time.Hour

// The controllers, with kube-controller-manager's constructors and defaults (cmd/kube-controller-manager/app).
var (
	Deployments Setup = func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		apps := s.Apps().V1()
		d, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), s.Core().V1().Pods(), c)
		return workers(d, 5), err
	}
	ReplicaSets Setup = func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		return workers(replicaset.NewReplicaSetController(ctx, s.Apps().V1().ReplicaSets(), s.Core().V1().Pods(), c, replicaset.BurstReplicas), 5), nil
	}
	StatefulSets Setup = func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		core, apps := s.Core().V1(), s.Apps().V1()
		return workers(statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(), apps.ControllerRevisions(), c), 5), nil
	}
	DaemonSets Setup = func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		core, apps := s.Core().V1(), s.Apps().V1()
		backoff := flowcontrol.NewBackOff(time.Second, 15*time.Minute)
		d, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(), c, backoff)
		return workers(d, 2), err
	}
	Jobs Setup = func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		// The informers are those of the feature WorkloadWithJob, which is off.
		j, err := job.NewController(ctx, c, s.Core().V1().Pods(), s.Batch().V1().Jobs(), nil, nil)
		return workers(j, 5), err
	}
	CronJobs Setup = func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		j, err := cronjob.NewControllerV2(ctx, s.Batch().V1().Jobs(), s.Batch().V1().CronJobs(), c)
		return workers(j, 5), err
	}
	// Disruptions takes no percentages of scales, for which it would need their client.
	Disruptions Setup = func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		core, apps := s.Core().V1(), s.Apps().V1()
		d := disruption.NewDisruptionController(ctx, core.Pods(), s.Policy().V1().PodDisruptionBudgets(), core.ReplicationControllers(), apps.ReplicaSets(),
			apps.Deployments(), apps.StatefulSets(), c, nil, nil, c.Discovery())
		return workers(d, 1), nil
	}
	// PersistentVolumes binds claims to volumes that are there: it has no plugins, with which it would provision some and wipe others.
	PersistentVolumes Setup = func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		core := s.Core().V1()
		p, err := persistentvolume.NewController(ctx, persistentvolume.ControllerParameters{
			KubeClient: c, SyncPeriod: 15 * time.Second, VolumeInformer: core.PersistentVolumes(), ClaimInformer: core.PersistentVolumeClaims(),
			ClassInformer: s.Storage().V1().StorageClasses(), PodInformer: core.Pods(), NodeInformer: core.Nodes(), EnableDynamicProvisioning: true,
		})
		if err != nil {
			return nil, err
		}
		return p.Run, nil
	}
	ClaimProtection Setup = func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		core := s.Core().V1()
		p, err := pvcprotection.NewPVCProtectionController(klog.FromContext(ctx), core.PersistentVolumeClaims(), core.Pods(), c)
		return workers(p, 1), err
	}
	EndpointSlices Setup = func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		core := s.Core().V1()
		return workers(endpointslice.NewController(ctx, core.Pods(), core.Services(), core.Nodes(), s.Discovery().V1().EndpointSlices(), 100, c, 0), 5), nil
	}
)

// What looks after Pods and Nodes, and what each namespace has.
var (
	Endpoints Setup = func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		core := s.Core().V1()
		return workers(endpoint.NewEndpointController(ctx, core.Pods(), core.Services(), core.Endpoints(), c, 0), 5), nil
	}
	TaintEvictions Setup = func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		pods := s.Core().V1().Pods()
		// In kube-controller-manager another controller of Pods adds the index.
		if err := controller.AddPodNodeNameIndexer(pods.Informer()); err != nil {
			return nil, err
		}
		e, err := tainteviction.New(ctx, c, pods, s.Core().V1().Nodes(), "taint-eviction-controller")
		if err != nil {
			return nil, err
		}
		return e.Run, nil
	}
	EphemeralVolumes Setup = func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		e, err := ephemeral.NewController(ctx, c, s.Core().V1().Pods(), s.Core().V1().PersistentVolumeClaims())
		return workers(e, 5), err
	}
	FinishedJobs Setup = func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		return workers(ttlafterfinished.New(ctx, s.Batch().V1().Jobs(), c), 5), nil
	}
	ServiceAccounts Setup = func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		core := s.Core().V1()
		a, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), core.ServiceAccounts(), core.Namespaces(), c,
			serviceaccount.DefaultServiceAccountsControllerOptions())
		return workers(a, 1), err
	}
	ClusterRoles Setup = func(_ context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		return workers(clusterroleaggregation.NewClusterRoleAggregation(s.Rbac().V1().ClusterRoles(), c.RbacV1()), 5), nil
	}
)

// PodGC deletes Pods whose Nodes have gone, and the oldest of those that have ended and are more than that; by default, 12,500.
func PodGC(ended int) Setup {
	return func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		return podgc.NewPodGC(ctx, c, s.Core().V1().Pods(), s.Core().V1().Nodes(), ended).Run, nil
	}
}

// NodeNetworks gives each Node a network for its Pods, of that many bits, from a range.
func NodeNetworks(from string, bits int) Setup {
	return func(ctx context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		_, all, err := net.ParseCIDR(from)
		if err != nil {
			return nil, err
		}
		n, err := nodeipam.NewNodeIpamController(ctx, s.Core().V1().Nodes(), nil, c, []*net.IPNet{all}, nil, nil, []int{bits}, ipam.RangeAllocatorType)
		if err != nil {
			return nil, err
		}
		return n.Run, nil
	}
}

// RootCertificates keeps a ConfigMap with the cluster's root certificates in each namespace.
func RootCertificates(root []byte) Setup {
	return func(_ context.Context, s informers.SharedInformerFactory, c kubernetes.Interface) (func(context.Context), error) {
		p, err := rootcacertpublisher.NewPublisher(s.Core().V1().ConfigMaps(), s.Core().V1().Namespaces(), c, root)
		return workers(p, 1), err
	}
}

// workers runs a controller with that many workers.
func workers(c interface{ Run(context.Context, int) }, n int) func(context.Context) {
	return func(ctx context.Context) { c.Run(ctx, n) }
}
