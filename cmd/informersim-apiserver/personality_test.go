package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	"github.com/informersim/informersim/cmd/internal/assets"
	"github.com/informersim/informersim/cmd/internal/cli"
)

// programs writes what `informersim assets` writes, with this test's program as the server.
func programs(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := assets.Write(filepath.Join(t.TempDir(), "assets"), self)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// program is one of them with its arguments.
func program(t *testing.T, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, name), args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	return cmd
}

// plane is a control plane like that of envtest: a folder of certificates, and the programs that run.
type plane struct {
	t         testing.TB
	dir, root string
	authority *x509.Certificate
	key       *ecdsa.PrivateKey
	stderr    bytes.Buffer
	api       *exec.Cmd
}

// newPlane writes the files of a control plane.
func newPlane(t testing.TB) *plane {
	t.Helper()
	p := &plane{t: t, dir: t.TempDir()}
	var err error
	if p.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	if p.authority, err = cert.NewSelfSignedCACert(cert.Config{CommonName: "envtest-environment"}, p.key); err != nil {
		t.Fatal(err)
	}
	p.sign("apiserver", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	ca, err := cert.EncodeCertificates(p.authority)
	if err != nil {
		t.Fatal(err)
	}
	p.write("client-cert-auth-ca.crt", ca)
	p.write("tokens.csv", []byte("sesame,ali,1,\"thieves,others\"\n"))
	return p
}

// startPlane starts a kube-apiserver with the flags that envtest passes, and waits for it as envtest does.
func startPlane(t *testing.T, dir string, environment ...string) *plane {
	t.Helper()
	p := newPlane(t)
	p.api = program(t, dir, "kube-apiserver", "--allow-privileged=true", "--authorization-mode=RBAC", "--bind-address=127.0.0.1", "--cert-dir="+p.dir,
		"--client-ca-file="+filepath.Join(p.dir, "client-cert-auth-ca.crt"), "--disable-admission-plugins=ServiceAccount", "--etcd-servers=http://127.0.0.1:1",
		"--secure-port=0", "--service-account-issuer=https://127.0.0.1:0/", "--service-account-key-file="+filepath.Join(p.dir, "sa-signer.crt"),
		"--service-account-signing-key-file="+filepath.Join(p.dir, "sa-signer.key"), "--service-cluster-ip-range=10.0.0.0/24",
		"--token-auth-file="+filepath.Join(p.dir, "tokens.csv"), "--feature_gates=A=true")
	p.api.Env = append(p.api.Env, environment...)
	p.api.Stderr = &p.stderr
	p.root = servingOn(t, p.api)
	return p
}

// servingOn starts a program and returns the address that it prints.
func servingOn(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 0, 100)
	for b := make([]byte, 1); !bytes.HasSuffix(line, []byte("\n")); line = append(line, b[0]) {
		if _, err := out.Read(b); err != nil {
			t.Fatalf("%s ended: %v, %s", cmd.Args[0], cmd.Wait(), cmd.Stderr)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	root, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "serving on ")
	if !ok {
		t.Fatalf("%s prints %q", cmd.Args[0], line)
	}
	return root
}

// stopped sends the signal that envtest sends, after which a program ends well.
func stopped(t *testing.T, cmd *exec.Cmd, with os.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(with); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%s ended with %v", cmd.Args[0], err)
	}
}

func (p *plane) write(name string, data []byte) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), data, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// sign writes NAME.crt and NAME.key, and returns what is in them.
func (p *plane) sign(name string, template *x509.Certificate) (certificate, key []byte) {
	p.t.Helper()
	template.SerialNumber, template.NotAfter = big.NewInt(2), time.Now().Add(time.Hour)
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, p.authority, private.Public(), p.key)
	if err != nil {
		p.t.Fatal(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		p.t.Fatal(err)
	}
	if certificate, err = cert.EncodeCertificates(signed); err != nil {
		p.t.Fatal(err)
	}
	if key, err = keyutil.MarshalPrivateKeyToPEM(private); err != nil {
		p.t.Fatal(err)
	}
	p.write(name+".crt", certificate)
	p.write(name+".key", key)
	return certificate, key
}

