package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informersim/informersim/conformance/upstream"
)

func main() {
	verbose := flag.Bool("v", false, "print every test that passed, and why others were skipped")
	only := flag.String("only", "", "run only the packages whose import path contains this")
	run := flag.String("run", "", "run only the tests that match, as go test -run")
	count := flag.Int("count", 1, "run each test this many times")
	race := flag.Bool("race", false, "run with the race detector")
	keep := flag.String("keep", "", "also write the rewritten tests to this directory, for inspection")
	self := flag.Bool("self", false, "run the tests against client-go itself: failures are then due to the machine or the extraction")
	flag.Parse()

	var buildFlags []string
	testFlags := []string{fmt.Sprintf("-test.count=%d", *count)}
	if *run != "" {
		testFlags = append(testFlags, "-test.run="+*run)
	}
	if *race {
		buildFlags = append(buildFlags, "-race")
	}
	failed := false
	for _, target := range upstream.Targets() {
		if !strings.Contains(target.ImportPath, *only) {
			continue
		}
		if *self {
			target.ReplacedBy, target.Adapter = target.ImportPath, nil
		}
		ok, err := check(target, *verbose, *keep, buildFlags, testFlags)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		failed = failed || !ok
	}
	if failed {
		os.Exit(1)
	}
}

func check(target upstream.Target, verbose bool, keep string, buildFlags, testFlags []string) (ok bool, err error) {
	x, err := upstream.Extract(target)
	if err != nil {
		return false, err
	}
	if keep != "" {
		if err := write(filepath.Join(keep, target.Dir), x.Files); err != nil {
			return false, err
		}
	}
	result, err := upstream.Run(x, ".", buildFlags, testFlags)
	if err != nil {
		return false, err
	}
	fmt.Printf("%s: %d tests extracted, %d passed (%d with subtests), %d failed; %d skipped\n",
		target.ImportPath, len(x.Tests), len(result.Passed), result.PassedWithSubtests, len(result.Failed), len(x.LeftOut))
	if result.Broken != "" {
		fmt.Println(result.Broken)
	}
	for _, name := range slices.Sorted(maps.Keys(result.Failed)) {
		fmt.Printf("--- FAIL %s\n%s\n", name, result.Failed[name])
	}
	if verbose {
		for _, name := range result.Passed {
			fmt.Println("    pass", name)
		}
		for _, name := range slices.Sorted(maps.Keys(x.LeftOut)) {
			fmt.Printf("    skipped %s: needs %s\n", name, x.LeftOut[name])
		}
	}
	return result.Broken == "" && len(result.Failed) == 0, nil
}

func write(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, source := range files {
		if err := os.WriteFile(filepath.Join(dir, name), source, 0o600); err != nil {
			return err
		}
	}
	return nil
}
