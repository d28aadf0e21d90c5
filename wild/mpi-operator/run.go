package mpioperator

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"time"

	"github.com/kubeflow/mpi-operator/cmd/mpi-operator/app/options"
	clientset "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned"
	"github.com/kubeflow/mpi-operator/pkg/client/informers/externalversions"
	"github.com/kubeflow/mpi-operator/pkg/controller"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Elect runs the controller while its replica leads, as the program mpi-operator does.
func Elect(ctx context.Context, cfg *rest.Config, replica string) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: "mpi-operator", Name: "mpi-operator"}, Client: client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: replica},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 5 * time.Second, RetryPeriod: 3 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { stop(Run(ctx, cfg)) },
			OnStoppedLeading: func() {},
		},
	})
	return cmp.Or(context.Cause(ctx), errors.New("it leads no more"))
}

// Run runs the controller of MPIJobs until ctx ends, as the program does, with the defaults of its flags and without servers, leader election and gang scheduling.
func Run(ctx context.Context, cfg *rest.Config) error {
	o := options.NewServerOption()
	flags := flag.NewFlagSet("mpi-operator", flag.ContinueOnError)
	o.AddFlags(flags)
	if err := flags.Parse(nil); err != nil {
		return err
	}
	cfg = rest.CopyConfig(cfg)
	cfg.QPS, cfg.Burst = float32(o.QPS), o.Burst
	kube, err1 := kubernetes.NewForConfig(cfg)
	own, err2 := clientset.NewForConfig(cfg)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	all, jobs := informers.NewSharedInformerFactory(kube, 0), externalversions.NewSharedInformerFactory(own, 0)
	core := all.Core().V1()
	c, err := controller.NewMPIJobController(ctx, kube, own, nil, nil, core.ConfigMaps(), core.Secrets(), core.Services(), all.Batch().V1().Jobs(), core.Pods(),
		all.Scheduling().V1().PriorityClasses(), jobs.Kubeflow().V2beta1().MPIJobs(), o)
	if err != nil {
		return err
	}
	all.Start(ctx.Done())
	jobs.Start(ctx.Done())
	return c.Run(o.Threadiness, ctx.Done())
}
