package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/conformance/bench"
	"github.com/informersim/informersim/conformance/realserver"
	"github.com/informersim/informersim/internal/probe/fake"
	"github.com/informersim/informersim/internal/probe/resources"
)

// benchSettings holds the flags of the bench command.
type benchSettings struct {
	*settings
	servers string
	short   bool
	fsync   bool
	results []measured
}

// measured is a result with the name of its server.
type measured struct {
	server string
	bench.Result
}

func benchCommand(s *settings) *cobra.Command {
	b := &benchSettings{settings: s}
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure a real and a fake apiserver in one run",
		Long: "Measure a real and a fake apiserver in one run.\n\nLines beginning with Benchmark are in the format of Go's benchmarks, " +
			"for benchstat. fake is served over a socket like the real one; process is the fake one through its http.RoundTripper, with the " +
			"same bytes; client is its in-process client, as simulated informers use it: objects, without bytes or per-kind rules.",
		Args: cobra.NoArgs,
		Example: `  go run . bench
  go run . bench --servers real --fsync
  go run . bench --short`,
		RunE: func(c *cobra.Command, _ []string) error { return b.main(c.Context()) },
	}
	f := c.Flags()
	f.StringVar(&b.servers, "servers", "real,fake,process,client", "servers to measure, in this order")
	f.BoolVar(&b.short, "short", false, "small numbers: a few seconds instead of minutes")
	f.BoolVar(&b.fsync, "fsync", false, "let the real server's etcd sync to disk")
	return c
}

func (b *benchSettings) main(ctx context.Context) error {
	sizes := bench.Full
	if b.short {
		sizes = bench.Short
	}
	names := strings.Split(b.servers, ",")
	for _, name := range names {
		if err := b.measure(ctx, name, sizes); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	b.table(names)
	return nil
}

// measure starts one server and measures it.
func (b *benchSettings) measure(ctx context.Context, name string, sizes bench.Sizes) error {
	began := time.Now()
	report := func(r bench.Result) {
		b.results = append(b.results, measured{name, r})
		fmt.Fprintf(b.out, "Benchmark%s/%s\n", strings.ToUpper(name[:1])+name[1:], r)
	}
	ready := func() {
		report(bench.Result{Name: "ready", Operations: 1, Duration: time.Since(began), Unit: "starts"})
	}
	if name == "client" {
		direct, err := bench.NewDirect()
		if err != nil {
			return err
		}
		ready()
		return direct.Suite(sizes, report)
	}
	server, stop, err := b.start(ctx, name)
	if err != nil {
		return err
	}
	defer stop()
	if _, err := server.Client.Get(server.Root + resources.GroupVersionPath + "/gizmos"); err != nil {
		return err
	}
	ready()
	return server.Suite(ctx, sizes, report)
}

// start starts a server by name.
func (b *benchSettings) start(ctx context.Context, name string) (bench.Server, func(), error) {
	plain := &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}}
	switch name {
	case "real":
		server, err := realserver.Start(ctx, realserver.Options{Fsync: b.fsync})
		if err != nil {
			return bench.Server{}, nil, err
		}
		return bench.Server{Root: server.URL, Client: plain}, server.Stop, nil
	case "fake":
		server, err := fake.Start()
		if err != nil {
			return bench.Server{}, nil, err
		}
		return bench.Server{Root: server.Root(), Client: plain}, server.Stop, nil
	case "process":
		server, err := fake.Start()
		if err != nil {
			return bench.Server{}, nil, err
		}
		client := &http.Client{Transport: server.RoundTripper()}
		return bench.Server{Root: "http://fake", Client: client}, server.Stop, nil
	}
	return bench.Server{}, nil, fmt.Errorf("unknown server: want real, fake, process or client")
}

// table prints the rates side by side, with the ratio of each to the first server's.
func (b *benchSettings) table(names []string) {
	var order []string
	rates := map[string]map[string]float64{}
	for _, r := range b.results {
		if !slices.Contains(order, r.Name) {
			order = append(order, r.Name)
			rates[r.Name] = map[string]float64{}
		}
		rates[r.Name][r.server] = r.PerSecond()
	}
	fmt.Fprintf(b.out, "\n%-24s", "per second")
	for _, name := range names {
		fmt.Fprintf(b.out, "%22s", name)
	}
	fmt.Fprintln(b.out)
	for _, measurement := range order {
		fmt.Fprintf(b.out, "%-24s", measurement)
		for i, name := range names {
			cell := fmt.Sprintf("%.1f", rates[measurement][name])
			if i > 0 {
				cell += fmt.Sprintf(" (×%.1f)", rates[measurement][name]/rates[measurement][names[0]])
			}
			fmt.Fprintf(b.out, "%22s", cell)
		}
		fmt.Fprintln(b.out)
	}
}
