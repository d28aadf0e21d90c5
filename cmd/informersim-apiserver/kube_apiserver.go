package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apiserver/pkg/authentication/token/tokenfile"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/faultmix"
	"github.com/informersim/informersim/cmd/internal/serveflags"
	"github.com/informersim/informersim/fakeapiserver/authentication"
	"github.com/informersim/informersim/fakeapiserver/authorization/modes"
	"github.com/informersim/informersim/fakeapiserver/discovery"
)

const kubeAPIServerName = "kube-apiserver"

// The environment of a kube-apiserver says what its flags cannot: the names are those of serve's flags.
const (
	mixEnv         = "INFORMERSIM_FAULT_MIX"
	seedEnv        = "INFORMERSIM_SEED"
	controllersEnv = "INFORMERSIM_CONTROLLERS"
)

// kubeAPIServer are the flags of a real kube-apiserver that mean something here.
type kubeAPIServer struct {
	bindAddress, certDir, certFile, keyFile string
	clientCA, tokenFile                     string
	securePort                              int
	anonymous                               bool
	authorization, etcd                     []string
	version                                 string
}

func newKubeAPIServerCommand() *cobra.Command {
	p := &kubeAPIServer{}
	c := &cobra.Command{
		Use:   kubeAPIServerName,
		Short: "The fake apiserver with the flags of a real one, for envtest",
		Long: `This kube-apiserver is informersim's: a fake apiserver that keeps everything in memory and needs no etcd. It takes the flags of a
real one. Those that are ignored say so.

A client must present a certificate that --client-ca-file has signed, or a token: one of --token-auth-file, or of a ServiceAccount. --authorization-mode says
what it may do then. One that presents neither is anonymous, and refused with AlwaysAllow.

In the environment, ` + mixEnv + ` names the faults that requests and watches meet (a mix or a file, as for informersim serve),
` + seedEnv + ` their seed, and ` + controllersEnv + ` the controllers to run, of which there are none otherwise: ` + strings.Join(serveflags.OwnControllers, ", ") + `;
and Kubernetes' own: ` + strings.Join(serveflags.KubernetesControllers, ", ") + `.`,
		Args: cli.Usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return p.run(c) },
	}
	p.flags(c.Flags())
	c.SetHelpFunc(func(c *cobra.Command, _ []string) { _ = help(c) }) // a reader that is gone needs no help
	return c
}

func (p *kubeAPIServer) flags(flags *pflag.FlagSet) {
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
	})
	flags.StringVar(&p.bindAddress, "bind-address", "127.0.0.1", "the `address` to listen on")
	flags.IntVar(&p.securePort, "secure-port", 6443, "the `port` to serve HTTPS on; 0 takes a free one")
	flags.StringVar(&p.certDir, "cert-dir", "/var/run/kubernetes", "the `folder` with apiserver.crt and apiserver.key; if they are not there, a certificate is made for this run")
	flags.StringVar(&p.certFile, "tls-cert-file", "", "the `file` with the certificate to serve with, in place of the one in --cert-dir")
	flags.StringVar(&p.keyFile, "tls-private-key-file", "", "the `file` with its key")
	flags.StringVar(&p.clientCA, "client-ca-file", "", "the `file` with the authorities that sign the certificates of clients")
	flags.StringVar(&p.tokenFile, "token-auth-file", "", "the `file` with tokens, as CSV: token, user, uid, groups")
	flags.BoolVar(&p.anonymous, "anonymous-auth", true, "let in clients that present nothing, as system:anonymous, unless they may do everything")
	flags.StringSliceVar(&p.authorization, "authorization-mode", []string{modes.AlwaysAllow}, "the `modes` that say who may do what, asked in this order: "+strings.Join(modes.All, ", "))
	flags.StringSliceVar(&p.etcd, "etcd-servers", nil, "must be given, as for a real server, and is not used")
	flags.StringVar(&p.version, "version", "", "print the version, and quit")
	flags.Lookup("version").NoOptDefVal = "true"
	ignored(flags, kubeAPIServerName)
}

