package realserver

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/informersim/informersim/internal/probe/resources"
)

// readyTimeout bounds the wait for a served collection; readyPoll is the polling interval.
const (
	readyTimeout = 3 * time.Minute
	readyPoll    = 5 * time.Millisecond
	// quietTime without a write means that a server has written what it begins with.
	quietTime = 700 * time.Millisecond
)

// Options configure a server. The zero value serves the conformance resources.
type Options struct {
	// CRDs is a manifest of CustomResourceDefinitions; empty means those of package resources.
	CRDs string
	// Fsync makes etcd sync its log to disk at each commit, as in production.
	Fsync bool
	// Log receives the apiserver's log; nil discards it.
	Log io.Writer
	// Launch starts the apiserver; nil starts the apiextensions server.
	Launch Launcher
	// Warm are paths that must answer 200 before the server counts as ready, besides the collections of CRDs.
	Warm []string
	// Port is that of the plain-HTTP listener; 0 lets the system choose.
	Port int
}

// A Server is a running apiserver.
type Server struct {
	// URL is the plain-HTTP root on loopback; it survives Restart.
	URL string
	// ReadyMilliseconds is the time from Start until every resource could be read and written.
	ReadyMilliseconds int64

	dir     string
	etcd    *etcd
	front   *http.Server
	handler atomic.Pointer[http.Handler]
	process *Process
	launch  Launcher
	warm    []string
}

// Start starts etcd and the apiserver and returns once every resource of the definitions can be read and written.
// History begins there: older versions are compacted away, so resourceVersion 1 is always too old.
func Start(ctx context.Context, o Options) (*Server, error) {
	began := time.Now()
	silence(o.Log)
	if o.CRDs == "" {
		o.CRDs = resources.CRDs
	}
	crds, err := parseCRDs(o.CRDs)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "informersim-conformance-")
	if err != nil {
		return nil, fmt.Errorf("make the server's directory: %w", err)
	}
	s := &Server{dir: dir, warm: append(collectionPaths(crds), o.Warm...), launch: o.Launch}
	if s.launch == nil {
		s.launch = launchExtensions
	}
	if err := s.start(ctx, crds, o); err != nil {
		s.Stop()
		return nil, err
	}
	s.ReadyMilliseconds = time.Since(began).Milliseconds()
	return s, nil
}

// silence redirects the apiserver's log, which klog writes to standard error, to another writer.
func silence(to io.Writer) {
	if to == nil {
		to = io.Discard
	}
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	flags.Set("logtostderr", "false")
	flags.Set("stderrthreshold", "FATAL")
	klog.SetOutput(to)
}

func (s *Server) start(ctx context.Context, crds []*apiextensionsv1.CustomResourceDefinition, o Options) error {
	var err error
	if s.etcd, err = startEtcd(ctx, filepath.Join(s.dir, "etcd"), o.Fsync); err != nil {
		return err
	}
	if err := s.etcd.seed(ctx, crds); err != nil {
		return err
	}
	if err := s.serve(o.Port); err != nil {
		return err
	}
	if err := s.startProcess(ctx); err != nil {
		return err
	}
	return s.Compact(ctx, 0)
}

// serve opens the front listener, which forwards to the current apiserver process.
func (s *Server) serve(port int) error {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("listen on loopback: %w", err)
	}
	s.URL = "http://" + listener.Addr().String()
	s.front = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			handler := s.handler.Load()
			if handler == nil {
				http.Error(w, "the apiserver is restarting", http.StatusBadGateway)
				return
			}
			(*handler).ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: 32 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	go s.front.Serve(listener)
	return nil
}

func (s *Server) startProcess(ctx context.Context) error {
	process, err := s.launch(ctx, s.etcd.url, s.dir)
	if err != nil {
		return err
	}
	s.process = process
	if err := s.waitReady(ctx); err != nil {
		return err
	}
	s.handler.Store(&process.Handler)
	return nil
}

// waitReady returns once each collection has answered a list, which also initialises its watch cache, and the server
// reports itself ready.
func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for _, path := range append(s.warm[:len(s.warm):len(s.warm)], "/readyz") {
		for {
			code, body := s.ask(ctx, path)
			if code == http.StatusOK {
				break
			}
			select {
			case err := <-s.process.Ended:
				return fmt.Errorf("the apiserver stopped while starting: %w", err)
			case <-ctx.Done():
				return fmt.Errorf("%s not served in time: last answer %d %.300s", path, code, body)
			case <-time.After(readyPoll):
			}
		}
	}
	return nil
}

// ask sends an in-process GET. The code is 0 if the server has given up on it.
func (s *Server) ask(ctx context.Context, path string) (code int, body string) {
	defer func() {
		switch r := recover(); r {
		case nil:
		case http.ErrAbortHandler: // which an http.Server would have caught
			code, body = 0, "no answer"
		default:
			panic(r)
		}
	}()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, path, nil).WithContext(ctx)
	r.Header.Set("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json")
	s.process.Handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// WaitPath returns once a GET of path answers 200 with a body that contains text. OpenAPI documents of custom
// resources appear a while after the resources are served.
func (s *Server) WaitPath(ctx context.Context, path, text string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		code, body := s.ask(ctx, path)
		if code == http.StatusOK && strings.Contains(body, text) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not contain %q: last answer %d %.300s", path, text, code, body)
		case <-time.After(10 * readyPoll):
		}
	}
}

// WaitQuiet returns once the server has stored nothing for a while: a new one writes for some seconds what it begins with.
func (s *Server) WaitQuiet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	last, since := int64(-1), time.Now()
	for {
		revision, err := s.etcd.revision(ctx)
		switch {
		case err != nil:
			return err
		case revision != last:
			last, since = revision, time.Now()
		case time.Since(since) > quietTime:
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server keeps writing: %w", ctx.Err())
		case <-time.After(readyPoll):
		}
	}
}

// Revision returns the resourceVersion of the latest write.
func (s *Server) Revision(ctx context.Context) (int64, error) { return s.etcd.revision(ctx) }

// Compact makes etcd discard every version before revision; 0 means the current one. The watch caches keep their
// history (S11): call Restart to discard that too.
func (s *Server) Compact(ctx context.Context, revision int64) error {
	if revision == 0 {
		current, err := s.etcd.revision(ctx)
		if err != nil {
			return err
		}
		revision = current
	}
	return s.etcd.compact(ctx, revision)
}

// Restart stops the apiserver, which closes every watch, and starts another over the same etcd at the same URL.
// Its watch caches begin at the revision at which it started.
func (s *Server) Restart(ctx context.Context) error {
	s.handler.Store(nil)
	if err := s.process.stop(); err != nil {
		return err
	}
	return s.startProcess(ctx)
}

// Stop stops everything and removes the server's directory.
func (s *Server) Stop() {
	if s.front != nil {
		s.front.Close()
	}
	if s.process != nil {
		s.process.stop()
	}
	if s.etcd != nil {
		s.etcd.stop()
	}
	os.RemoveAll(s.dir)
}
