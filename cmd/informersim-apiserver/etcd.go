package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
)

const (
	etcdName = "etcd"
	// etcdVersion is the version whose flags it takes.
	etcdVersion = "3.7.3"
)

// newEtcdCommand returns the etcd of envtest's control plane. The apiserver beside it keeps its objects itself; this one only has to be
// there.
func newEtcdCommand() *cobra.Command {
	var listen, certFile, keyFile string
	var version bool
	c := &cobra.Command{
		Use:   etcdName,
		Short: "Answers health checks in place of an etcd, for envtest",
		Long: `This etcd is informersim's: it answers health checks, and stores nothing. The kube-apiserver beside it keeps its objects itself.
It takes the flags of a real one. Those that are ignored say so.`,
		Args: cli.Usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if version {
				_, err := fmt.Fprintf(c.OutOrStdout(), "etcd Version: %s\n", etcdVersion)
				return err
			}
			return runEtcd(c, listen, certFile, keyFile)
		},
	}
	c.Flags().StringVar(&listen, "listen-client-urls", "http://localhost:2379", "the `URLs` to listen on, separated by commas")
	c.Flags().StringVar(&certFile, "cert-file", "", "the `file` with the certificate for https URLs")
	c.Flags().StringVar(&keyFile, "key-file", "", "the `file` with its key")
	c.Flags().BoolVar(&version, "version", false, "print the version, and quit")
	ignored(c.Flags(), etcdName)
	c.SetHelpFunc(func(c *cobra.Command, _ []string) { _ = help(c) }) // a reader that is gone needs no help
	return c
}

// runEtcd answers on every URL until the command is interrupted.
func runEtcd(c *cobra.Command, urls, certFile, keyFile string) error {
	var listeners []net.Listener
	defer func() {
		for _, ln := range listeners {
			ln.Close()
		}
	}()
	failed := make(chan error)
	server := &http.Server{Handler: etcdHandler(), ReadHeaderTimeout: 10 * time.Second}
	var starts []func() error
	for text := range strings.SplitSeq(urls, ",") {
		u, err := url.Parse(strings.TrimSpace(text))
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("--listen-client-urls: %q is not a URL to listen on: write it like http://127.0.0.1:2379", text)
		}
		if u.Scheme == "https" && (certFile == "" || keyFile == "") {
			return fmt.Errorf("--listen-client-urls: %s needs a certificate: give --cert-file and --key-file", text)
		}
		ln, err := net.Listen("tcp", u.Host)
		if err != nil {
			return fmt.Errorf("--listen-client-urls: %w", err)
		}
		listeners = append(listeners, ln)
		starts = append(starts, func() error {
			if u.Scheme == "https" {
				return server.ServeTLS(ln, certFile, keyFile)
			}
			return server.Serve(ln)
		})
		fmt.Fprintf(c.OutOrStdout(), "serving on %s://%s\n", u.Scheme, ln.Addr())
	}
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	for _, start := range starts {
		go func() {
			select {
			case failed <- start():
			case <-ctx.Done():
			}
		}()
	}
	select {
	case err := <-failed:
		return errors.Join(err, server.Close())
	case <-ctx.Done():
		return server.Close()
	}
}

// etcdHandler answers what a client asks to learn whether an etcd is there.
func etcdHandler() http.Handler {
	mux := http.NewServeMux()
	answer := func(path, contentType, body string) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = w.Write([]byte(body)) // a client that is gone needs no answer
		})
	}
	answer("/health", "application/json", `{"health":"true","reason":""}`)
	answer("/version", "application/json", fmt.Sprintf(`{"etcdserver":%q,"etcdcluster":%q,"storage":%[2]q}`, etcdVersion, "3.7.0"))
	answer("/readyz", "text/plain; charset=utf-8", "ok\n")
	answer("/livez", "text/plain; charset=utf-8", "ok\n")
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "this etcd is informersim's: it answers health checks, and stores nothing", http.StatusNotFound)
	})
	return mux
}
