package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const docs = "../../docs/"

// parsesFlags fails if a documented command line has an unknown command or flag.
func parsesFlags(t *testing.T, where string, args []string) {
	t.Helper()
	c, rest, err := newRoot(args).Find(args)
	if err == nil {
		err = c.ParseFlags(rest)
	}
	if err != nil && !errors.Is(err, pflag.ErrHelp) || c.Name() != args[0] {
		t.Errorf("%s: informersim %s: %v", where, strings.Join(args, " "), err)
	}
}

// Every command line in the pages, the README and the workflow has the command and flags that there are. In prose, a name without flags
// need not be one.
func TestPagesNameRealFlags(t *testing.T) {
	pages, err := filepath.Glob(docs + "*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, "../../README.md", docs+"fuzzing/github-actions.yml")
	// At the start of a line, with or without a prompt, or in backquotes.
	line := regexp.MustCompile("(?m)(?:^ *(?:\\$ )?(?:run: )?|`)informersim ([a-z]+(?: [^`#|\n]*)?)")
	substitution := regexp.MustCompile(`\$\{\{?[^}]*\}?\}`)
	found := 0
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range line.FindAllStringSubmatch(string(data), -1) {
			args := strings.Fields(substitution.ReplaceAllString(m[1], "7"))
			if !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") }) {
				continue
			}
			found++
			parsesFlags(t, filepath.Base(page), args)
		}
	}
	if found < 40 {
		t.Errorf("there are only %d commands", found)
	}
}

// The workflow has as many machines as its commands say.
func TestFuzzWorkflow(t *testing.T) {
	data, err := os.ReadFile(docs + "fuzzing/github-actions.yml")
	if err != nil {
		t.Fatal(err)
	}
	var w struct {
		Jobs map[string]struct {
			Strategy struct {
				Matrix struct{ Shard []int }
			}
			Steps []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(data, &w); err != nil {
		t.Fatal(err)
	}
	shards := w.Jobs["shard"].Strategy.Matrix.Shard
	of := fmt.Sprintf("--shard ${{ matrix.shard }}/%d ", len(shards))
	if len(shards) == 0 || shards[0] != 1 || shards[len(shards)-1] != len(shards) || !strings.Contains(string(data), of) {
		t.Errorf("the machines are %v, and no command has %q", shards, of)
	}
	if steps := w.Jobs["merge"].Steps; !slices.ContainsFunc(steps, func(s struct{ Run string }) bool { return strings.HasPrefix(s.Run, "informersim merge ") }) {
		t.Errorf("nothing is merged: %+v", steps)
	}
}

// The manifests have no field that Kubernetes' types do not have, and keep the rules of a Job that its API server checks (batch
// validation: Indexed needs completions, backoffLimitPerIndex needs Indexed, podFailurePolicy needs restartPolicy Never). Its command takes
// each of the parts, and no other.
func TestIndexedJob(t *testing.T) {
	data, err := os.ReadFile(docs + "fuzzing/indexed-job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(data), "\n---\n")
	if len(parts) != 2 {
		t.Fatalf("there are %d manifests", len(parts))
	}
	var claim corev1.PersistentVolumeClaim
	if err := yaml.UnmarshalStrict([]byte(parts[0]), &claim); err != nil || claim.APIVersion != "v1" || claim.Kind != "PersistentVolumeClaim" {
		t.Errorf("the claim: %v: %+v", err, claim)
	}
	var job batchv1.Job
	if err := yaml.UnmarshalStrict([]byte(parts[1]), &job); err != nil || job.APIVersion != "batch/v1" || job.Kind != "Job" {
		t.Fatalf("the job: %v: %+v", err, job)
	}
	s, pod := job.Spec, job.Spec.Template.Spec
	if s.CompletionMode == nil || *s.CompletionMode != batchv1.IndexedCompletion || s.Completions == nil || s.Parallelism == nil || *s.Parallelism > *s.Completions {
		t.Errorf("it is not indexed: %+v", s)
	}
	if s.BackoffLimitPerIndex == nil || s.PodFailurePolicy == nil || pod.RestartPolicy != corev1.RestartPolicyNever || len(pod.Containers) != 1 {
		t.Fatalf("it does not say what a failure means: %+v", s)
	}
	c := pod.Containers[0]
	for _, rule := range s.PodFailurePolicy.Rules {
		switch codes := rule.OnExitCodes; {
		case codes == nil:
		case *codes.ContainerName != c.Name, !slices.IsSorted(codes.Values), len(slices.Compact(slices.Clone(codes.Values))) != len(codes.Values):
			t.Errorf("the rule %+v", rule)
		case !slices.Equal(codes.Values, []int32{exitBroken, exitBadInput, exitUndecided, exitDefect}):
			t.Errorf("the verdicts are %v", codes.Values)
		}
	}
	if len(c.VolumeMounts) != 1 || len(pod.Volumes) != 1 || c.VolumeMounts[0].Name != pod.Volumes[0].Name ||
		pod.Volumes[0].PersistentVolumeClaim.ClaimName != claim.Name || c.VolumeMounts[0].MountPath != "/results" {
		t.Errorf("the volumes are %+v, mounted as %+v", pod.Volumes, c.VolumeMounts)
	}
	if len(c.Env) != 1 || c.Env[0].Name != "INDEX" || c.Env[0].ValueFrom.FieldRef.FieldPath != "metadata.annotations['"+batchv1.JobCompletionIndexAnnotation+"']" {
		t.Errorf("the environment is %+v", c.Env)
	}

	inTemp(t, nil)
	for n := range *s.Completions + 1 {
		index := fmt.Sprint(n)
		t.Setenv(jobIndex, index)
		args := slices.Clone(c.Args)
		for i, a := range args {
			args[i] = strings.NewReplacer("$(INDEX)", index, "/results/", "", "--seeds=1..1000000", "--seeds=1..17").Replace(a)
		}
		got := command(t, args...)
		if n == *s.Completions {
			if got.code != exitBadInput {
				t.Errorf("index %d, which is one too many: exit code %d", n, got.code)
			}
		} else if want := fmt.Sprintf("shard %d of %d\n", n+1, *s.Completions); got.code != exitOK || !strings.Contains(got.stdout, want) {
			t.Errorf("index %d: exit code %d, want %q in %s%s", n, got.code, want, got.stdout, got.stderr)
		}
	}
	if got := command(t, append([]string{"merge", "--out", "all"}, dirs(t, "shard-*", int(*s.Completions))...)...); got.code != exitOK || !strings.Contains(got.stdout, "PASS  17 runs") {
		t.Errorf("merged: exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

// dirs returns what matches, which must be so many.
func dirs(t *testing.T, pattern string, n int) []string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	if err != nil || len(all) != n {
		t.Fatalf("%s: there are %v, want %d: %v", pattern, all, n, err)
	}
	return all
}
