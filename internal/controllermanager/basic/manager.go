package controllermanager

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// Options configure a Manager.
type Options struct {
	// Names are the controllers to run, each once: some of Names().
	Names []string
	// Transport returns the way to the server for the client of that name.
	Transport func(client string) http.RoundTripper
	// Version is the server's, which the User-Agent names.
	Version string
}

// kube-controller-manager's defaults (pkg/controller/apis/config/v1alpha1).
const (
	resyncPeriod = 12 * time.Hour
	clientQPS    = 20
	clientBurst  = 30
	mapperPeriod = 30 * time.Second // between two looks at discovery
)

// The clients that are no controller's: as in kube-controller-manager, whose controllers share their informers.
const (
	informerClient  = "shared-informers"
	metadataClient  = "metadata-informers"
	discoveryClient = "controller-discovery"
)

// Manager runs controllers until Stop.
type Manager struct {
	cancel   context.CancelFunc
	running  sync.WaitGroup
	shared   informers.SharedInformerFactory
	metadata metadatainformer.SharedInformerFactory
}

// Start starts controllers. Informers exist only for what they look at.
func Start(o Options) (*Manager, error) {
	quiet()
	ctx, cancel := context.WithCancel(context.Background())
	m := &Manager{cancel: cancel}
	e := &environment{options: o, ctx: ctx, started: make(chan struct{})}
	runs, err := m.prepare(e, o.Names)
	if err != nil {
		cancel()
		for _, run := range runs {
			run(ctx) // ends at once, and ends what the constructor has begun
		}
		return nil, err
	}
	m.shared.Start(ctx.Done())
	m.metadata.Start(ctx.Done())
	close(e.started)
	for _, run := range append(runs, e.beside...) {
		m.running.Go(func() { run(ctx) })
	}
	return m, nil
}

// prepare makes the controllers, which announce to the factories what they look at. With an error, it returns those that there are.
func (m *Manager) prepare(e *environment, names []string) (runs []func(context.Context), err error) {
	client, err := kubernetes.NewForConfig(e.config(informerClient))
	if err != nil {
		return nil, err
	}
	objects, err := metadata.NewForConfig(e.config(metadataClient))
	if err != nil {
		return nil, err
	}
	m.shared = informers.NewSharedInformerFactoryWithOptions(client, resyncPeriod, informers.WithTransform(withoutManagedFields))
	m.metadata = metadatainformer.NewSharedInformerFactoryWithOptions(objects, resyncPeriod, metadatainformer.WithTransform(withoutManagedFields))
	e.shared, e.metadata = m.shared, m.metadata
	for _, name := range names {
		at := slices.IndexFunc(table, func(c controller) bool { return c.name == name })
		if at < 0 {
			return runs, fmt.Errorf("there is no controller %q", name)
		}
		c := table[at]
		client, err := kubernetes.NewForConfig(e.config(c.client))
		if err != nil {
			return runs, err
		}
		run, err := c.prepare(e, client)
		if err != nil {
			return runs, fmt.Errorf("the controller %s: %w", name, err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// Stop stops the controllers, and returns when nothing of them runs any more. Requests that are on their way fail.
func (m *Manager) Stop() {
	m.cancel()
	m.running.Wait()
	m.shared.Shutdown()
	m.metadata.Shutdown()
}

// withoutManagedFields drops what no controller looks at.
func withoutManagedFields(obj any) (any, error) {
	if m, err := meta.Accessor(obj); err == nil && m.GetManagedFields() != nil {
		m.SetManagedFields(nil)
	}
	return obj, nil
}

// environment is what a controller is made with.
type environment struct {
	options  Options
	ctx      context.Context
	shared   informers.SharedInformerFactory
	metadata metadatainformer.SharedInformerFactory
	started  chan struct{} // closed once the informers are
	mapping  meta.RESTMapper
	beside   []func(context.Context) // what runs for several controllers
}

// config returns the configuration of a client. The User-Agent begins as kube-controller-manager's does, which names the manager of the fields
// that its controllers write.
func (e *environment) config(client string) *rest.Config {
	agent := fmt.Sprintf("kube-controller-manager/%s (%s/%s) kubernetes/informersim/%s", e.options.Version, runtime.GOOS, runtime.GOARCH, client)
	return &rest.Config{
		Host: "http://informersim", UserAgent: agent, QPS: clientQPS, Burst: clientBurst,
		ContentConfig: rest.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf"},
		Transport:     &stoppable{next: e.options.Transport(client), stop: e.ctx},
	}
}

// mapper returns the mapper that controllers share. It reads discovery anew now and then, since kinds come and go.
func (e *environment) mapper() (meta.RESTMapper, error) {
	if e.mapping != nil {
		return e.mapping, nil
	}
	client, err := discovery.NewDiscoveryClientForConfig(e.config(discoveryClient))
	if err != nil {
		return nil, err
	}
	deferred := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	e.beside = append(e.beside, func(ctx context.Context) { wait.Until(deferred.Reset, mapperPeriod, ctx.Done()) })
	e.mapping = deferred
	return deferred, nil
}
