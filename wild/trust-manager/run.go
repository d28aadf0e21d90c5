package trustmanager

import (
	"context"
	"fmt"
	"sync/atomic"

	trustapi "github.com/cert-manager/trust-manager/pkg/apis/trust/v1alpha1"
	"github.com/cert-manager/trust-manager/pkg/bundle"
	"github.com/cert-manager/trust-manager/pkg/bundle/controller"
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
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, trustapi.AddToScheme} {
		utilruntime.Must(add(Scheme))
	}
}

// Run runs the controller until ctx ends or one of its goroutines panics, with the defaults of cmd/trust-manager: it reads what it trusts from the given namespace,
// and writes ConfigMaps to all others that a Bundle selects. It calls started when its caches are filled, and returns what has panicked.
func Run(ctx context.Context, cfg *rest.Config, namespace string, started func()) error {
	ctx, exit := context.WithCancel(ctx)
	defer exit()
	var panicked atomic.Pointer[error]
	utilruntime.ReallyCrash = false // a panic ends this process, and not that of the test
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, v any) {
		err := fmt.Errorf("panic: %v", v)
		panicked.CompareAndSwap(nil, &err)
		exit()
	}}
	err := run(ctx, cfg, namespace, started)
	if p := panicked.Load(); p != nil {
		return *p
	}
	return err
}

func run(ctx context.Context, cfg *rest.Config, namespace string, started func()) error {
	o := controller.Options{Namespace: namespace}
	m, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: Scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Cache: bundle.CacheOpts(o), Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return err
	}
	if err := bundle.SetupWithManager(ctx, m, o); err != nil {
		return err
	}
	err = m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		for _, kind := range []client.Object{&trustapi.Bundle{}, &corev1.Namespace{}, &corev1.ConfigMap{}, &corev1.Secret{}} {
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