func (p *kubeAPIServer) run(c *cobra.Command) error {
	if p.version != "" && p.version != "false" {
		_, err := fmt.Fprintf(c.OutOrStdout(), "Kubernetes %s\n", discovery.Version.GitVersion)
		return err
	}
	if len(p.etcd) == 0 {
		return errors.New("--etcd-servers must be specified")
	}
	if net.ParseIP(p.bindAddress) == nil {
		return fmt.Errorf("--bind-address %q is not an IP address", p.bindAddress)
	}
	if p.securePort < 0 || p.securePort > 65535 {
		return fmt.Errorf("--secure-port %d is not a port: 0 to 65535", p.securePort)
	}
	if err := modes.Check(p.authorization); err != nil {
		return fmt.Errorf("--authorization-mode %w", err)
	}
	s := server{Flags: &serveflags.Flags{
		Addr: net.JoinHostPort(p.bindAddress, strconv.Itoa(p.securePort)), Seed: 1, Replicas: 1, TLS: true,
		Authorization: p.authorization,
	}}
	if err := environment(c, s.Flags); err != nil {
		return err
	}
	options, err := p.authentication()
	if err != nil {
		return err
	}
	if s.tls, err = p.certificate(); err != nil {
		return err
	}
	if s.tls != nil && options.ClientCA != nil {
		s.tls.ClientAuth, s.tls.ClientCAs = tls.RequestClientCert, options.ClientCA
	}
	s.proof = &options
	return s.serve(c)
}

// environment reads what faults and controllers a run has, and says once if it has any.
func environment(c *cobra.Command, f *serveflags.Flags) error {
	if mix := os.Getenv(mixEnv); mix != "" {
		if _, err := faultmix.Load(c.Context(), mix); err != nil {
			return fmt.Errorf("%s: %w", mixEnv, err)
		}
		f.Mix = mix
	}
	if seed := os.Getenv(seedEnv); seed != "" {
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			return fmt.Errorf("%s: %q is not a seed: write a whole number from 0", seedEnv, seed)
		}
		f.Seed = n
	}
	if names := os.Getenv(controllersEnv); names != "" {
		f.Controllers = strings.Split(names, ",")
		if _, err := serveflags.Enabled(f.Controllers); err != nil {
			return fmt.Errorf("%s: %w", controllersEnv, err)
		}
		fmt.Fprintf(c.ErrOrStderr(), "informersim: controllers %s run\n", strings.Join(f.Controllers, ", "))
	}
	if f.Mix != "" {
		fmt.Fprintf(c.ErrOrStderr(), "informersim: requests and watches meet the faults of mix %s, seed %d\n", f.Mix, f.Seed)
	}
	return nil
}

// authentication reads the files that say who may come in.
func (p *kubeAPIServer) authentication() (authentication.Options, error) {
	// With AlwaysAllow, an anonymous client could do everything, so a real server then has none.
	o := authentication.Options{Anonymous: p.anonymous && !slices.Contains(p.authorization, modes.AlwaysAllow)}
	if p.clientCA != "" {
		data, err := os.ReadFile(p.clientCA)
		if err != nil {
			return o, fmt.Errorf("--client-ca-file: %w", err)
		}
		o.ClientCA = x509.NewCertPool()
		if !o.ClientCA.AppendCertsFromPEM(data) {
			return o, fmt.Errorf("--client-ca-file: %s has no certificate in it: PEM is expected", p.clientCA)
		}
	}
	if p.tokenFile != "" {
		tokens, err := tokenfile.NewCSV(p.tokenFile)
		if err != nil {
			return o, fmt.Errorf("--token-auth-file: %s: %w", p.tokenFile, err)
		}
		o.Token = tokens
	}
	return o, nil
}

// certificate loads the certificate to serve with, nil if there is none.
func (p *kubeAPIServer) certificate() (*tls.Config, error) {
	certFile, keyFile := p.certFile, p.keyFile
	switch {
	case (certFile == "") != (keyFile == ""):
		return nil, errors.New("--tls-cert-file and --tls-private-key-file must be given together")
	case certFile == "":
		certFile, keyFile = filepath.Join(p.certDir, "apiserver.crt"), filepath.Join(p.certDir, "apiserver.key")
		if _, err := os.Stat(certFile); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("the certificate in %s and its key in %s cannot be used: %w", certFile, keyFile, err)
	}
	return servedWith(pair), nil
}
