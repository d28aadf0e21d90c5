package simtest_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// equipping gives each ConfigMap something of its name, and takes that away when its cache has no such ConfigMap.
type equipping struct {
	makes func(name string) *corev1.Secret
	runs  bool // a Pod, too
	asks  bool // the API, before it deletes
	twice bool // it deletes all at its start
}

func (c equipping) run(ctx context.Context, env *simtest.Env) error {
	queue, shutDown, err := newMapQueue(ctx, env.RESTConfig("equipper"), true)
	if err != nil {
		return err
	}
	defer shutDown()
	client, core := queue.client, queue.factory.Core().V1()
	maps, secrets, pods := core.ConfigMaps(), core.Secrets(), core.Pods()
	add := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}
	for _, informer := range []cache.SharedIndexInformer{secrets.Informer(), pods.Informer()} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add}); err != nil {
			return err
		}
	}
	queue.factory.Start(ctx.Done())
	queue.factory.WaitForCacheSync(ctx.Done())
	if c.twice {
		_ = client.CoreV1().Secrets("default").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	}
	work(queue, func(key string) error {
		namespace, name, err := cache.SplitMetaNamespaceKey(key)
		if err != nil {
			return nil
		}
		_, err = maps.Lister().ConfigMaps(namespace).Get(name)
		if apierrors.IsNotFound(err) && c.asks {
			_, err = client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		}
		gone := apierrors.IsNotFound(err)
		if err != nil && !gone {
			return err
		}
		_, err = secrets.Lister().Secrets(namespace).Get(name)
		switch {
		case err == nil && gone:
			err = client.CoreV1().Secrets(namespace).Delete(ctx, name, metav1.DeleteOptions{})
		case apierrors.IsNotFound(err) && !gone && c.makes != nil:
			_, err = client.CoreV1().Secrets(namespace).Create(ctx, c.makes(name), metav1.CreateOptions{})
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		_, err = pods.Lister().Pods(namespace).Get(name)
		switch {
		case err == nil && gone:
			err = client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{})
		case apierrors.IsNotFound(err) && !gone && c.runs:
			_, err = client.CoreV1().Pods(namespace).Create(ctx, podNamed(name), metav1.CreateOptions{})
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	return nil
}

func podNamed(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
}

// A controller that begins may have a list from before: what it deletes because of that is lost, if it is not made again as it was.
func TestNoStaleDelete(t *testing.T) {
	drawn := func(name string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"token": []byte(rand.String(8))}}
	}
	named := func(name string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"token": []byte(name)}}
	}
	for name, test := range map[string]struct {
		equipping
		says string
	}{
		"a token that is drawn":          {equipping{makes: drawn}, "equipper deletes secrets default/a 100ms after its start, and makes it again with another data.token. It had made it when configmaps default/a was"},
		"a Pod":                          {equipping{runs: true}, "equipper deletes pods default/a 100ms after its start, and what runs, or is stored, goes with it. It had made it when configmaps default/a was"},
		"made again as it was":           {equipping{makes: named}, ""},
		"asks before it deletes":         {equipping{makes: drawn, runs: true, asks: true}, ""},
		"deletes whenever it is started": {equipping{makes: drawn, twice: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := simtest.Options{Seeds: 10, Mix: "none", Properties: just(simtest.NoStaleDelete), CrashProbability: 0.01}
			found := simtest.Find(t, o, func(env *simtest.Env) {
				env.Go("equipper", func(ctx context.Context) error { return test.run(ctx, env) })
				env.Create(configMap("a", ""))
				env.Advance(time.Minute)
			})
			switch {
			case (found != nil) != (test.says != ""):
				t.Errorf("found %v", found)
			case found != nil:
				wantIn(t, found.Text, test.says, "its list of configmaps was that of before", "list-stale hits conn/equipper", "somebody has made configmaps default/a")
			}
		})
	}
}
