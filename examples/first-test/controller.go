package copies

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Run runs the controller until ctx ends.
func Run(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	factory := informers.NewSharedInformerFactory(client, 0)
	defer factory.Shutdown()
	defer cancel()
	maps := factory.Core().V1().ConfigMaps()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]())
	defer queue.ShutDown()
	enqueue := func(obj any) {
		if missed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = missed.Obj // a deletion that no watch has delivered
		}
		if m, ok := obj.(*corev1.ConfigMap); ok {
			queue.Add(cache.MetaObjectToName(m))
		}
	}
	maps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) }, DeleteFunc: enqueue,
	})
	factory.Start(ctx.Done())
	cache.WaitForCacheSync(ctx.Done(), maps.Informer().HasSynced)
	old, err := client.CoreV1().Secrets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range old.Items {
		queue.Add(cache.MetaObjectToName(&old.Items[i])) // its ConfigMap may have been deleted while no controller was there
	}
	stop := context.AfterFunc(ctx, queue.ShutDown)
	defer stop()
	for {
		name, shutdown := queue.Get()
		if shutdown {
			return nil
		}
		m, err := maps.Lister().ConfigMaps(name.Namespace).Get(name.Name)
		if err == nil || apierrors.IsNotFound(err) {
			err = copyTo(ctx, client, name, m)
		}
		if err != nil {
			queue.AddRateLimited(name)
		} else {
			queue.Forget(name)
		}
		queue.Done(name)
	}
}

// copyTo makes the Secret what the ConfigMap wants, which is nil if it is gone.
func copyTo(ctx context.Context, client kubernetes.Interface, name cache.ObjectName, m *corev1.ConfigMap) error {
	secrets := client.CoreV1().Secrets(name.Namespace)
	if m == nil {
		if err := secrets.Delete(ctx, name.Name, metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
			return err
		}
		return nil
	}
	want := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}, Data: m.BinaryData}
	_, err := secrets.Update(ctx, want, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = secrets.Create(ctx, want, metav1.CreateOptions{})
	}
	return err
}
