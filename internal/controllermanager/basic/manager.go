package basic

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
	// Names are the controllers to run, each once: some of those in Table.
	Names []string
	// Table has the controllers that there are.
	Table []Controller
	// Transport returns the way to the server for the client of that name.
	Transport func(client string) http.RoundTripper
	// Version is the server's, which the User-Agent names.
	Version string
}

// kube-controller-manager's defaults (pkg/controller/apis/config/v1alpha1).
const (
	ResyncPeriod = 12 * time.Hour
	clientQPS    = 20
	clientBurst  = 30
	MapperPeriod = 30 * time.Second // between two looks at discovery
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
	e := &Environment{Context: ctx, Started: make(chan struct{}), options: o}
	runs, err := m.prepare(e, &o)
	if err != nil {
		cancel()
		for _, run := range runs {
			run(ctx) // ends at once, and ends what the constructor has begun
		}
		return nil, err
	}
	m.shared.Start(ctx.Done())
	m.metadata.Start(ctx.Done())
	close(e.Started)
	for _, run := range append(runs, e.beside...) {
		m.running.Go(func() { run(ctx) })
	}
	return m, nil
}

// prepare makes the controllers, which announce to the factories what they look at. With an error, it returns those that there are.
func (m *Manager) prepare(e *Environment, o *Options) (runs []func(context.Context), err error) {
	client, err := kubernetes.NewForConfig(e.Config(informerClient))
	if err != nil {
		return nil, err
	}
	objects, err := metadata.NewForConfig(e.Config(metadataClient))
	if err != nil {
		return nil, err
	}
	m.shared = informers.NewSharedInformerFactoryWithOptions(client, ResyncPeriod, informers.WithTransform(withoutManagedFields))
	m.metadata = metadatainformer.NewSharedInformerFactoryWithOptions(objects, ResyncPeriod, metadatainformer.WithTransform(withoutManagedFields))
	e.Shared, e.Metadata = m.shared, m.metadata
	for _, name := range o.Names {
		at := slices.IndexFunc(o.Table, func(c Controller) bool { return c.Name == name })
		if at < 0 {
			return runs, fmt.Errorf("there is no controller %q", name)
		}
		c := o.Table[at]
		client, err := kubernetes.NewForConfig(e.Config(c.Client))
		if err != nil {
			return runs, err
		}
		run, err := c.Prepare(e, client)
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

// Controller is one of Kubernetes' controllers.
type Controller struct {
	Name    string // as in --controllers
	Client  string // its client's name
	Prepare func(*Environment, kubernetes.Interface) (run func(context.Context), err error)
}

// Environment is what a controller is made with.
type Environment struct {
	Context  context.Context // ends with the manager
	Shared   informers.SharedInformerFactory
	Metadata metadatainformer.SharedInformerFactory
	Started  chan struct{} // closed once the informers are

	options Options
	mapping meta.RESTMapper
	beside  []func(context.Context)
}

// Beside has something run, for one controller or several, as long as the manager does.
func (e *Environment) Beside(run func(context.Context)) { e.beside = append(e.beside, run) }

// Config returns the configuration of a client. The User-Agent begins as kube-controller-manager's does, which names the manager of the fields
// that its controllers write.
func (e *Environment) Config(client string) *rest.Config {
	agent := fmt.Sprintf("kube-controller-manager/%s (%s/%s) kubernetes/informersim/%s", e.options.Version, runtime.GOOS, runtime.GOARCH, client)
	return &rest.Config{
		Host: "http://informersim", UserAgent: agent, QPS: clientQPS, Burst: clientBurst,
		ContentConfig: rest.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf"},
		Transport:     &stoppable{next: e.options.Transport(client), stop: e.Context},
	}
}

// mapper returns the mapper that controllers share. It reads discovery anew now and then, since kinds come and go.
func (e *Environment) mapper() (meta.RESTMapper, error) {
	if e.mapping != nil {
		return e.mapping, nil
	}
	client, err := discovery.NewDiscoveryClientForConfig(e.Config(discoveryClient))
	if err != nil {
		return nil, err
	}
	deferred := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	e.Beside(func(ctx context.Context) { wait.Until(deferred.Reset, MapperPeriod, ctx.Done()) })
	e.mapping = deferred
	return deferred, nil
}
