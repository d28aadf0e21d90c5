package controllerruntime

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// Events are not what a program is for. client-go's broadcaster tries each for two minutes, one after the other, and so is late with those that it was given meanwhile, in a process that has crashed,
// too: what it logs of them is not the same error again and again.
func TestNoEndlessErrorSparesEvents(t *testing.T) {
	o := simtest.Options{Mix: "none", Seeds: 1, AllowLeaks: true, Properties: simtest.WellBehaved()}
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Go("records", func(ctx context.Context) error {
			client, err := kubernetes.NewForConfig(env.RESTConfig("records"))
			if err != nil {
				return err
			}
			broadcaster := record.NewBroadcaster()
			broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
			recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "records"})
			for range 20 {
				recorder.Event(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}, corev1.EventTypeNormal, "Seen", "it is there")
			}
			<-ctx.Done()
			return nil
		})
		env.Inject(fault.Fault{Kind: fault.WriteReset, Target: "records", Resource: "events", Count: fault.Lasting, Until: time.Minute})
		env.Advance(30 * time.Second)
		env.Crash("records")
		env.Advance(time.Minute)
	})
}
