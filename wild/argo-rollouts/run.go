package argorollouts

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/argoproj/argo-rollouts/analysis"
	"github.com/argoproj/argo-rollouts/controller/metrics"
	"github.com/argoproj/argo-rollouts/experiments"
	jobprovider "github.com/argoproj/argo-rollouts/metricproviders/job"
	"github.com/argoproj/argo-rollouts/pkg/apis/rollouts/v1alpha1"
	clientset "github.com/argoproj/argo-rollouts/pkg/client/clientset/versioned"
	"github.com/argoproj/argo-rollouts/rollout"
	"github.com/argoproj/argo-rollouts/service"
	ingressutil "github.com/argoproj/argo-rollouts/utils/ingress"
	istioutil "github.com/argoproj/argo-rollouts/utils/istio"
	"github.com/argoproj/argo-rollouts/utils/queue"
	"github.com/argoproj/argo-rollouts/utils/record"
	timeutil "github.com/argoproj/argo-rollouts/utils/time"
	"github.com/argoproj/argo-rollouts/utils/tolerantinformer"
	smiclientset "github.com/servicemeshinterface/smi-sdk-go/pkg/gen/client/split/clientset/versioned"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// resync is the default of the program, in which timers longer than that are left to it.
const resync = 15 * time.Minute

// workers are those of each controller.
const workers = 3

// A pause that has lasted as long as it is to last is over a moment later. The controller sets a timer for that, and looks once: in a cluster some time
// has passed until it looks, and here none. So whoever asks for the time gets a later one each time.
func init() {
	var asked atomic.Int64
	timeutil.SetNowTimeFunc(func() time.Time { return time.Now().Add(time.Duration(asked.Add(1) % 1e6)) })
}

