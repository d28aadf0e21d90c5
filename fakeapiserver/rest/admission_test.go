package rest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	clientrest "k8s.io/client-go/rest"

	"github.com/informersim/informersim/fakeapiserver"
	kinds "github.com/informersim/informersim/fakeapiserver/builtin"
	fakerest "github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/sim"
)

// counting is an Admission that lets everything pass, and counts how often it is asked for its opinion.
type counting struct {
	asks  bool
	begun int
}

func (c *counting) Asks() bool { return c.asks }

func (c *counting) Begin(fakerest.AdmissionWrite) fakerest.AdmissionReview {
	c.begun++
	return nil
}

// As long as nobody may be asked, no write is computed for the sake of describing it.
func TestNobodyIsAsked(t *testing.T) {
	admission := &counting{}
	k := sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewFIFO()})
	reg := types.NewRegistry()
	if err := reg.Add(kinds.Resources(kinds.Options{})...); err != nil {
		t.Fatal(err)
	}
	api, err := fakerest.New(fakerest.Options{Cluster: fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{}), Types: reg, Admission: admission})
	if err != nil {
		t.Fatal(err)
	}
	pump := transport.NewPump(k, func(err error) { t.Error(err) })
	t.Cleanup(pump.Stop)
	client, err := kubernetes.NewForConfig(&clientrest.Config{Host: "http://sim", QPS: -1, Transport: &transport.RoundTripper{Driver: pump, API: api}})
	if err != nil {
		t.Fatal(err)
	}
	maps, ctx := client.CoreV1().ConfigMaps("default"), t.Context()
	write := func() {
		t.Helper()
		m, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m"}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m.Data = map[string]string{"a": "1"}
		if _, err := maps.Update(ctx, m, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := maps.Patch(ctx, "m", apitypes.MergePatchType, []byte(`{"data":{"b":"2"}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	write()
	if admission.begun != 0 {
		t.Errorf("%d reviews of writes that nobody is asked about", admission.begun)
	}
	admission.asks = true
	if write(); admission.begun != 4 {
		t.Errorf("%d reviews of four writes", admission.begun)
	}
}
