package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// benchAssets names a folder with other programs to start, a real kube-apiserver and etcd for example.
const benchAssets = "INFORMERSIM_BENCH_ASSETS"

// BenchmarkStart starts the programs that envtest starts, one after the other, each until it is ready, and stops them. It reports
// the processor time that they have taken, which other load hardly changes, and what the apiserver has in memory when it is ready (resident, Linux only).
func BenchmarkStart(b *testing.B) {
	dir := os.Getenv(benchAssets)
	if dir == "" {
		self, err := os.Executable()
		if err != nil {
			b.Fatal(err)
		}
		b.Setenv(asCommand, "1")
		dir = b.TempDir()
		for _, name := range []string{"kube-apiserver", "etcd"} {
			if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
				b.Fatal(err)
			}
		}
	}
	p := newPlane(b)
	p.sign("sa-signer", &x509.Certificate{})
	var memory int64
	var cpu time.Duration
	for b.Loop() {
		data := b.TempDir()
		etcdURL, peerURL := "http://"+unusedAddress(b), "http://"+unusedAddress(b)
		etcd := exec.Command(filepath.Join(dir, "etcd"), "--advertise-client-urls="+etcdURL, "--data-dir="+data, "--listen-client-urls="+etcdURL,
			"--listen-peer-urls="+peerURL, "--unsafe-no-fsync=true")
		begin(b, etcd, etcdURL+"/health")
		address := unusedAddress(b)
		_, port, _ := net.SplitHostPort(address)
		api := exec.Command(filepath.Join(dir, "kube-apiserver"), "--allow-privileged=true", "--authorization-mode=RBAC", "--bind-address=127.0.0.1",
			"--cert-dir="+p.dir, "--client-ca-file="+filepath.Join(p.dir, "client-cert-auth-ca.crt"), "--disable-admission-plugins=ServiceAccount",
			"--etcd-servers="+etcdURL, "--secure-port="+port, "--service-account-issuer=https://"+address+"/",
			"--service-account-key-file="+filepath.Join(p.dir, "sa-signer.crt"), "--service-account-signing-key-file="+filepath.Join(p.dir, "sa-signer.key"),
			"--service-cluster-ip-range=10.0.0.0/24")
		begin(b, api, "https://"+address+"/readyz")
		b.StopTimer()
		memory = max(memory, resident(api.Process.Pid))
		for _, cmd := range []*exec.Cmd{api, etcd} {
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				b.Fatal(err)
			}
			_ = cmd.Wait() // a real etcd ends by the signal
			cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "cpu-ms/op")
	if memory > 0 {
		b.ReportMetric(float64(memory)/(1<<20), "resident-MB")
	}
}

// begin starts a program and waits until it answers.
func begin(b *testing.B, cmd *exec.Cmd, url string) {
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	for range 60_000 {
		if resp, err := client.Get(url); err == nil {
			if resp.Body.Close(); resp.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
	b.Fatalf("%s does not answer", cmd)
}

// unusedAddress returns an address that nobody listens on.
func unusedAddress(b *testing.B) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// resident returns the memory of a process in bytes, 0 if the system does not say.
func resident(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	var kilobytes int64
	_, _ = fmt.Sscan(rest, &kilobytes) // 0 if there is none
	return kilobytes << 10
}
