package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// components says which parts of a control plane are well, as a real server does who asks them at their ports: its own storage, and those that
// run in this process. A bare server has none.
func (f server) components() []*corev1.ComponentStatus {
	if f.Bare {
		return nil
	}
	return []*corev1.ComponentStatus{
		component("scheduler", "10259", f.Nodes > 0),
		component("controller-manager", "10257", len(f.Controllers) > 0),
		component("etcd-0", "", true),
	}
}

func component(name, port string, runs bool) *corev1.ComponentStatus {
	well := corev1.ComponentCondition{Type: corev1.ComponentHealthy, Status: corev1.ConditionTrue, Message: "ok"}
	if !runs {
		well.Status = corev1.ConditionFalse
		well.Message = `Get "https://127.0.0.1:` + port + `/healthz": dial tcp 127.0.0.1:` + port + `: connect: connection refused`
	}
	return &corev1.ComponentStatus{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ComponentStatus"},
		ObjectMeta: metav1.ObjectMeta{Name: name}, Conditions: []corev1.ComponentCondition{well},
	}
}
