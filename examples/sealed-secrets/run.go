package sealedsecrets

import (
	"context"
	"fmt"

	ssclient "github.com/bitnami-labs/sealed-secrets/pkg/client/clientset/versioned"
	ssinformers "github.com/bitnami-labs/sealed-secrets/pkg/client/informers/externalversions"
	"github.com/bitnami-labs/sealed-secrets/pkg/controller"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Run runs the controller until ctx ends or one of its goroutines panics, as its Main does with the default flags.
func Run(ctx context.Context, cfg *rest.Config) error {
	ctx, exit := context.WithCancelCause(ctx)
	defer exit(nil)
	utilruntime.ReallyCrash = false // a panic ends this process, and not that of the test
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, v any) { exit(fmt.Errorf("panic: %v", v)) }}

	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	sealed, err := ssclient.NewForConfig(cfg)
	if err != nil {
		return err
	}
	keys := controller.NewKeyRegistry(client, "default", "key", controller.SealedSecretsKeyLabel, 2048)
	c, err := controller.NewController(client, sealed, ssinformers.NewSharedInformerFactory(sealed, 0), informers.NewSharedInformerFactory(client, 0), keys)
	if err != nil {
		return err
	}
	go c.Run(ctx.Done()) // it does not return: its worker waits for a queue that is shut down when it has returned
	<-ctx.Done()
	return context.Cause(ctx)
}