// client returns a client that trusts the server, and proves what the configuration adds.
func (p *plane) client(config rest.Config) kubernetes.Interface {
	p.t.Helper()
	ca, err := cert.EncodeCertificates(p.authority)
	if err != nil {
		p.t.Fatal(err)
	}
	config.Host, config.CAData = p.root, ca
	c, err := kubernetes.NewForConfig(&config)
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

func (p *plane) admin() kubernetes.Interface {
	certificate, key := p.sign("admin", &x509.Certificate{
		Subject: pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return p.client(rest.Config{TLSClientConfig: rest.TLSClientConfig{CertData: certificate, KeyData: key}})
}

// What envtest does with its programs: it looks for flags in their help, starts them with its flags, asks whether they are healthy, and
// hands out certificates. Several planes at once know nothing of each other.
func TestKubeAPIServerOfEnvtest(t *testing.T) {
	t.Parallel()
	dir := programs(t)
	a, b := startPlane(t, dir), startPlane(t, dir)
	probe := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for _, path := range []string{"/healthz", "/readyz", "/livez"} {
		resp, err := probe.Get(a.root + path)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != 200 {
			t.Errorf("GET %s: %s", path, resp.Status)
		}
	}
	ctx := t.Context()
	admin := a.admin()
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m", Namespace: "default"}}
	if _, err := admin.CoreV1().ConfigMaps("default").Create(ctx, m, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ali := a.client(rest.Config{BearerToken: "sesame"}).CoreV1().ConfigMaps("default")
	if _, err := ali.Get(ctx, "m", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("with a token, and without a role: %v", err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "thieves"}, Subjects: []rbacv1.Subject{{Kind: rbacv1.GroupKind, Name: "thieves"}},
		RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "cluster-admin"},
	}
	if _, err := admin.RbacV1().RoleBindings("default").Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := ali.Get(ctx, "m", metav1.GetOptions{}); err != nil {
		t.Errorf("with a token and a role: %v", err)
	}
	if _, err := a.client(rest.Config{BearerToken: "barley"}).CoreV1().ConfigMaps("default").Get(ctx, "m", metav1.GetOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("with a wrong token: %v", err)
	}
	if _, err := a.client(rest.Config{}).CoreV1().ConfigMaps("default").Get(ctx, "m", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("with nothing: %v", err)
	}
	if _, err := b.admin().CoreV1().ConfigMaps("default").Get(ctx, "m", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("in another plane: %v", err)
	}
	watch, err := admin.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stopped(t, a.api, syscall.SIGTERM) // with a watch open
	for range watch.ResultChan() {
	}
	stopped(t, b.api, os.Interrupt)
	if a.stderr.Len() > 0 {
		t.Errorf("it says %s", &a.stderr)
	}
}

// The environment adds what a kube-apiserver has no flags for.
func TestKubeAPIServerWithFaults(t *testing.T) {
	t.Parallel()
	dir := programs(t)
	p := startPlane(t, dir, mixEnv+"=storm", seedEnv+"=7", controllersEnv+"=namespace,garbage-collector")
	admin := p.admin()
	failed := 0
	for i := range 300 {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("m", i), Namespace: "default"}}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // some answers never come
		if _, err := admin.CoreV1().ConfigMaps("default").Create(ctx, m, metav1.CreateOptions{}); err != nil {
			failed++
		}
		cancel()
		if failed > 2 {
			break
		}
	}
	if failed == 0 {
		t.Error("no request of 300 failed")
	}
	stopped(t, p.api, syscall.SIGTERM)
	const want = "informersim: controllers namespace, garbage-collector run\ninformersim: requests and watches meet the faults of mix storm, seed 7\n"
	if p.stderr.String() != want {
		t.Errorf("it says %s", &p.stderr)
	}
}

func TestEtcdOfEnvtest(t *testing.T) {
	t.Parallel()
	etcd := program(t, programs(t), "etcd", "--advertise-client-urls=http://127.0.0.1:0", "--data-dir=/nowhere", "--listen-client-urls=http://127.0.0.1:0",
		"--listen-peer-urls=http://127.0.0.1:0", "--unsafe-no-fsync=true")
	root := servingOn(t, etcd)
	for path, want := range map[string]int{"/health": 200, "/version": 200, "/v3/kv/range": 404} { // order: each is checked by itself
		resp, err := http.Get(root + path)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != want {
			t.Errorf("GET %s: %s", path, resp.Status)
		}
	}
	stopped(t, etcd, syscall.SIGTERM)
}

// envtest looks for a flag at the beginning of a line of the help.
func TestHelpOfPersonalities(t *testing.T) {
	for name, flags := range map[string]map[string]bool{ // order: each is checked by itself
		"kube-apiserver": {"insecure-port": false, "secure-port": true, "etcd-servers": true, "service-account-signing-key-file": true, "v": true},
		"etcd":           {"unsafe-no-fsync": true, "data-dir": true, "fsync": false},
	} {
		var out, stderr bytes.Buffer
		if code := runAs(t.Context(), "/a/"+name, []string{"--help"}, &out, &stderr); code != cli.OK || stderr.Len() > 0 {
			t.Fatalf("%s --help: %d, %s", name, code, &stderr)
		}
		for flag, want := range flags { // order: each is checked by itself
			if got := regexp.MustCompile(`(?m)^\s*--` + flag + `\b`).Match(out.Bytes()); got != want {
				t.Errorf("%s --help shows --%s: %v\n%s", name, flag, got, &out)
			}
		}
	}
}

// A wrong command line is refused with a sentence.
func TestPersonalitiesRefuse(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("empty", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const etcd = "--etcd-servers=http://127.0.0.1:1"
	for _, tt := range []struct{ line, environment, want string }{
		{"kube-apiserver", "", "--etcd-servers must be specified"},
		{"kube-apiserver --insecure-port=0 " + etcd, "", "unknown flag: --insecure-port"},
		{"kube-apiserver extra " + etcd, "", `unknown command "extra" for "kube-apiserver"`},
		{"kube-apiserver --bind-address=x " + etcd, "", `--bind-address "x" is not an IP address`},
		{"kube-apiserver --secure-port=70000 " + etcd, "", "--secure-port 70000 is not a port: 0 to 65535"},
		{"kube-apiserver --client-ca-file=none " + etcd, "", "--client-ca-file: open none: "},
		{"kube-apiserver --client-ca-file=empty " + etcd, "", "--client-ca-file: empty has no certificate in it: PEM is expected"},
		{"kube-apiserver --token-auth-file=none " + etcd, "", "--token-auth-file: none: open none: "},
		{"kube-apiserver --tls-cert-file=empty " + etcd, "", "--tls-cert-file and --tls-private-key-file must be given together"},
		{"kube-apiserver --tls-cert-file=empty --tls-private-key-file=empty " + etcd, "", "the certificate in empty and its key in empty cannot be used: "},
		{"kube-apiserver --authorization-mode=Node,rbac " + etcd, "", `--authorization-mode names "rbac", which is no mode: write one or more of AlwaysAllow, AlwaysDeny, Node, RBAC`},
		{"kube-apiserver --authorization-mode=Webhook " + etcd, "", "--authorization-mode names Webhook, which asks a file or another server and is not there"},
		{"kube-apiserver " + etcd, mixEnv + "=strom", mixEnv + ": "},
		{"kube-apiserver " + etcd, seedEnv + "=x", seedEnv + `: "x" is not a seed: write a whole number from 0`},
		{"kube-apiserver " + etcd, controllersEnv + "=x", controllersEnv + `: there is no controller "x": there are namespace, garbage-collector, serviceaccount, deployment, `},
		{"etcd --listen-client-urls=unix://x", "", `--listen-client-urls: "unix://x" is not a URL to listen on: write it like http://127.0.0.1:2379`},
		{"etcd --listen-client-urls=https://127.0.0.1:0", "", "needs a certificate: give --cert-file and --key-file"},
		{"etcd --listen-peers=1", "", "unknown flag: --listen-peers"},
	} {
		name, value, _ := strings.Cut(tt.environment, "=")
		if name != "" {
			t.Setenv(name, value)
		}
		words := strings.Fields(tt.line)
		var out, stderr bytes.Buffer
		if code := runAs(t.Context(), words[0], words[1:], &out, &stderr); code != cli.BadInput || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("%s %s: %d, %s; want %s", tt.environment, tt.line, code, &stderr, tt.want)
		}
		if name != "" {
			t.Setenv(name, "")
		}
	}
}

// serve --tls writes a kubeconfig with which clients check whom they talk to.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	kubeconfig := filepath.Join(t.TempDir(), "kc")
	for range 2 { // the second start replaces the entries of the first
		p := serveIn(t, "--tls", "--kubeconfig", kubeconfig, "--token", "secret")
		if !strings.HasPrefix(p.root, "https://127.0.0.1:") {
			t.Errorf("it serves on %s", p.root)
		}
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			t.Fatal(err)
		}
		if config.Insecure || len(config.CAData) == 0 || config.BearerToken != "secret" {
			t.Errorf("the kubeconfig is %+v", config)
		}
		c, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Error(err)
		}
		p.interrupt()
	}
}
