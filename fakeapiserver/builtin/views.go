package builtin

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/internalinterfaces"
	networkinginformers "k8s.io/client-go/informers/networking"
	nodeinformers "k8s.io/client-go/informers/node"
	schedulinginformers "k8s.io/client-go/informers/scheduling"
	storageinformers "k8s.io/client-go/informers/storage"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	nodev1client "k8s.io/client-go/kubernetes/typed/node/v1"
	"k8s.io/client-go/tools/cache"
)

// Admission plugins read the cluster through listers of informers. Theirs here are views: they read what the write that is being carried out sees.

// informerViews is an informers.SharedInformerFactory of views.
type informerViews struct {
	informers.SharedInformerFactory
	now *current
}

// InformerFor implements internalinterfaces.SharedInformerFactory.
func (f informerViews) InformerFor(obj runtime.Object, _ internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	kinds, _, err := scheme.ObjectKinds(obj)
	if err != nil {
		panic(err) // cannot happen: a plugin's lister is of a built-in kind
	}
	plural, _ := meta.UnsafeGuessKindToResource(kinds[0])
	return informer{indexer: view{now: f.now, resource: plural.GroupResource()}}
}

// Core implements informers.SharedInformerFactory.
func (f informerViews) Core() coreinformers.Interface {
	return coreinformers.New(f, metav1.NamespaceAll, nil)
}

// Networking implements informers.SharedInformerFactory.
func (f informerViews) Networking() networkinginformers.Interface {
	return networkinginformers.New(f, metav1.NamespaceAll, nil)
}

// Node implements informers.SharedInformerFactory.
func (f informerViews) Node() nodeinformers.Interface {
	return nodeinformers.New(f, metav1.NamespaceAll, nil)
}

// Scheduling implements informers.SharedInformerFactory.
func (f informerViews) Scheduling() schedulinginformers.Interface {
	return schedulinginformers.New(f, metav1.NamespaceAll, nil)
}

// Storage implements informers.SharedInformerFactory.
func (f informerViews) Storage() storageinformers.Interface {
	return storageinformers.New(f, metav1.NamespaceAll, nil)
}

// informer is an informer that has always seen everything.
type informer struct {
	cache.SharedIndexInformer
	indexer cache.Indexer
}

// HasSynced implements cache.SharedIndexInformer.
func (informer) HasSynced() bool { return true }

// GetIndexer implements cache.SharedIndexInformer.
func (i informer) GetIndexer() cache.Indexer { return i.indexer }

// AddEventHandler implements cache.SharedIndexInformer. Nothing happens between two writes.
func (informer) AddEventHandler(cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return nil, nil
}

// view is a cache.Indexer over the stored objects of a resource.
type view struct {
	cache.Indexer
	now      *current
	resource schema.GroupResource
}

// in returns the objects of one namespace or, for "", of all.
func (v view) in(namespace string, which func(metav1.Object) bool) []any {
	var found []any
	if v.now.session == nil || v.now.session.write.List == nil {
		return nil
	}
	for _, obj := range v.now.session.write.List(v.resource, namespace) {
		if m, err := meta.Accessor(obj); err == nil && which(m) {
			found = append(found, obj)
		}
	}
	return found
}

// List implements cache.Indexer.
func (v view) List() []any {
	return v.in(metav1.NamespaceAll, func(metav1.Object) bool { return true })
}

// Index implements cache.Indexer for the index by namespace, which is the only one that listers use.
func (v view) Index(_ string, of any) ([]any, error) {
	m, err := meta.Accessor(of)
	if err != nil {
		return nil, err
	}
	return v.in(m.GetNamespace(), func(have metav1.Object) bool { return have.GetNamespace() == m.GetNamespace() }), nil
}

// GetByKey implements cache.Indexer.
func (v view) GetByKey(key string) (any, bool, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil, false, err
	}
	found := v.in(namespace, func(m metav1.Object) bool { return m.GetName() == name && m.GetNamespace() == namespace })
	if len(found) == 0 {
		return nil, false, nil
	}
	return found[0], true, nil
}

// noClient is the client of plugins that ask the server what their lister has not found. The lister has found everything.
type noClient struct{ kubernetes.Interface }

// CoreV1 implements kubernetes.Interface.
func (noClient) CoreV1() corev1client.CoreV1Interface { return noCore{} }

// NodeV1 implements kubernetes.Interface.
func (noClient) NodeV1() nodev1client.NodeV1Interface { return noNode{} }

type noCore struct{ corev1client.CoreV1Interface }

// LimitRanges implements corev1client.CoreV1Interface.
func (noCore) LimitRanges(string) corev1client.LimitRangeInterface { return noLimitRanges{} }

// Namespaces implements corev1client.CoreV1Interface.
func (noCore) Namespaces() corev1client.NamespaceInterface { return anyNamespace{} }

// anyNamespace has every namespace: where they must exist, it is too late to ask for one that does not, and elsewhere it has no labels.
type anyNamespace struct {
	corev1client.NamespaceInterface
}

// Get implements corev1client.NamespaceInterface.
func (anyNamespace) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil
}

type noLimitRanges struct {
	corev1client.LimitRangeInterface
}

// List implements corev1client.LimitRangeInterface.
func (noLimitRanges) List(context.Context, metav1.ListOptions) (*corev1.LimitRangeList, error) {
	return &corev1.LimitRangeList{}, nil
}

type noNode struct{ nodev1client.NodeV1Interface }

// RuntimeClasses implements nodev1client.NodeV1Interface.
func (noNode) RuntimeClasses() nodev1client.RuntimeClassInterface { return noRuntimeClasses{} }

type noRuntimeClasses struct {
	nodev1client.RuntimeClassInterface
}

// Get implements nodev1client.RuntimeClassInterface.
func (noRuntimeClasses) Get(_ context.Context, name string, _ metav1.GetOptions) (*nodev1.RuntimeClass, error) {
	return nil, apierrors.NewNotFound(nodev1.Resource("runtimeclasses"), name)
}
