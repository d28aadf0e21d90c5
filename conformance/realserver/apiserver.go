package realserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	noopoteltrace "go.opentelemetry.io/otel/trace/noop"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	generatedopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/kubernetes/scheme"
)

const (
	// etcdPrefix is the prefix of the apiserver's keys.
	etcdPrefix = "/registry"
	// stopTimeout bounds an apiserver's graceful shutdown.
	stopTimeout = 20 * time.Second
)

// A Process is one incarnation of an apiserver, which a restart replaces.
type Process struct {
	// Handler answers requests.
	Handler http.Handler
	// Cancel begins the shutdown; Ended receives what the apiserver returned once it is over.
	Cancel context.CancelFunc
	Ended  chan error
}

// A Launcher starts an apiserver over the etcd at a URL, which keeps its files in dir. It is ready once readyz succeeds.
type Launcher func(ctx context.Context, etcdURL, dir string) (*Process, error)

// noServices is the resolver for conversion webhooks, which are not supported.
type noServices struct{}

func (noServices) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	return nil, fmt.Errorf("service %s/%s:%d: this server knows no services", namespace, name, port)
}

// launchExtensions is the Launcher of the apiextensions server.
func launchExtensions(ctx context.Context, etcdURL, dir string) (*Process, error) {
	config, err := apiserverConfig(etcdURL, dir)
	if err != nil {
		return nil, err
	}
	completed := config.Complete()
	// The apiextensions server leaves the root of discovery to the aggregator in front of it, which is missing here.
	completed.GenericConfig.EnableDiscovery = true
	server, err := completed.New(genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, fmt.Errorf("build the apiserver: %w", err)
	}
	prepared := server.GenericAPIServer.PrepareRun()
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &Process{Handler: server.GenericAPIServer.Handler, Cancel: cancel, Ended: make(chan error, 1)}
	go func() { p.Ended <- prepared.RunWithContext(running) }()
	return p, nil
}

// apiserverConfig is the configuration of the apiextensions server's own command, without authentication,
// authorization and admission, all of which need a second apiserver.
func apiserverConfig(etcdURL, dir string) (*apiserver.Config, error) {
	o := options.NewCustomResourceDefinitionsServerOptions(io.Discard, io.Discard)
	r := o.RecommendedOptions
	r.Authentication, r.Authorization, r.Admission, r.CoreAPI = nil, nil, nil, nil
	r.Features.EnablePriorityAndFairness = false
	r.Etcd.StorageConfig.Prefix = etcdPrefix
	r.Etcd.StorageConfig.Transport.ServerList = []string{etcdURL}
	// Only Server.Compact compacts, so that a slow run answers like a fast one.
	r.Etcd.StorageConfig.CompactionInterval = 0
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on loopback: %w", err)
	}
	r.SecureServing.Listener = listener
	r.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port
	r.SecureServing.ServerCert.CertDirectory = filepath.Join(dir, "certs")
	if err := o.Complete(); err != nil {
		return nil, fmt.Errorf("complete the apiserver's options: %w", err)
	}
	if err := r.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)}); err != nil {
		return nil, fmt.Errorf("make the serving certificate: %w", err)
	}
	generic := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	if err := o.ServerRunOptions.ApplyTo(&generic.Config); err != nil {
		return nil, fmt.Errorf("apply the run options: %w", err)
	}
	if err := r.ApplyTo(generic); err != nil {
		return nil, fmt.Errorf("apply the recommended options: %w", err)
	}
	if err := o.APIEnablement.ApplyTo(&generic.Config, apiserver.DefaultAPIResourceConfigSource(), apiserver.Scheme); err != nil {
		return nil, fmt.Errorf("apply the enabled APIs: %w", err)
	}
	definitions := openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(generatedopenapi.GetOpenAPIDefinitions)
	generic.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, openapinamer.NewDefinitionNamer(apiserver.Scheme))
	generic.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, openapinamer.NewDefinitionNamer(apiserver.Scheme, scheme.Scheme))
	return &apiserver.Config{
		GenericConfig: generic,
		ExtraConfig: apiserver.ExtraConfig{
			CRDRESTOptionsGetter: options.NewCRDRESTOptionsGetter(*r.Etcd, generic.ResourceTransformers, generic.StorageObjectCountTracker),
			ServiceResolver:      noServices{},
			AuthResolverWrapper:  webhook.NewDefaultAuthenticationInfoResolverWrapper(nil, nil, generic.LoopbackClientConfig, noopoteltrace.NewTracerProvider()),
		},
	}, nil
}

// stop shuts the apiserver down and waits for it.
func (p *Process) stop() error {
	p.Cancel()
	select {
	case err := <-p.Ended:
		return err
	case <-time.After(stopTimeout):
		return fmt.Errorf("the apiserver did not stop within %v", stopTimeout)
	}
}
