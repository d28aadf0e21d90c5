package prometheusoperator

import (
	"context"
	"io"
	"log/slog"

	"github.com/blang/semver/v4"
	"github.com/prometheus-operator/prometheus-operator/pkg/operator"
	"github.com/prometheus-operator/prometheus-operator/pkg/thanos"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
)

// Run runs the controller of ThanosRulers until ctx ends, in all namespaces, with the defaults of the operator's flags.
func Run(ctx context.Context, cfg *rest.Config) error {
	c := operator.DefaultConfig("10m", "50Mi")
	c.Namespaces.AllowList = operator.StringSet{corev1.NamespaceAll: {}}
	c.Namespaces.ThanosRulerAllowList = c.Namespaces.AllowList
	c.ThanosDefaultBaseImage, c.LocalHost = operator.DefaultThanosBaseImage, "localhost"
	c.ReloaderConfig.Image, c.KubernetesVersion = operator.DefaultPrometheusConfigReloaderImage, semver.MustParse("1.33.0")
	c.EventRecorderFactory = operator.NewEventRecorderFactory(false)
	o, err := thanos.New(ctx, cfg, c, slog.New(slog.NewTextHandler(io.Discard, nil)), prometheus.NewRegistry())
	if err != nil {
		return err
	}
	return o.Run(ctx)
}
