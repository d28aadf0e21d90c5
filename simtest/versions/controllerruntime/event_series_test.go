package controllerruntime

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"

	"github.com/informersim/informersim/simtest"
)

// client-go's event broadcaster keeps its lock while it writes what has become of series of events: every six minutes of those that are over, and every thirty of all. A
// program that records events needs no overlay all the same.
func TestEventSeries(t *testing.T) {
	series := 0
	simtest.Run(t, simtest.Options{Seeds: 3, Mix: "none", CrashProbability: -1}, func(env *simtest.Env) {
		var objects []*corev1.ConfigMap
		for n := range 3 {
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("cm-", n)}}
			env.Create(cm)
			objects = append(objects, cm)
		}
		env.Go("controller", func(ctx context.Context) error {
			b := events.NewBroadcaster(&events.EventSinkImpl{Interface: kubernetes.NewForConfigOrDie(env.RESTConfig("controller")).EventsV1()})
			b.StartRecordingToSink(ctx.Done())
			defer b.Shutdown()
			r := b.NewRecorder(scheme.Scheme, "controller")
			for n := 0; ; n++ {
				for _, cm := range objects[:1+n/4%3] { // so that series of the others end
					r.Eventf(cm, nil, corev1.EventTypeNormal, "Seen", "See", "again")
				}
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(3 * time.Minute):
				}
			}
		})
		env.Advance(100 * time.Minute)
		list, err := kubernetes.NewForConfigOrDie(env.RESTConfig("user")).EventsV1().Events("default").List(env.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list.Items {
			if e.Series != nil {
				series++
			}
		}
	})
	if series == 0 {
		t.Error("there was no series of events")
	}
}