// Run runs the controllers of Rollouts, Experiments, AnalysisRuns and Services until ctx ends, as rollouts-controller does, with fewer workers and without
// servers, leader election and notifications.
func Run(ctx context.Context, cfg *rest.Config) error {
	kube, err1 := kubernetes.NewForConfig(cfg)
	argo, err2 := clientset.NewForConfig(cfg)
	dyn, err3 := dynamic.NewForConfig(cfg)
	smi, err4 := smiclientset.NewForConfig(cfg)
	discoverer, err5 := discovery.NewDiscoveryClientForConfig(cfg)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return err
	}
	labeled := func(label string) kubeinformers.SharedInformerFactory {
		return kubeinformers.NewSharedInformerFactoryWithOptions(kube, resync, kubeinformers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = label }))
	}
	own, istio := dynamicinformer.NewDynamicSharedInformerFactory(dyn, resync), dynamicinformer.NewDynamicSharedInformerFactory(dyn, resync)
	others, sets, jobs := kubeinformers.NewSharedInformerFactory(kube, resync), labeled(v1alpha1.DefaultRolloutUniqueLabelKey), labeled(jobprovider.AnalysisRunUIDLabelKey)
	ingresses, err := ingressutil.NewIngressWrapper(ingressutil.IngressModeNetworking, kube, others)
	if err != nil {
		return err
	}
	rollouts, runs, tries := tolerantinformer.NewTolerantRolloutInformer(own), tolerantinformer.NewTolerantAnalysisRunInformer(own), tolerantinformer.NewTolerantExperimentInformer(own)
	templates, clusterTemplates := tolerantinformer.NewTolerantAnalysisTemplateInformer(own), tolerantinformer.NewTolerantClusterAnalysisTemplateInformer(own)
	services := others.Core().V1().Services()
	var queues []workqueue.TypedRateLimitingInterface[any]
	newQueue := func(name string) workqueue.TypedRateLimitingInterface[any] {
		q := workqueue.NewNamedRateLimitingQueue(queue.DefaultArgoRolloutsRateLimiter(), name)
		queues = append(queues, q)
		return q
	}
	rolloutQueue, serviceQueue := newQueue("Rollouts"), newQueue("Services")
	server := metrics.NewMetricsServer(metrics.ServerConfig{
		RolloutLister: rollouts.Lister(), AnalysisRunLister: runs.Lister(), AnalysisTemplateLister: templates.Lister(), ClusterAnalysisTemplateLister: clusterTemplates.Lister(),
		ExperimentLister: tries.Lister(), K8SRequestProvider: &metrics.K8sRequestsCountProvider{},
	})
	recorder := record.NewEventRecorder(kube, metrics.MetricRolloutEventsTotal, metrics.MetricNotificationFailedTotal, metrics.MetricNotificationSuccessTotal, metrics.MetricNotificationSend, nil)
	controllers := []controller{
		rollout.NewController(rollout.ControllerConfig{
			KubeClientSet: kube, ArgoProjClientset: argo, DynamicClientSet: dyn, SmiClientSet: smi, IstioPrimaryDynamicClient: dyn,
			RefResolver:        rollout.NewInformerBasedWorkloadRefResolver("", dyn, discoverer, argo, rollouts.Informer()),
			ExperimentInformer: tries, AnalysisRunInformer: runs, AnalysisTemplateInformer: templates, ClusterAnalysisTemplateInformer: clusterTemplates,
			IstioVirtualServiceInformer:  istio.ForResource(istioutil.GetIstioVirtualServiceGVR()).Informer(),
			IstioDestinationRuleInformer: istio.ForResource(istioutil.GetIstioDestinationRuleGVR()).Informer(),
			ReplicaSetInformer:           sets.Apps().V1().ReplicaSets(), ServicesInformer: services, IngressWrapper: ingresses, RolloutsInformer: rollouts, ResyncPeriod: resync,
			RolloutWorkQueue: rolloutQueue, ServiceWorkQueue: serviceQueue, IngressWorkQueue: newQueue("Ingresses"), MetricsServer: server, Recorder: recorder,
			EphemeralMetadataThreads: rollout.DefaultEphemeralMetadataThreads, EphemeralMetadataPodRetries: rollout.DefaultEphemeralMetadataPodRetries,
		}),
		experiments.NewController(experiments.ControllerConfig{
			KubeClientSet: kube, ArgoProjClientset: argo, ReplicaSetInformer: sets.Apps().V1().ReplicaSets(), ExperimentsInformer: tries, AnalysisRunInformer: runs,
			AnalysisTemplateInformer: templates, ClusterAnalysisTemplateInformer: clusterTemplates, ServiceInformer: services, ResyncPeriod: resync,
			RolloutWorkQueue: rolloutQueue, ExperimentWorkQueue: newQueue("Experiments"), MetricsServer: server, Recorder: recorder,
		}),
		analysis.NewController(analysis.ControllerConfig{
			KubeClientSet: kube, ArgoProjClientset: argo, AnalysisRunInformer: runs, JobInformer: jobs.Batch().V1().Jobs(), JobPodsInformer: jobs.Core().V1().Pods(), ResyncPeriod: resync,
			AnalysisRunWorkQueue: newQueue("AnalysisRuns"), MetricsServer: server, Recorder: recorder,
		}),
		service.NewController(service.ControllerConfig{
			Kubeclientset: kube, Argoprojclientset: argo, RolloutsInformer: rollouts, ServicesInformer: services, RolloutWorkqueue: rolloutQueue, ServiceWorkqueue: serviceQueue,
			ResyncPeriod: resync, MetricsServer: server,
		}),
	}
	ingresses.Informer() // the controller of Rollouts reads it; that of Ingresses, which is not run, would ask for it
	own.Start(ctx.Done())
	for _, f := range []kubeinformers.SharedInformerFactory{others, sets, jobs} {
		f.Start(ctx.Done())
	}
	synced := []cache.InformerSynced{
		rollouts.Informer().HasSynced, runs.Informer().HasSynced, tries.Informer().HasSynced, templates.Informer().HasSynced, clusterTemplates.Informer().HasSynced, services.Informer().HasSynced,
		ingresses.HasSynced, sets.Apps().V1().ReplicaSets().Informer().HasSynced, jobs.Batch().V1().Jobs().Informer().HasSynced, jobs.Core().V1().Pods().Informer().HasSynced,
	}
	work(ctx, controllers, queues, synced)
	return nil
}

// controller is one of them.
type controller interface {
	Run(context.Context, int) error
}

// work runs controllers from when their caches are filled until ctx ends.
func work(ctx context.Context, controllers []controller, queues []workqueue.TypedRateLimitingInterface[any], synced []cache.InformerSynced) {
	var wg sync.WaitGroup
	if cache.WaitForCacheSync(ctx.Done(), synced...) {
		for _, c := range controllers {
			wg.Go(func() { _ = c.Run(ctx, workers) })
		}
	}
	<-ctx.Done()
	for _, q := range queues {
		q.ShutDown()
	}
	wg.Wait()
}
