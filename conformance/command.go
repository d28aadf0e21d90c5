package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/conformance/catalogue"
	"github.com/informersim/informersim/internal/probe"
)

// differ is the error of a run that found differences.
type differ struct{ count int }

func (d differ) Error() string { return fmt.Sprintf("%d differ", d.count) }

// settings holds the command's flags.
type settings struct {
	reference, target, url, control string
	// kind is what the servers of both sides serve.
	kind string
	// apiserver is the path of an informersim-apiserver to use instead of building one.
	apiserver           string
	knownFile           string
	run, file, goldens  string
	servers, seeds      int
	firstSeed           uint64
	steps               int
	rewrite, list, show bool
	out                 io.Writer
}

func command() *cobra.Command {
	s := &settings{out: os.Stdout}
	c := &cobra.Command{
		Use:           "conformance",
		Short:         "Compare an apiserver's answers with those of a real one",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		Example: `  go run . --seeds 2000
  go run . --reference golden --run '^watch'
  go run . --url http://127.0.0.1:8080 --control http://127.0.0.1:8081
  go run . --target real --run object/life --show`,
		RunE: func(c *cobra.Command, _ []string) error { return s.main(c.Context()) },
	}
	f := c.Flags()
	f.StringVar(&s.reference, "reference", "real", "source of the expected answers: real or golden")
	f.StringVar(&s.target, "target", "fake", "server under test: fake or real")
	f.StringVar(&s.kind, "server", kindCRDs, "what both sides serve: crds (custom resources, by the apiextensions server) or kube (built-in kinds, by kube-apiserver)")
	f.StringVar(&s.knownFile, "known", knownFile, "list of the probes of built-in kinds that may differ, with reasons")
	f.StringVar(&s.apiserver, "apiserver", "", "path of the informersim-apiserver to test with --server kube instead of building one")
	f.StringVar(&s.url, "url", "", "test the server at this root instead of --target")
	f.StringVar(&s.control, "control", "", "root of that server's control listener, for probes that compact or restart")
	f.StringVar(&s.run, "run", "", "play only the probes whose name matches this regular expression")
	f.StringVar(&s.file, "file", "", "play the probes of this script instead of the catalogue's")
	f.StringVar(&s.goldens, "goldens", "", "directory of recorded answers (default testdata/golden, with --server kube testdata/kube)")
	f.IntVar(&s.servers, "servers", 0, "number of servers of each kind that share the probes; 0 chooses by the number of CPUs and seeds")
	f.IntVar(&s.seeds, "seeds", 0, "number of generated sequences to play as well")
	f.Uint64Var(&s.firstSeed, "first-seed", 1, "seed of the first generated sequence")
	f.IntVar(&s.steps, "steps", 25, "requests in a generated sequence")
	f.BoolVar(&s.rewrite, "rewrite", false, "record the answers of a real server and exit")
	f.BoolVar(&s.list, "list", false, "list the probes and exit")
	c.AddCommand(kubectlCommand(s), benchCommand(s), kubeCommand(s), suitesCommand(s), auditCommand(s))
	f.BoolVar(&s.show, "show", false, "also print the transcripts of the reference")
	return c
}

// The kinds of servers.
const (
	kindCRDs = "crds"
	kindKube = "kube"
)

// manySeeds is the number of sequences from which on starting more servers pays off: a real one is mostly waiting.
const manySeeds = 500

func (s *settings) main(ctx context.Context) error {
	if s.kind != kindCRDs && s.kind != kindKube {
		return fmt.Errorf("--server %q: want crds or kube", s.kind)
	}
	if s.goldens == "" {
		s.goldens = filepath.Join("testdata", map[string]string{kindCRDs: "golden", kindKube: "kube"}[s.kind])
	}
	if s.servers == 0 {
		s.servers = 2 * runtime.NumCPU()
		if s.seeds >= manySeeds && s.kind == kindCRDs {
			s.servers *= 2
		}
	}
	probes, err := s.probes()
	if err != nil {
		return err
	}
	if s.list {
		for _, p := range probes {
			fmt.Fprintln(s.out, p.Name, strings.Join(p.Cites, " "))
		}
		fmt.Fprintf(s.out, "%d probes\n", len(probes))
		return nil
	}
	if s.rewrite {
		return s.record(ctx, probes)
	}
	if s.reference != "real" && s.reference != "golden" {
		return fmt.Errorf("--reference %q: want real or golden", s.reference)
	}
	return s.compare(ctx, probes)
}

// probes returns the probes that the flags select.
func (s *settings) probes() ([]probe.Probe, error) {
	all, err := catalogue.All()
	if s.kind == kindKube {
		all, err = catalogue.Builtin()
	}
	if s.file != "" {
		text, readErr := os.ReadFile(s.file)
		if readErr != nil {
			return nil, fmt.Errorf("read the probes: %w", readErr)
		}
		all, err = probe.Parse(s.file, string(text))
	}
	for i := range all {
		all[i].Builtin = s.kind == kindKube
	}
	if err != nil || s.run == "" {
		return all, err
	}
	pattern, err := regexp.Compile(s.run)
	if err != nil {
		return nil, fmt.Errorf("--run: %w", err)
	}
	var chosen []probe.Probe
	for _, p := range all {
		if pattern.MatchString(p.Name) {
			chosen = append(chosen, p)
		}
	}
	return chosen, nil
}

// record records the goldens.
func (s *settings) record(ctx context.Context, probes []probe.Probe) error {
	if s.run != "" || s.file != "" {
		return fmt.Errorf("--rewrite records all probes: omit --run and --file")
	}
	began := time.Now()
	outcomes, err := s.real(ctx, probes)
	if err != nil {
		return err
	}
	transcripts, err := played(outcomes)
	if err != nil {
		return err
	}
	changed, err := probe.WriteGoldens(s.goldens, transcripts)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%d probes recorded in %.1fs, %d files changed\n", len(transcripts), time.Since(began).Seconds(), changed)
	return nil
}

func (s *settings) real(ctx context.Context, probes []probe.Probe) ([]probe.Outcome, error) {
	pool, stop, err := s.realTargets(ctx, min(s.servers, len(probes)))
	if err != nil {
		return nil, err
	}
	defer stop()
	return probe.RunAll(ctx, pool, probes, nil), ctx.Err()
}

// played returns the transcripts if every probe could be played.
func played(outcomes []probe.Outcome) ([]probe.Transcript, error) {
	var transcripts []probe.Transcript
	var errs []error
	for _, o := range outcomes {
		errs = append(errs, o.Err)
		transcripts = append(transcripts, o.Transcript)
	}
	return transcripts, errors.Join(errs...)
}
