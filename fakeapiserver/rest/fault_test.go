package rest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/fakeapiserver"
	kinds "github.com/informersim/informersim/fakeapiserver/builtin"
	"github.com/informersim/informersim/fakeapiserver/fault"
	fakerest "github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/sim"
)

// faulty is a clientset over a cluster into which faults can be injected.
type faulty struct {
	*kubernetes.Clientset
	t       *testing.T
	cluster *fakeapiserver.Cluster
	pump    *transport.Pump
}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	return newFaultyOf(t, kinds.Resources(kinds.Options{}), nil)
}

func newFaultyOf(t *testing.T, resources []*types.Resource, panicked func(r *transport.Request, value any, stack []byte)) *faulty {
	t.Helper()
	k := sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewFIFO()})
	cluster := fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{})
	reg := types.NewRegistry()
	if err := reg.Add(resources...); err != nil {
		t.Fatal(err)
	}
	api, err := fakerest.New(fakerest.Options{Cluster: cluster, Types: reg})
	if err != nil {
		t.Fatal(err)
	}
	pump := transport.NewPump(k, func(err error) { t.Error(err) })
	t.Cleanup(pump.Stop)
	c, err := kubernetes.NewForConfig(&rest.Config{
		Host: "http://sim", QPS: -1, Transport: &transport.RoundTripper{Driver: pump, API: api, Panicked: panicked},
		ContentConfig: rest.ContentConfig{ContentType: "application/json"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &faulty{Clientset: c, t: t, cluster: cluster, pump: pump}
}

func (f *faulty) inject(fault fault.Fault) {
	f.t.Helper()
	f.pump.Do(func() {
		if err := f.cluster.Inject(fault); err != nil {
			f.t.Error(err)
		}
	})
}

func (f *faulty) create(ctx context.Context, name string) error {
	_, err := f.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return err
}

// Through client-go, a watch fault looks as it does in process.
func TestWatchFaultsThroughClientGo(t *testing.T) {
	for kind, want := range map[fault.Kind]string{
		fault.WatchClose:      "closed",
		fault.WatchSlow:       "closed",
		fault.WatchEOF:        "closed",
		fault.WatchReset:      "closed",
		fault.Watch410:        "ERROR 410 Expired closed",
		fault.Watch500:        "ERROR 500 InternalError closed",
		fault.WatchEOFInFrame: "closed",
		fault.WatchCutLength:  "closed",
		fault.WatchGarbage:    "ERROR 500 InternalError closed",
		fault.WatchDrop:       "ADDED b ADDED last",
		fault.WatchDuplicate:  "ADDED a ADDED a ADDED b ADDED last",
		fault.WatchReorder:    "ADDED b ADDED a ADDED last",
	} {
		t.Run(string(kind), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			f := newFaulty(t)
			w, err := f.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			f.inject(fault.Fault{Kind: kind})
			for _, name := range []string{"a", "b", "last"} {
				if err := f.create(ctx, name); err != nil {
					t.Fatal(err)
				}
			}
			got := ""
			for e := range w.ResultChan() {
				if got != "" {
					got += " "
				}
				got += string(e.Type)
				if e.Type == watch.Error {
					st := e.Object.(*metav1.Status)
					got += fmt.Sprintf(" %d %s", st.Code, st.Reason)
				} else if name := e.Object.(*corev1.ConfigMap).Name; name == "last" {
					got += " last"
					break
				} else {
					got += " " + name
				}
			}
			if len(got) < 4 || got[len(got)-4:] != "last" {
				if got != "" {
					got += " "
				}
				got += "closed"
			}
			if got != want {
				t.Errorf("the client saw %q, want %q", got, want)
			}
		})
	}
}

// The same holds for request faults.
func TestRequestFaultsThroughClientGo(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for kind, is := range map[fault.Kind]func(error) bool{
		fault.Write500: apierrors.IsInternalError, fault.Write503: apierrors.IsServiceUnavailable,
		fault.Write504: apierrors.IsTimeout, fault.WriteReset: utilnet.IsConnectionReset,
		fault.WriteRefused: utilnet.IsConnectionRefused, fault.WriteResetHeaders: utilnet.IsConnectionReset,
	} {
		f := newFaulty(t)
		// One more than client-go retries.
		f.inject(fault.Fault{Kind: kind, Count: 11})
		err := f.create(ctx, "a")
		if !is(err) {
			t.Errorf("%s: %v", kind, err)
		}
		_, err = f.CoreV1().ConfigMaps("default").Get(ctx, "a", metav1.GetOptions{})
		if made := err == nil; made != (kind == fault.WriteResetHeaders) {
			t.Errorf("%s: committed %v: %v", kind, made, err)
		}
	}
	for kind, is := range map[fault.Kind]func(error) bool{
		fault.List500: apierrors.IsInternalError, fault.List503: apierrors.IsServiceUnavailable,
		fault.ListRefused: utilnet.IsConnectionRefused, fault.List504: apierrors.IsTimeout,
	} {
		f := newFaulty(t)
		f.inject(fault.Fault{Kind: kind, Count: 11})
		if _, err := f.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{}); !is(err) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for kind, is := range map[fault.Kind]func(error) bool{
		fault.WatchOpen500: apierrors.IsInternalError, fault.WatchOpen503: apierrors.IsServiceUnavailable,
		fault.WatchOpenRefused: utilnet.IsConnectionRefused,
	} {
		f := newFaulty(t)
		f.inject(fault.Fault{Kind: kind, Count: 11})
		if _, err := f.CoreV1().ConfigMaps("").Watch(ctx, metav1.ListOptions{}); !is(err) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
