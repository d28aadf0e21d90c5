package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	neturl "net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clientcmdapiv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/yaml"

	"github.com/informersim/informersim/internal/outfile"
)

// entry is the name of our cluster, user and context in a kubeconfig.
const entry = "informersim"

func (f server) kubeconfigTarget() outfile.Target {
	inputs := append(append([]string{f.Data, f.Mix}, f.CRDs...), f.Loads...)
	return outfile.Target{Path: f.Kubeconfig, Flag: "--kubeconfig", Inputs: inputs, Mode: 0o600}
}

// writeKubeconfig adds the server to the file of --kubeconfig and makes it the current context.
func (f server) writeKubeconfig(ctx context.Context, url string) error {
	if err := os.MkdirAll(filepath.Dir(f.Kubeconfig), 0o777); err != nil {
		return fmt.Errorf("--kubeconfig: %w", err)
	}
	target := f.kubeconfigTarget()
	if target.Regular() {
		unlock, err := lockKubeconfig(ctx, f.Kubeconfig+".lock")
		if err != nil {
			return fmt.Errorf("--kubeconfig: %w", err)
		}
		defer unlock()
	}
	config, err := f.mergedKubeconfig(url)
	if err != nil {
		return err
	}
	data, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("--kubeconfig: %w", err)
	}
	return target.Write(ctx, data)
}

// lockPatience is how long another program may hold the lock of a kubeconfig.
var lockPatience = 3 * time.Second

// lockKubeconfig takes the lock that kubectl takes when it changes a kubeconfig.
func lockKubeconfig(ctx context.Context, path string) (unlock func(), err error) {
	for deadline := time.Now().Add(lockPatience); ; {
		lock, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return func() { os.Remove(path) }, lock.Close()
		}
		switch {
		case !errors.Is(err, fs.ErrExist):
			return nil, err
		case time.Now().After(deadline):
			return nil, fmt.Errorf("%s exists: another program is changing the kubeconfig; if none is, remove that file", path)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// mergedKubeconfig is the kubeconfig with this server in it, and whatever else is there now.
func (f server) mergedKubeconfig(url string) (*clientcmdapi.Config, error) {
	target := f.kubeconfigTarget()
	if err := target.Check(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	config := clientcmdapi.NewConfig()
	if target.Regular() {
		data, err := os.ReadFile(f.Kubeconfig)
		if err == nil {
			config, err = parseKubeconfig(data)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("--kubeconfig: %s: %w", f.Kubeconfig, err)
		}
	}
	if err := checkEntry(config); err != nil {
		return nil, fmt.Errorf("--kubeconfig: %s: %w; rename that entry, or name another file", f.Kubeconfig, err)
	}
	server, err := neturl.Parse(url)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	if f.Token != "" && !f.TLS {
		server.User = neturl.UserPassword("token", f.Token) // client-go sends no bearer token over plain HTTP
	}
	config.Clusters[entry] = &clientcmdapi.Cluster{Server: server.String(), CertificateAuthorityData: f.ca}
	config.AuthInfos[entry] = &clientcmdapi.AuthInfo{Token: f.Token}
	if config.Contexts[entry] == nil { // otherwise the user may have set its namespace
		config.Contexts[entry] = &clientcmdapi.Context{Cluster: entry, AuthInfo: entry}
	}
	config.CurrentContext = entry
	return config, nil
}

var documentEnd = regexp.MustCompile(`(?m)^---[ \t]*(#.*)?\r?$`)

// parseKubeconfig reads a kubeconfig and refuses what would be lost when it is written again.
func parseKubeconfig(data []byte) (*clientcmdapi.Config, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return clientcmdapi.NewConfig(), nil
	}
	const hint = "name another file, or a new one"
	documents := 0
	for _, part := range documentEnd.Split(string(data), -1) {
		var content any
		if yaml.Unmarshal([]byte(part), &content) != nil || content != nil {
			documents++
		}
	}
	if documents > 1 {
		return nil, errors.New("it has several YAML documents, and a kubeconfig has one; " + hint)
	}
	var file clientcmdapiv1.Config
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		return nil, fmt.Errorf("it is not a kubeconfig: %w; %s", err, hint)
	}
	if file.Kind != "Config" && (file.Kind != "" || len(file.Clusters)+len(file.Contexts)+len(file.AuthInfos) == 0) {
		return nil, fmt.Errorf("it is not a kubeconfig: its kind is %q, not Config; %s", file.Kind, hint)
	}
	if what := repeatedName(&file); what != "" {
		return nil, fmt.Errorf("it has %s twice; remove one of them, or %s", what, hint)
	}
	config, err := clientcmd.Load(data)
	if err != nil {
		return nil, fmt.Errorf("it is not a kubeconfig: %w; %s", err, hint)
	}
	return config, nil
}

// repeatedName returns the first entry whose name an earlier one of its list has, "" if there is none.
func repeatedName(file *clientcmdapiv1.Config) string {
	seen := map[string]bool{}
	repeated := ""
	add := func(list, name string) {
		what := fmt.Sprintf("the %s %q", list, name)
		if seen[what] && repeated == "" {
			repeated = what
		}
		seen[what] = true
	}
	for _, c := range file.Clusters {
		add("cluster", c.Name)
	}
	for _, c := range file.Contexts {
		add("context", c.Name)
	}
	for _, u := range file.AuthInfos {
		add("user", u.Name)
	}
	return repeated
}

// checkEntry refuses to replace a cluster, user or context of our name that is not ours. Ours is served over plain HTTP, or has an
// authority that was made for one run, and its user has nothing but a token.
func checkEntry(config *clientcmdapi.Config) error {
	if c := config.Clusters[entry]; c != nil {
		if url, err := neturl.Parse(c.Server); err != nil || url.Scheme != "http" && !isMade(c.CertificateAuthorityData) {
			return fmt.Errorf("it has a cluster %q that this command did not write, %s", entry, c.Server)
		}
	}
	if u := config.AuthInfos[entry]; u != nil {
		bare := clientcmdapi.AuthInfo{Token: u.Token, LocationOfOrigin: u.LocationOfOrigin, Extensions: u.Extensions}
		if !reflect.DeepEqual(*u, bare) {
			return fmt.Errorf("it has a user %q that this command did not write", entry)
		}
	}
	if c := config.Contexts[entry]; c != nil && (c.Cluster != entry || c.AuthInfo != entry) {
		return fmt.Errorf("it has a context %q that this command did not write, of the cluster %q", entry, c.Cluster)
	}
	return nil
}
