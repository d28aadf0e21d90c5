package rabbitmq

import (
	"context"
	"errors"
	"time"

	rabbitmqv1beta1 "github.com/rabbitmq/cluster-operator/v2/api/v1beta1"
	"github.com/rabbitmq/cluster-operator/v2/controllers"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// NewScheme returns a scheme with the types that the manager uses.
func NewScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(s), rabbitmqv1beta1.AddToScheme(s)); err != nil {
		panic(err) // they are made to fit
	}
	return s
}

// Run runs the controller of RabbitmqClusters until ctx ends, with the defaults of main.go, but for leader election and metrics.
func Run(ctx context.Context, cfg *rest.Config) error {
	selector := labels.SelectorFromSet(labels.Set{"app.kubernetes.io/part-of": "rabbitmq"})
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: NewScheme(), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			&rabbitmqv1beta1.RabbitmqCluster{}: {},
			&appsv1.StatefulSet{}:              {Label: selector},
			&corev1.Service{}:                  {Label: selector},
			&corev1.ConfigMap{}:                {Label: selector},
			&corev1.Secret{}:                   {Label: selector},
			&corev1.ServiceAccount{}:           {Label: selector},
			&corev1.Endpoints{}:                {Label: selector},
			&rbacv1.Role{}:                     {Label: selector},
			&rbacv1.RoleBinding{}:              {Label: selector},
		}},
	})
	if err != nil {
		return err
	}
	err = (&controllers.RabbitmqClusterReconciler{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Scheme: mgr.GetScheme(), Recorder: mgr.GetEventRecorderFor("rabbitmqcluster-controller"),
		Namespace: "rabbitmq-system", ClusterConfig: cfg, Clientset: kubernetes.NewForConfigOrDie(cfg), PodExecutor: rabbit{},
		DefaultRabbitmqImage: "rabbitmq:4.1.1-management", DefaultUserUpdaterImage: "rabbitmqoperator/default-user-credential-updater:1.0.2",
	}).SetupWithManager(mgr)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// rabbit answers the commands that the controller has run in Pods. All succeed, and take a while; a label of a Pod is in its volume only after more than the three seconds for which the controller waits.
type rabbit struct{}

func (rabbit) Exec(*kubernetes.Clientset, *rest.Config, string, string, string, ...string) (stdout, stderr string, err error) {
	time.Sleep(100 * time.Millisecond)
	return "", "", nil
}
