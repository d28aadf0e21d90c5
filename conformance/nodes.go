package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/conformance/realserver"
	"github.com/informersim/informersim/internal/controllermanager"
	"github.com/informersim/informersim/internal/controllermanager/basic"
	"github.com/informersim/informersim/internal/probe"
)

// kindNodes is the kind of server that has one node and Kubernetes' own controllers: ours is `serve --nodes 1`, the real one a kube-apiserver, the
// same controllers, and a kubelet that does only what shows in scripts.
const kindNodes = "nodes"

// nodeFlags are those of our server.
var nodeFlags = []string{"serve", "--addr", "127.0.0.1:0", "--nodes", "1"}

// startNodes starts a kube-apiserver with a node and controllers. The function returned stops them.
func startNodes(ctx context.Context) ([]probe.Target, func(), error) {
	server, err := startKube(ctx, realserver.Options{})
	if err != nil {
		return nil, nil, err
	}
	direct := func(string) http.RoundTripper { return to(server.URL) }
	manager, err := controllermanager.Start(basic.Options{Names: controllermanager.Names(), Version: "v1.37.0", Transport: direct})
	if err != nil {
		server.Stop()
		return nil, nil, err
	}
	running, end := context.WithCancel(ctx)
	stop := func() { end(); manager.Stop(); server.Stop() }
	k := &kubelet{client: kubernetes.NewForConfigOrDie(&rest.Config{Host: server.URL, QPS: -1})}
	if err := k.join(ctx); err != nil {
		stop()
		return nil, nil, err
	}
	go k.run(running)
	return []probe.Target{realTarget{server}}, stop, nil
}

// to sends requests to the server at a root, whatever host they name.
type to string

// RoundTrip implements http.RoundTripper.
func (t to) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", string(t)[len("http://"):]
	return http.DefaultTransport.RoundTrip(r)
}

// nodeName is the name of the one node.
const nodeName = "node-1"

// kubelet is the scheduler and the kubelet of one node. It looks at all Pods again and again.
type kubelet struct {
	client    kubernetes.Interface
	addresses int // that Pods have been given
}

// join adds the node.
func (k *kubelet) join(ctx context.Context) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, Labels: map[string]string{corev1.LabelHostname: nodeName}}}
	node, err := k.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("add a node: %w", err)
	}
	now := metav1.Now()
	node.Spec.Taints = nil // a new node is tainted until it is ready
	if node, err = k.client.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("untaint the node: %w", err)
	}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: now, LastTransitionTime: now}}
	_, err = k.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

func (k *kubelet) run(ctx context.Context) {
	for ctx.Err() == nil {
		node, err := k.client.CoreV1().Nodes().Get(ctx, nodeName, metav1.GetOptions{})
		pods, listErr := k.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		if err == nil && listErr == nil {
			for i := range pods.Items {
				// What fails is tried again in the next round: the Pod has changed.
				_ = k.step(ctx, &pods.Items[i], node.Spec.Unschedulable)
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// step does what is next with a Pod.
func (k *kubelet) step(ctx context.Context, pod *corev1.Pod, cordoned bool) error {
	pods := k.client.CoreV1().Pods(pod.Namespace)
	switch {
	case pod.DeletionTimestamp != nil:
		now := int64(0)
		err := pods.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
		if errors.IsNotFound(err) {
			return nil
		}
		return err
	case pod.Spec.NodeName == "" && !cordoned:
		return pods.Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}, Target: corev1.ObjectReference{Kind: "Node", Name: nodeName},
		}, metav1.CreateOptions{})
	case pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodSucceeded:
		return nil
	case pod.Status.Phase == corev1.PodPending:
		pod.Status.Phase = corev1.PodRunning
	case pod.Spec.RestartPolicy != corev1.RestartPolicyAlways:
		pod.Status.Phase = corev1.PodSucceeded
	default:
		return nil
	}
	now := metav1.Now()
	running := pod.Status.Phase == corev1.PodRunning
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: now}
	if running {
		ready.Status = corev1.ConditionTrue
	}
	pod.Status.Conditions = append(pod.Status.Conditions[:0:0], ready)
	if k.addresses++; pod.Status.PodIP == "" {
		pod.Status.PodIP = fmt.Sprintf("10.244.0.%d", k.addresses%255)
		pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
	}
	pod.Status.StartTime, pod.Status.ContainerStatuses = &now, nil
	for _, c := range pod.Spec.Containers {
		status := corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: running, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}}
		if !running {
			status.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}}
		}
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
	}
	_, err := pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}
