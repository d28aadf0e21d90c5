package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/conformance/kubeserver"
	"github.com/informersim/informersim/conformance/realserver"
)

// kubeCommand starts a real kube-apiserver and leaves it running.
func kubeCommand(s *settings) *cobra.Command {
	var port int
	var kubeconfig string
	c := &cobra.Command{
		Use:   "kube",
		Short: "Run a real kube-apiserver over plain HTTP on loopback until interrupted; requests without credentials are an administrator's",
		Args:  cobra.NoArgs,
		Example: `  go run . kube --port 8001
  curl http://127.0.0.1:8001/version
  kubectl --server http://127.0.0.1:8001 get namespaces`,
		RunE: func(c *cobra.Command, _ []string) error { return s.kube(c.Context(), port, kubeconfig) },
	}
	c.Flags().IntVar(&port, "port", 0, "port to listen on; 0 chooses one")
	c.Flags().StringVar(&kubeconfig, "write-kubeconfig", "", "write a kubeconfig for the server to this file")
	return c
}

func (s *settings) kube(ctx context.Context, port int, kubeconfig string) error {
	server, err := startKube(ctx, realserver.Options{Port: port})
	if err != nil {
		return err
	}
	defer server.Stop()
	if kubeconfig != "" {
		text := fmt.Sprintf(kubeconfigText, server.URL)
		if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write the kubeconfig: %w", err)
		}
	}
	fmt.Fprintf(s.out, "%s is a kube-apiserver, ready after %d ms; you are %s, of %s\n", server.URL, server.ReadyMilliseconds, kubeserver.User, kubeserver.Group)
	<-ctx.Done()
	return nil
}

// kubeconfigText is that of a server that asks for no credentials.
const kubeconfigText = `apiVersion: v1
kind: Config
clusters: [{name: real, cluster: {server: %q}}]
contexts: [{name: real, context: {cluster: real, user: admin}}]
current-context: real
users: [{name: admin, user: {}}]
`
