package simtest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// claimer is a controller that makes a Secret and then a Service for each claim, and says in the claim's phase whether it has them. It remembers which Secrets it has made, and looks at no claim again of which it has said so.
type claimer struct {
	ends   bool // it takes a Secret that is there for the end of its work
	taken  bool // or for somebody else's, and says so for good
	sticks bool // it says for good that a create has failed, and makes what is lacking nonetheless
	dates  bool // its phase is another one each time
}

const claimed = "tests.informersim.dev/for"

func (c claimer) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, true)
	if err != nil {
		return err
	}
	defer shutDown()
	claims := queue.factory.Core().V1().PersistentVolumeClaims().Informer()
	add := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}
	if _, err := claims.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }}); err != nil {
		return err
	}
	queue.factory.Start(ctx.Done())
	queue.factory.WaitForCacheSync(ctx.Done())
	made := map[types.UID]bool{}
	work(queue, func(key string) error {
		obj, exists, err := claims.GetIndexer().GetByKey(key)
		if err != nil || !exists {
			return err
		}
		claim := obj.(*corev1.PersistentVolumeClaim).DeepCopy()
		if claim.Status.Phase != corev1.ClaimPending && !c.sticks {
			return nil
		}
		return c.reconcile(ctx, queue, claim, made)
	})
	return nil
}

func (c claimer) reconcile(ctx context.Context, queue *mapQueue, claim *corev1.PersistentVolumeClaim, made map[types.UID]bool) error {
	say := func(phase corev1.PersistentVolumeClaimPhase) error {
		if claim.Status.Phase != corev1.ClaimPending {
			return nil
		}
		if claim.Status.Phase = phase; c.dates {
			claim.Status.Phase = corev1.PersistentVolumeClaimPhase(fmt.Sprint(phase, time.Now().Unix()))
		}
		_, err := queue.client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{})
		return err
	}
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Name: claim.Name, UID: claim.UID}
	m := metav1.ObjectMeta{Name: claim.Name, Annotations: map[string]string{claimed: string(claim.UID)}, OwnerReferences: []metav1.OwnerReference{owner}}
	secrets := queue.client.CoreV1().Secrets(claim.Namespace)
	phase := corev1.ClaimBound
	var err error
	if !made[claim.UID] {
		_, err = secrets.Create(ctx, &corev1.Secret{ObjectMeta: m}, metav1.CreateOptions{})
	}
	if apierrors.IsAlreadyExists(err) {
		there, err := secrets.Get(ctx, claim.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		mine := there.Annotations[claimed] == string(claim.UID)
		switch {
		case !mine:
			queue.AddAfter(claim.Namespace+"/"+claim.Name, time.Second) // it is of the claim before, with which it goes
			return nil
		case c.ends:
			return nil
		case c.taken:
			phase = corev1.ClaimLost
		}
	} else if err != nil {
		if c.sticks {
			_ = say(corev1.ClaimLost)
		}
		return err
	} else {
		made[claim.UID] = true
	}
	svc := &corev1.Service{ObjectMeta: m, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	if _, err := queue.client.CoreV1().Services(claim.Namespace).Create(ctx, svc, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return say(phase)
}

func (c claimer) test(env *simtest.Env) {
	env.Go("claimer", func(ctx context.Context) error { return c.run(ctx, env.RESTConfig("claimer")) })
	for _, name := range []string{"a", "b"} {
		env.Apply(fmt.Sprintf(`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"namespace":"default","name":%q},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`, name))
		env.Advance(time.Minute)
	}
}

// A create whose answer is lost is done. The next attempt is told that there is already what it makes: who takes that for the end of his work, or for somebody else's doing, says or does for good something else than he would have.
func TestNoLostEffectOfAnswers(t *testing.T) {
	only := just(simtest.NoLostEffect)
	o := simtest.Options{Seeds: seeds(8), Properties: only, Mix: "none", CrashProbability: 1e-9, GarbageCollection: true}
	simtest.Run(t, o, claimer{}.test)
	simtest.Run(t, o, claimer{dates: true, sticks: true}.test)
	for name, c := range map[string]struct {
		claimer
		says []string
	}{
		"it ends there": {claimer{ends: true}, []string{"claimer does not make services default/b when persistentvolumeclaims default/b is made and the answer to a create that it sends for that is lost", "whose answer is lost"}},
		"it takes it for another's": {claimer{taken: true}, []string{`claimer leaves status.phase of persistentvolumeclaims default/b at "Lost", where persistentvolumeclaims default/b was made and the answer to a create that it sent for that was lost`,
			`it comes to say "Bound"`, "somebody has made persistentvolumeclaims default/b", "whose answer is lost"}},
		"it says that it has failed": {claimer{sticks: true}, []string{`claimer leaves status.phase of persistentvolumeclaims default/b at "Lost"`, "its writes of what it makes for that failed for 10s"}},
	} {
		t.Run(name, func(t *testing.T) {
			found := simtest.Find(t, o, c.claimer.test)
			if found == nil || found.Property != simtest.NoLostEffect {
				t.Fatalf("found %v", found)
			}
			wantIn(t, strings.ReplaceAll(found.Text, "default/a", "default/b"), c.says...) // either claim will do
			t.Logf("seed %d: %s", found.Seed, found.Message)
		})
	}
	simtest.Run(t, simtest.Options{Seeds: seeds(20), Properties: only, GarbageCollection: true}, claimer{}.test)
}
