package simtest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

const configMapsURL = "http://sim/api/v1/namespaces/default/configmaps"

// rawClient is a client without client-go's retries.
func rawClient(t *testing.T, env *simtest.Env, timeout time.Duration) *http.Client {
	config := env.RESTConfig("raw")
	config.Timeout = timeout
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// read makes a request and reads its answer to the end.
func read(c *http.Client, method, url, body string) error {
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// client-go decides by an error's type what to do about a broken connection: each way of breaking has the error that a socket would have.
func TestBrokenConnectionsHaveTheirTypes(t *testing.T) {
	eof := func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) && utilnet.IsProbableEOF(err) }
	reset := func(err error) bool { return errors.Is(err, syscall.ECONNRESET) && utilnet.IsConnectionReset(err) }
	refused := func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) && utilnet.IsConnectionRefused(err) }
	// What newer releases call IsHTTP2ConnectionLost.
	lost := func(err error) bool {
		return err != nil && strings.Contains(err.Error(), "http2: client connection lost")
	}
	for kind, is := range map[fault.Kind]func(error) bool{
		fault.ListLost: eof, fault.ListReset: reset, fault.ListRefused: refused, fault.ListResetHeaders: reset,
		fault.WriteLost: eof, fault.WriteReset: reset, fault.WriteRefused: refused, fault.WriteResetHeaders: reset,
		fault.WatchOpenLost: eof, fault.WatchOpenRefused: refused, fault.WatchOpenResetHeader: reset,
		fault.WatchEOF: eof, fault.WatchReset: reset, fault.WatchHalfOpen: lost,
		fault.WatchClose: func(err error) bool { return err == nil },
	} {
		t.Run(string(kind), func(t *testing.T) {
			simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
				c := rawClient(t, env, 0)
				env.Faults(fault.Fault{Kind: kind})
				var err error
				switch {
				case strings.HasPrefix(string(kind), "list"):
					err = read(c, http.MethodGet, configMapsURL, "")
				case strings.HasPrefix(string(kind), "write"):
					err = read(c, http.MethodPost, configMapsURL, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)
				default:
					err = read(c, http.MethodGet, configMapsURL+"?watch=1", "")
				}
				if !is(err) {
					t.Errorf("the error is %T: %v", err, err)
				}
				if err != nil && utilnet.IsTimeout(err) {
					t.Errorf("it is no timeout: %v", err)
				}
			})
		})
	}
}

// A client that gives up gets what net/http says of that.
func TestClientsThatGiveUp(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
		for name, url := range map[string]string{"an answer": configMapsURL, "a stream": configMapsURL + "?watch=1"} { // order: they are independent
			if name == "an answer" {
				env.Faults(fault.Fault{Kind: fault.ListSlow, Duration: time.Hour})
			}
			before := env.Now()
			err := read(rawClient(t, env, 5*time.Second), http.MethodGet, url, "")
			var timeout net.Error
			if !errors.As(err, &timeout) || !timeout.Timeout() || !utilnet.IsTimeout(err) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("waiting too long for %s: %T: %v", name, err, err)
			}
			if d := env.Now().Sub(before); d != 5*time.Second {
				t.Errorf("waiting for %s took %v", name, d)
			}
		}
		c := kubernetes.NewForConfigOrDie(env.RESTConfig("typed"))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		env.Faults(fault.Fault{Kind: fault.ListSlow, Duration: time.Hour})
		if _, err := c.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a list with a deadline: %T: %v", err, err)
		}
		ctx, cancel = context.WithCancel(context.Background())
		cancel()
		if _, err := c.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{}); !errors.Is(err, context.Canceled) {
			t.Errorf("a canceled list: %T: %v", err, err)
		}
	})
}
