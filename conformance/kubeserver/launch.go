package kubeserver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/pflag"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"

	"github.com/informersim/informersim/conformance/realserver"
)

// User sends the requests that carry no credentials; being in Group makes him an administrator.
const (
	User  = "admin"
	Group = "system:masters"
)

// quietPeriod is that of writes by which a server only says that it is alive; they would come between a probe's.
const quietPeriod = 24 * time.Hour

// NoCRDs is a manifest without definitions: a fresh cluster has none.
const NoCRDs = "\n"

// Bootstrap are paths of objects that a server makes late.
var Bootstrap = []string{
	"/api/v1/namespaces/default",
	"/api/v1/namespaces/kube-node-lease",
	"/api/v1/namespaces/default/services/kubernetes",
	"/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node",
	"/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical",
	"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/catch-all",
	"/apis/networking.k8s.io/v1/servicecidrs/kubernetes",
	"/apis/apiregistration.k8s.io/v1/apiservices/v1.apps",
}

// flags are those with which envtest starts a kube-apiserver, so that a pod can be created where no controller makes
// service accounts, and those that silence it: it registers no endpoint, since it has no address but loopback.
var flags = []string{
	"--allow-privileged=true",
	"--authorization-mode=Node,RBAC",
	"--disable-admission-plugins=ServiceAccount",
	"--service-cluster-ip-range=10.0.0.0/24",
	"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
	"--endpoint-reconciler-type=none",
	// Only Server.Compact compacts, so that a slow run answers like a fast one.
	"--etcd-compaction-interval=0",
	"--etcd-count-metric-poll-period=0",
}

// features turns off what lets servers of several versions find each other by a lease that each renews every ten seconds.
const features = "UnknownVersionInteroperabilityProxy=false"

// Launch is a realserver.Launcher.
func Launch(ctx context.Context, etcdURL, dir string) (*realserver.Process, error) {
	return start(ctx, etcdURL, dir, nil)
}

// With returns a Launcher that starts the server with more flags.
func With(more ...string) realserver.Launcher {
	return func(ctx context.Context, etcdURL, dir string) (*realserver.Process, error) {
		return start(ctx, etcdURL, dir, more)
	}
}

func start(ctx context.Context, etcdURL, dir string, more []string) (*realserver.Process, error) {
	// Warnings to the server's own clients are no concern of a probe's.
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	controlplaneapiserver.IdentityLeaseRenewIntervalPeriod = quietPeriod
	controlplaneapiserver.IdentityLeaseDurationSeconds = int(quietPeriod / time.Second)
	o, token, err := serverOptions(etcdURL, dir, more)
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p, err := launch(running, o)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("build the kube-apiserver: %w", err)
	}
	p.Cancel, p.Handler = cancel, asAdministrator(p.Handler, token)
	return p, nil
}

// launch builds the chain of servers as kube-apiserver's command does, and runs it.
func launch(ctx context.Context, o *options.ServerRunOptions) (*realserver.Process, error) {
	completed, err := o.Complete(ctx)
	if err != nil {
		return nil, err
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return nil, utilerrors.NewAggregate(errs)
	}
	config, err := app.NewConfig(completed)
	if err != nil {
		return nil, err
	}
	complete, err := config.Complete()
	if err != nil {
		return nil, err
	}
	chain, err := app.CreateServerChain(complete)
	if err != nil {
		return nil, err
	}
	prepared, err := chain.PrepareRun()
	if err != nil {
		return nil, err
	}
	p := &realserver.Process{Handler: chain.GenericAPIServer.Handler, Ended: make(chan error, 1)}
	go func() { p.Ended <- prepared.Run(ctx) }()
	return p, nil
}

// serverOptions are those of a kube-apiserver over an etcd, with its files in dir, and an administrator's token.
func serverOptions(etcdURL, dir string, more []string) (*options.ServerRunOptions, string, error) {
	if err := utilfeature.DefaultMutableFeatureGate.Set(features); err != nil {
		return nil, "", fmt.Errorf("set the kube-apiserver's features: %w", err)
	}
	o := options.NewServerRunOptions()
	// Several servers of a process must not share a registry: each adds its flags' values to it.
	gates := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	registry := basecompatibility.NewComponentGlobalsRegistry()
	version := compatibility.DefaultKubeEffectiveVersionForTest()
	if err := registry.Register(basecompatibility.DefaultKubeComponent, version, gates); err != nil {
		return nil, "", fmt.Errorf("register the kube-apiserver's features: %w", err)
	}
	o.GenericServerRunOptions.ComponentGlobalsRegistry = registry
	set := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, named := range o.Flags().FlagSets {
		set.AddFlagSet(named)
	}
	key, tokens, token, err := credentials(dir)
	if err != nil {
		return nil, "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", fmt.Errorf("listen on loopback: %w", err)
	}
	address := listener.Addr().(*net.TCPAddr)
	o.SecureServing.Listener, o.SecureServing.BindPort, o.SecureServing.ExternalAddress = listener, address.Port, address.IP
	err = set.Parse(slices.Concat(flags, more, []string{
		"--etcd-servers=" + etcdURL,
		"--cert-dir=" + filepath.Join(dir, "certs"),
		"--token-auth-file=" + tokens,
		"--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key,
	}))
	if err == nil {
		err = registry.Set()
	}
	if err != nil {
		listener.Close()
		return nil, "", fmt.Errorf("set the kube-apiserver's flags: %w", err)
	}
	return o, token, nil
}

// credentials writes a key that signs the tokens of service accounts, unless an earlier process did, and a file with an
// administrator's token.
func credentials(dir string) (key, tokens, token string, err error) {
	key, tokens = filepath.Join(dir, "service-accounts.key"), filepath.Join(dir, "tokens.csv")
	if _, err := os.Stat(key); err != nil {
		signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return "", "", "", fmt.Errorf("make the key of service accounts: %w", err)
		}
		encoded, err := keyutil.MarshalPrivateKeyToPEM(signer)
		if err == nil {
			err = os.WriteFile(key, encoded, 0o600)
		}
		if err != nil {
			return "", "", "", fmt.Errorf("write the key of service accounts: %w", err)
		}
	}
	random := make([]byte, 16)
	rand.Read(random)
	token = hex.EncodeToString(random)
	line := fmt.Sprintf("%s,%s,,%q\n", token, User, Group)
	if err := os.WriteFile(tokens, []byte(line), 0o600); err != nil {
		return "", "", "", fmt.Errorf("write the administrator's token: %w", err)
	}
	return key, tokens, token, nil
}

// asAdministrator gives requests without credentials the administrator's.
func asAdministrator(next http.Handler, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		next.ServeHTTP(w, r)
	})
}
