package simtest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// seals gives each ConfigMap a Secret under a drawn name. As long as it runs it knows what it has made; after that it looks into its cache, for whose first list it
// waits, or not.
func seals(ctx context.Context, config *rest.Config, waits bool) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	defer factory.Shutdown()
	maps, secrets := factory.Core().V1().ConfigMaps(), factory.Core().V1().Secrets()
	synced := []cache.InformerSynced{maps.Informer().HasSynced}
	if secrets.Informer(); waits {
		synced = append(synced, secrets.Informer().HasSynced)
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return ctx.Err()
	}
	made := map[types.UID]bool{}
	for ctx.Err() == nil {
		all, err := maps.Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		slices.SortFunc(all, func(a, b *corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
		for _, m := range all {
			there, err := secrets.Lister().Secrets(m.Namespace).List(labels.Everything())
			if err != nil || made[m.UID] || slices.ContainsFunc(there, func(s *corev1.Secret) bool { return metav1.IsControlledBy(s, m) }) {
				continue
			}
			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: m.Name + "-", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(m, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}}}
			_, err = client.CoreV1().Secrets(m.Namespace).Create(ctx, s, metav1.CreateOptions{})
			made[m.UID] = err == nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}
	return nil
}

// A controller that does not wait for its cache makes its children once more when it starts anew, though it had seen the first in its life before.
func TestNoStaleCreateOfNextLife(t *testing.T) {
	o := simtest.Options{Seeds: 10, Mix: "none", WatchList: simtest.Off, Properties: simtest.WellBehaved()}
	body := func(waits bool) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("sealer", func(ctx context.Context) error { return seals(ctx, env.RESTConfig("sealer"), waits) })
			for n := range 3 {
				env.Create(configMap(fmt.Sprint("m", n), ""))
				env.Advance(time.Minute)
				env.Inject(fault.Fault{Kind: fault.ListSlow, Target: "sealer", Resource: "secrets", Duration: 20 * time.Second, Count: 1})
				env.Restart("sealer")
			}
			env.Advance(time.Minute)
		}
	}
	found := simtest.Find(t, o, body(false))
	if found == nil || found.Property != simtest.NoStaleCreate {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "sealer has made secrets default/m", "which asks for one: at the second it had been told of no secrets, without the first")
	simtest.Run(t, o, body(true))
}
