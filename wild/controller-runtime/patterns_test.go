package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/simtest"
	controllerruntime "github.com/informersim/informersim/wild/controller-runtime"
)

// Controllers that are written as operators are, and are right, keep the ready-made properties.
func TestPatternsAreWellBehaved(t *testing.T) {
	for name, pattern := range map[string]func() controllerruntime.Pattern{
		"applies":  func() controllerruntime.Pattern { return controllerruntime.Applies },
		"counts":   func() controllerruntime.Pattern { return controllerruntime.Counts },
		"replaces": func() controllerruntime.Pattern { return controllerruntime.Replaces },
		"cleansup": func() controllerruntime.Pattern { return controllerruntime.CleansUp },
		"outside":  outside,
		"fields":   func() controllerruntime.Pattern { return controllerruntime.Fields },
		"hashes":   func() controllerruntime.Pattern { return controllerruntime.Hashes },
		"purges":   func() controllerruntime.Pattern { return controllerruntime.Purges },
		"expires":  func() controllerruntime.Pattern { return controllerruntime.Expires(30 * time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			simtest.Run(t, simtest.Options{GarbageCollection: true, Properties: simtest.WellBehaved()}, changes(pattern))
		})
	}
}

// outside is a service that is too busy now and then, for as long as it runs.
func outside() controllerruntime.Pattern {
	calls, images := 0, map[types.UID]string{}
	busy := func(ctx context.Context) error {
		if calls++; calls%7 == 0 {
			return errors.New("the service is busy")
		}
		return ctx.Err()
	}
	return controllerruntime.Outside(func(ctx context.Context, uid types.UID, image string) error {
		if err := busy(ctx); err != nil {
			return err
		}
		images[uid] = image
		return nil
	}, func(ctx context.Context, uid types.UID) error {
		if err := busy(ctx); err != nil {
			return err
		}
		delete(images, uid)
		return nil
	})
}

// changes creates, changes and deletes Deployments, and labels and removes ConfigMaps, while a controller runs.
func changes(pattern func() controllerruntime.Pattern) func(*simtest.Env) {
	return func(env *simtest.Env) {
		p := pattern()
		env.Go("manager", func(ctx context.Context) error {
			return controllerruntime.RunPattern(ctx, env.RESTConfig("manager"), simtest.Logger(), p)
		})
		for n := range 12 {
			d := deployment(fmt.Sprint("web", env.Rand().IntN(3)), fmt.Sprint("image-", n), int32(env.Rand().IntN(4)))
			was := d.DeepCopy()
			switch err := env.Get(was); {
			case err != nil || was.DeletionTimestamp != nil:
				if err != nil {
					env.Create(d)
				}
			case env.Rand().IntN(4) == 0:
				env.Delete(was)
			default:
				env.Mutate(was, func() { was.Spec.Replicas, was.Spec.Template = d.Spec.Replicas, d.Spec.Template })
			}
			if env.Rand().IntN(3) == 0 {
				env.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "stray-", Labels: map[string]string{"of": d.Name}}})
			}
			env.Advance(time.Duration(env.Rand().IntN(20_000)) * time.Millisecond)
		}
		env.StopFaults()
		env.Advance(10 * time.Minute)
	}
}

func deployment(name, image string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}}},
		},
	}
}
