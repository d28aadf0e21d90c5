package rest_test

import (
	"fmt"
	"testing"

	fakerest "github.com/informersim/informersim/fakeapiserver/rest"

	"github.com/informersim/informersim/fakeapiserver/quotas"
)

// A write costs the same, however many other namespaces have quotas: BenchmarkWriteBesideQuotas/none is a server that knows of no quotas.
func BenchmarkWriteBesideQuotas(b *testing.B) {
	run := func(name string, elsewhere int, edit ...func(*fakerest.Options)) {
		b.Run(name, func(b *testing.B) {
			s := newBenchServer(b, edit...)
			for i := range elsewhere {
				s.drain(s.send("POST", fmt.Sprintf("/api/v1/namespaces/n-%d/resourcequotas", i), "application/json", "application/json",
					`{"metadata":{"name":"q"},"spec":{"hard":{"configmaps":"5","pods":"5","requests.cpu":"5"}}}`))
			}
			const path = "/api/v1/namespaces/default/configmaps"
			s.drain(s.send("POST", path, "application/json", "application/json", `{"metadata":{"name":"m"}}`))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.drain(s.send("PUT", path+"/m", "application/json", "application/json", fmt.Sprintf(`{"metadata":{"name":"m"},"data":{"i":"%d"}}`, i)))
			}
		})
	}
	limits, err := quotas.New()
	if err != nil {
		b.Fatal(err)
	}
	limited := func(o *fakerest.Options) { o.Quotas = limits }
	run("none", 0)
	for _, n := range []int{0, 1, 200} {
		run(fmt.Sprint("elsewhere=", n), n, limited)
	}
}
