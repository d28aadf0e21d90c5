package karpenter

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/garbagecollection"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/lifecycle"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/state/nodepoolhealth"
)

// kept holds what has a cache whose goroutine Go's garbage collector would end: in a process of its own it lives as long as that.
var kept []any

// Run runs a manager with the controllers that launch and end the instances of NodeClaims until ctx ends, as Karpenter's operator does.
func Run(ctx context.Context, cfg *rest.Config, provider cloudprovider.CloudProvider) error {
	defaults := &options.Options{CPURequests: 1000, IgnoreDRARequests: true}
	ctx = options.ToContext(ctx, defaults)
	m, err := ctrl.NewManager(cfg, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		BaseContext: func() context.Context { return options.ToContext(context.Background(), defaults) },
	})
	if err != nil {
		return err
	}
	index := m.GetFieldIndexer()
	err = errors.Join(
		index.IndexField(ctx, &corev1.Node{}, "spec.providerID", func(o client.Object) []string { return []string{o.(*corev1.Node).Spec.ProviderID} }),
		index.IndexField(ctx, &v1.NodeClaim{}, "status.providerID", func(o client.Object) []string { return []string{o.(*v1.NodeClaim).Status.ProviderID} }),
	)
	if err != nil {
		return err
	}
	recorder := events.NewRecorder(m.GetEventRecorderFor("karpenter")) //nolint:staticcheck // it is the one that Karpenter uses
	claims := lifecycle.NewController(clock.RealClock{}, m.GetClient(), provider, recorder, nodepoolhealth.NewState(), nil)
	kept = append(kept, recorder, claims)
	err = errors.Join(
		claims.Register(ctx, m),
		garbagecollection.NewController(clock.RealClock{}, m.GetClient(), provider).Register(ctx, m),
	)
	if err != nil {
		return err
	}
	return m.Start(ctx)
}
