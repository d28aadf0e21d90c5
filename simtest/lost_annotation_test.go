package simtest_test

import (
	"context"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/simtest"
)

// replacer is a controller that keeps a Secret for each ConfigMap, with its value, and a label of its own. Where the value differs, or the label, it updates the Secret.
type replacer struct {
	labels   bool // it puts its label in place of all that there are
	replaces bool // it sends the Secret that it would make, with the resourceVersion of the one that is there
	strict   bool // it does so, too, if there is anything in the metadata that is not its own
	always   bool // it does so whenever it looks
	anew     bool // it deletes the Secret, and makes another one
}

func (k replacer) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, false)
	if err != nil {
		return err
	}
	defer shutDown()
	if _, err := queue.watchSecrets(ctx, func(s *corev1.Secret) { queue.Add(s.Namespace + "/" + s.Name) }); err != nil {
		return err
	}
	queue.factory.WaitForCacheSync(ctx.Done())
	work(queue, func(key string) error { return k.reconcile(ctx, queue, key) })
	return nil
}

func (k replacer) reconcile(ctx context.Context, queue *mapQueue, key string) error {
	obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
	if err != nil || !exists {
		return err
	}
	m := obj.(*corev1.ConfigMap)
	secrets := queue.client.CoreV1().Secrets(m.Namespace)
	wanted := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: m.Name, Labels: map[string]string{"copy": "yes"}}, Data: map[string][]byte{"v": []byte(m.Data["v"])}}
	got, exists, err := queue.factory.Core().V1().Secrets().Informer().GetIndexer().GetByKey(key)
	if err != nil {
		return err
	}
	if !exists {
		_, err = secrets.Create(ctx, wanted, metav1.CreateOptions{})
		return err
	}
	s := got.(*corev1.Secret).DeepCopy()
	same := string(s.Data["v"]) == m.Data["v"] && s.Labels["copy"] == "yes"
	if k.strict {
		same = same && len(s.Annotations) == 0 && maps.Equal(s.Labels, wanted.Labels)
	}
	switch {
	case same && !k.always:
		return nil
	case k.anew:
		if err := secrets.Delete(ctx, s.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		_, err = secrets.Create(ctx, wanted, metav1.CreateOptions{})
		return err
	case k.replaces || k.always:
		wanted.ResourceVersion = s.ResourceVersion
		s = wanted
	case k.labels:
		s.Labels = wanted.Labels
	default:
		metav1.SetMetaDataLabel(&s.ObjectMeta, "copy", "yes")
	}
	s.Data = wanted.Data
	_, err = secrets.Update(ctx, s, metav1.UpdateOptions{})
	return err
}

func (k replacer) test(env *simtest.Env) {
	env.Go("copies", func(ctx context.Context) error { return k.run(ctx, env.RESTConfig("copies")) })
	m := configMap("a", "1")
	env.Create(m)
	env.Advance(time.Minute)
	env.Mutate(m, func() { m.Data["v"] = "2" })
	env.Advance(time.Minute)
}

// Whoever writes an object as it would make it takes away what others have put into its metadata, whenever it has another reason to write. A run puts something there that means nothing to anybody, and sees whether that
// outlives the next write.
func TestNoLostAnnotation(t *testing.T) {
	for _, ready := range [][]simtest.Property{just(simtest.NoLostAnnotation), simtest.WellBehaved()} {
		o := simtest.Options{Seeds: seeds(4), Properties: ready}
		simtest.Run(t, o, replacer{}.test)
		found := simtest.Find(t, o, replacer{replaces: true}.test)
		if found == nil || found.Property != simtest.NoLostAnnotation {
			t.Fatalf("found %v", found)
		}
		wantIn(t, found.Text, `copies sets data.v of secrets default/a to "Mg==" again, and takes the annotation informersim.dev/note and the label informersim.dev/note away`, "somebody has put", "somebody undoes", "sends PUT /api/v1/namespaces/default/secrets/a", "DeepCopy")
		t.Logf("seed %d: %s", found.Seed, found.Message)
		found = simtest.Find(t, o, replacer{labels: true}.test)
		if found == nil || found.Property != simtest.NoLostAnnotation {
			t.Fatalf("found %v", found)
		}
		wantIn(t, found.Text, "takes the label informersim.dev/note away")
		t.Logf("seed %d: %s", found.Seed, found.Message)
	}
	// Whoever does not let it be, even for a while, means it so.
	for name, k := range map[string]replacer{
		"it keeps the metadata as it wants them": {strict: true, replaces: true},
		"it writes all, whenever it looks":       {always: true},
		"it makes another one":                   {anew: true},
	} {
		t.Run(name, func(t *testing.T) {
			o := simtest.Options{Seeds: seeds(4), Properties: just(simtest.NoLostAnnotation)}
			simtest.Run(t, o, k.test)
		})
	}
}
