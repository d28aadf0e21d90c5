package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func catalogOutput(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), append([]string{"catalog"}, args...), &out, &errs); code != want {
		t.Fatalf("catalog %v: exit code %d, want %d: %s%s", args, code, want, out.String(), errs.String())
	}
	return out.String() + errs.String()
}

// The catalogue is in the program: it needs no clone.
func TestCatalog(t *testing.T) {
	t.Chdir(t.TempDir())
	all := catalogOutput(t, exitOK)
	for _, want := range []string{"\ngaps: what an informer makes of", "  k115658\n      A key that only the queue knows (k115658).\n      faults: hold watch-410\n      bugs: k115658\n"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
	if some := catalogOutput(t, exitOK, "k115658"); strings.Count(some, "\n  ") != 4 || !strings.HasSuffix(some, "\n1 scenario\n") {
		t.Errorf("catalog k115658 prints\n%s", some)
	}
	if workers := catalogOutput(t, exitOK, "workers"); !strings.Contains(workers, "  worker_retry\n") || strings.Contains(workers, "k115658") {
		t.Errorf("the theme has\n%s", workers)
	}
	text := catalogOutput(t, exitOK, "k115658", "--text")
	if err := os.WriteFile("my.sim", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"run", "my.sim", "--subject", "client-go"}, &out, &errs); code != exitOK {
		t.Errorf("the script of the catalogue: exit code %d\n%s%s", code, out.String(), errs.String())
	}
}

func TestCatalogRuns(t *testing.T) {
	for line := range strings.Lines(catalogOutput(t, exitOK, "--run", "--json", "k115658", "writes")) {
		var e catalogLine
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if len(e.Results) != 2 || !e.Results[0].Passed || e.Results[1].Steps == 0 || e.Results[0].Subject == e.Results[1].Subject {
			t.Errorf("%s has the results %+v", e.Name, e.Results)
		}
	}
	if text := catalogOutput(t, exitOK, "--run", "k115658"); !strings.Contains(text, "client-go pass, ") || !strings.Contains(text, "1 scenario on each of 2 subjects: all pass") {
		t.Errorf("it prints\n%s", text)
	}
}

func TestCatalogRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"no-such-thing", `none is meant by "no-such-thing"`},
		{"workers --text", "prints one script"},
		{"k115658 --text --run", "leave out --run"},
	} {
		if text := catalogOutput(t, exitBadInput, strings.Fields(c.args)...); !strings.Contains(text, c.want) {
			t.Errorf("catalog %s: %q, want %q", c.args, text, c.want)
		}
	}
}
