package simtest_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// memo is an object whose spec is a message of protobuf, as Istio's are.
type memo struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec message
}

func (m *memo) DeepCopyObject() runtime.Object {
	return &memo{TypeMeta: m.TypeMeta, ObjectMeta: *m.ObjectMeta.DeepCopy(), Spec: message{text: m.Spec.text}}
}

// message notes that it was read, as protobuf's messages do.
type message struct {
	text string
	read bool
}

func (m *message) ProtoReflect() { m.read = true }

// Reading a message of protobuf changes what is the message's own. That is no change of an object in a cache, whatever client-go's detector says.
func TestProtobufIsNoChange(t *testing.T) {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(schema.GroupVersion{Group: "example.com", Version: "v1"}, &memo{})
	simtest.Run(t, simtest.Options{Seeds: 4, CrashProbability: -1, Scheme: scheme}, func(env *simtest.Env) {
		env.Go("reader", func(ctx context.Context) error {
			factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(env.RESTConfig("reader")), 0)
			informer := factory.Core().V1().ConfigMaps().Informer()
			err := informer.SetTransform(func(obj any) (any, error) {
				m, is := obj.(*corev1.ConfigMap)
				if !is {
					return obj, nil
				}
				return &memo{ObjectMeta: m.ObjectMeta, Spec: message{text: m.Data["v"]}}, nil
			})
			if err != nil {
				return err
			}
			if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { obj.(*memo).Spec.ProtoReflect() }}); err != nil {
				return err
			}
			factory.Start(ctx.Done())
			defer factory.Shutdown()
			<-ctx.Done()
			return nil
		})
		env.Create(configMap("a", "0"))
		env.Settle()
		env.Advance(2 * time.Second)
	})
}
