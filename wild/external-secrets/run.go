package externalsecrets

import (
	"context"
	"time"

	esv1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	"github.com/external-secrets/external-secrets/pkg/controllers/clusterexternalsecret"
	"github.com/external-secrets/external-secrets/pkg/controllers/clusterexternalsecret/cesmetrics"
	ctrlcommon "github.com/external-secrets/external-secrets/pkg/controllers/common"
	ctrlmetrics "github.com/external-secrets/external-secrets/pkg/controllers/metrics"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Scheme has the types that the controller uses.
var Scheme = runtime.NewScheme()

func init() {
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, esv1.AddToScheme} {
		utilruntime.Must(add(Scheme))
	}
	ctrlmetrics.SetUpLabelNames(false)
	cesmetrics.SetUpMetrics()
}

// Run runs a manager with the controller of ClusterExternalSecrets until ctx ends, with the defaults of cmd/controller.
func Run(ctx context.Context, cfg *rest.Config) error {
	m, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: Scheme, Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		Client:     client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}}},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return err
	}
	r := &clusterexternalsecret.Reconciler{
		Client: m.GetClient(), Log: ctrl.Log.WithName("controllers").WithName("ClusterExternalSecret"), Scheme: m.GetScheme(), RequeueInterval: time.Hour,
	}
	if err := r.SetupWithManager(m, controller.Options{MaxConcurrentReconciles: 1, RateLimiter: ctrlcommon.BuildRateLimiter()}); err != nil {
		return err
	}
	return m.Start(ctx)
}
