//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/informersim/informersim/cmd/internal/cli"
)

// Clients that keep a server waiting do not hold up its end: it does not come by the timeout, which would say so.
func TestSIGTERMWaitsForNoClient(t *testing.T) {
	for name, sent := range map[string]string{
		"nothing":       "",
		"half a header": "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: localhost\r\n",
		"half a body":   "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n" + `{"apiVersion":"v1",`,
	} {
		t.Run(name, func(t *testing.T) {
			p := serveIn(t)
			c, err := net.Dial("tcp", strings.TrimPrefix(p.root, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.WriteString(c, sent); err != nil {
				t.Fatal(err)
			}
			p.want(200, "", "GET", "/version", "") // by now the server has the first bytes
			p.ends(syscall.SIGTERM)
		})
	}
	t.Run("watch that is not read", func(t *testing.T) {
		p := serveIn(t)
		c, err := net.Dial("tcp", strings.TrimPrefix(p.root, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
		for i := range 20 { // more than the buffers of a connection hold
			p.want(201, "", "POST", "/api/v1/namespaces/default/configmaps", fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m-%d"},"data":{"k":%q}}`, i, strings.Repeat("x", 1<<20)))
		}
		p.ends(syscall.SIGTERM)
	})
}

// ends checks that the server ends well after a signal, without its timeout.
func (p *serving) ends(signal syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			p.t.Errorf("the server ended with %v: %s", err, p.stderr)
		}
	case <-time.After(10 * shutdownTimeout):
		p.t.Fatal("the server does not end")
	}
	if p.stderr.Len() > 0 {
		p.t.Errorf("the server says %s", p.stderr)
	}
}

// Ctrl-C ends the wait for a FIFO that nobody writes to.
func TestInterruptEndsWaitForFIFO(t *testing.T) {
	inTemp(t, nil)
	if err := syscall.Mkfifo("./fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--load", "--crd", "--token-file", "--fault-mix"} {
		ctx, cancel := context.WithCancel(t.Context())
		var stdout, stderr bytes.Buffer
		ended := make(chan int, 1)
		go func() { ended <- run(ctx, []string{"serve", flag, "./fifo"}, &stdout, &stderr) }()
		time.Sleep(100 * time.Millisecond) // an end before the wait is easier
		cancel()
		select {
		case code := <-ended:
			if code != cli.Interrupted {
				t.Errorf("%s: exit code %d: %s", flag, code, &stderr)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: Ctrl-C does not end the wait", flag)
		}
	}
}
