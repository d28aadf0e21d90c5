package tekton

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/tektoncd/pipeline/pkg/apis/pipeline"
	v1 "github.com/tektoncd/pipeline/pkg/apis/pipeline/v1"
	"github.com/tektoncd/pipeline/pkg/reconciler/pipelinerun"
	"github.com/tektoncd/pipeline/pkg/reconciler/taskrun"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	filteredfactory "knative.dev/pkg/client/injection/kube/informers/factory/filtered"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/system"
)

// The program is told its namespace so. With KUBERNETES_MIN_VERSION it would ask for the server's version.
func init() {
	if err := os.Setenv(system.NamespaceEnvKey, "tekton-pipelines"); err != nil {
		panic(err) // no name of a variable is that wrong
	}
}

// laterClock tells a later time whenever it is asked. A run has timed out a moment after its timeout, at which the timer for it fires: in a cluster some time has passed until
// the controller looks, and here none, and it puts the key back at once.
type laterClock struct{ clock.RealClock }

var asked atomic.Int64

func (laterClock) Now() time.Time { return time.Now().Add(time.Duration(asked.Add(1) % 1e6)) }

func (c laterClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Run runs the controllers of TaskRuns and PipelineRuns until ctx ends, as the program controller does, without servers, leader election and tracing, and with its default
// configuration. What it does every ten hours it does never.
//
// The recorder of events is one that ends: Knative's stops what it has its broadcaster watch, whose goroutine spins then, up to client-go v0.35.
func Run(ctx context.Context, cfg *rest.Config) error {
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	broadcaster := record.NewBroadcaster()
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: kube.CoreV1().Events("")})
	ctx = controller.WithEventRecorder(ctx, broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "tekton"}))
	ctx = logging.WithLogger(ctx, zap.NewNop().Sugar())
	ctx = filteredfactory.WithSelectors(ctx, v1.ManagedByLabelKey)
	ctx = controller.WithResyncPeriod(ctx, 0)
	ctx, informers := injection.Default.SetupInformers(ctx, cfg)
	settings := configmap.NewStaticWatcher(configMaps()...)
	o := &pipeline.Options{Images: pipeline.Images{
		EntrypointImage: "entrypoint", SidecarLogResultsImage: "sidecarlogresults", NopImage: "nop", ShellImage: "shell", ShellImageWin: "shell-win", WorkingDirInitImage: "workingdirinit",
	}}
	controllers := []*controller.Impl{taskrun.NewController(o, laterClock{})(ctx, settings), pipelinerun.NewController(o, laterClock{})(ctx, settings)}
	defer func() {
		for _, c := range controllers {
			c.WorkQueue().ShutDown()
		}
	}()
	if err := controller.StartInformers(ctx.Done(), informers...); err != nil {
		return err
	}
	return controller.StartAll(ctx, controllers...)
}

// configMaps are those that the controllers read, with nothing in them: each setting has its default.
func configMaps() (all []*corev1.ConfigMap) {
	for _, name := range []string{
		"config-defaults", "config-events", "config-observability", "config-spire", "config-tracing", "config-wait-exponential-backoff", "feature-flags",
	} {
		all = append(all, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace(), Name: name}})
	}
	return all
}

// CRDs returns the files of the CustomResourceDefinitions in a copy of the module.
func CRDs(dir string) ([]string, error) {
	return filepath.Glob(filepath.Join(dir, "config", "300-crds", "*.yaml"))
}
