package certmanager

import (
	"context"

	cmapi "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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

// Scheme has the types that the injector uses.
var Scheme = runtime.NewScheme()

func init() {
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, apiextensionsv1.AddToScheme, cmapi.AddToScheme} {
		utilruntime.Must(add(Scheme))
	}
}

// Run runs the CA injector until ctx ends, for webhooks, as cmd/cainjector does: it reads Secrets from the apiserver, and caches all else. It calls
// started when its caches are filled.
func Run(ctx context.Context, cfg *rest.Config, started func()) error {
	cfg.UserAgent = "cainjector/v1.21.2" // it names the field manager after it
	m, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: Scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
	})
	if err != nil {
		return err
	}
	err = cainjector.RegisterAllInjectors(ctx, m, cainjector.SetupOptions{EnableCertificatesDataSource: true, EnabledReconcilersFor: map[string]bool{
		cainjector.MutatingWebhookConfigurationName: true, cainjector.ValidatingWebhookConfigurationName: true,
	}})
	if err != nil {
		return err
	}
	err = m.Add(manager.RunnableFunc(func(context.Context) error {
		started()
		return nil
	}))
	if err != nil {
		return err
	}
	return m.Start(ctx)
}
