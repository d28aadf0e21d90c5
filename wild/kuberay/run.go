package kuberay

import (
	"context"

	rayapi "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Scheme has the types that the controller uses.
var Scheme = runtime.NewScheme()

func init() {
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, rayapi.AddToScheme} {
		utilruntime.Must(add(Scheme))
	}
}

// Run runs the controller of RayClusters until ctx ends, with the defaults of ray-operator. It calls started when its caches are filled.
func Run(ctx context.Context, cfg *rest.Config, started func()) error {
	m, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: Scheme, Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0", Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return err
	}
	if err := ray.NewReconciler(ctx, m, ray.RayClusterReconcilerOptions{}).SetupWithManager(m, 1); err != nil {
		return err
	}
	err = m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		for _, kind := range []client.Object{&rayapi.RayCluster{}, &corev1.Pod{}, &corev1.Service{}, &corev1.Secret{}} {
			if _, err := m.GetCache().GetInformer(ctx, kind); err != nil { // the controller makes them when it starts
				return err
			}
		}
		started()
		return nil
	}))
	if err != nil {
		return err
	}
	return m.Start(ctx)
}
