package controllers

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
)

// KindCreateServiceAccount is the choice in which the ServiceAccount controller processes one namespace.
var KindCreateServiceAccount = sim.RegisterKind("create-service-account", sim.ClassAction)

// defaultServiceAccount is the name of the ServiceAccount that each namespace has.
const defaultServiceAccount = "default"

// ServiceAccountController keeps a ServiceAccount "default" in every active namespace. It is the actor "service-account-controller".
type ServiceAccountController struct {
	*worker[string]
	writer
}

// NewServiceAccountController starts a ServiceAccount controller.
func NewServiceAccountController(c *fakeapiserver.Cluster, o Options) *ServiceAccountController {
	s := &ServiceAccountController{writer: writer{cluster: c}}
	s.worker = newWorker(c.Kernel(), "service-account-controller", KindCreateServiceAccount, o, s.ensure)
	if id, ok := c.FindResource(corev1.Resource("namespaces")); ok {
		c.Store().Newest(id, "", func(name string, _ runtime.Object) bool {
			s.add(name)
			return true
		})
	}
	c.OnCommit(func(id store.ResourceID, done store.Committed) {
		s.learn(func() { s.committed(id, &done) })
	})
	return s
}

// committed queues a namespace that is new or has lost its ServiceAccount.
func (s *ServiceAccountController) committed(id store.ResourceID, done *store.Committed) {
	switch of := s.cluster.Store().Resource(id).GroupResource(); of {
	case corev1.Resource("namespaces"):
		if !done.Deleted {
			s.add(done.Key)
		}
	case corev1.Resource("serviceaccounts"):
		if m, ok := done.Object.(metav1.Object); ok && done.Deleted && m.GetName() == defaultServiceAccount {
			s.add(m.GetNamespace())
		}
	}
}

// ensure creates the ServiceAccount of a namespace that lacks it.
func (s *ServiceAccountController) ensure(namespace string) {
	namespaces, _ := s.cluster.FindResource(corev1.Resource("namespaces"))
	accounts, served := s.cluster.FindResource(corev1.Resource("serviceaccounts"))
	obj, _ := s.get(object{res: namespaces, name: namespace})
	if ns, ok := obj.(*corev1.Namespace); !ok || !served || ns.Status.Phase != corev1.NamespaceActive {
		return
	}
	if obj, _ := s.get(object{res: accounts, namespace: namespace, name: defaultServiceAccount}); obj != nil {
		return
	}
	account := &corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}}
	account.Namespace, account.Name = namespace, defaultServiceAccount
	account.CreationTimestamp = metav1.NewTime(s.cluster.Now().UTC().Truncate(time.Second))
	switch _, err := s.cluster.Create(accounts, account); {
	case fakeapiserver.Refused(err):
		s.again(namespace, retryRefused)
	case err != nil:
		s.cluster.Kernel().Fail(fmt.Errorf("service account controller: namespace %s: %w", namespace, err))
	}
}
