package tidy

import (
	"slices"
	"strings"
	"testing"
)

// top is the top-level folder that a package lies in.
func top(folder string) string {
	t, _, _ := strings.Cut(folder, "/")
	return t
}

// reachable is what a top-level folder may import: itself, what the table says, and what those may import.
func reachable(folder string) map[string]bool {
	set := map[string]bool{}
	var add func(string)
	add = func(f string) {
		if set[f] {
			return
		}
		set[f] = true
		for _, g := range mayImport[f] {
			add(g)
		}
	}
	add(folder)
	return set
}

// Imports go in one direction.
func TestImportsGoInOneDirection(t *testing.T) {
	s := mustLoad(t)
	standard := map[string]bool{}
	for _, p := range s.standard {
		standard[p] = true
	}
	for _, p := range s.ours {
		if p.folder() == "." {
			if len(p.Imports) > 0 {
				t.Errorf("the root package only documents; it imports %v", p.Imports)
			}
			continue
		}
		if _, listed := mayImport[top(p.folder())]; !listed {
			t.Errorf("%s: the folder %s is in none of the tables of internal/tidy: say there what it may import", p.ImportPath, top(p.folder()))
			continue
		}
		for _, i := range p.Imports {
			if why := forbiddenImport(p.folder(), i, standard[i]); why != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, i, why)
			}
		}
	}
}

// forbiddenImport says why a package may not import another, empty if it may.
func forbiddenImport(folder, path string, standard bool) string {
	if path == module || strings.HasPrefix(path, module+"/") {
		to := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
		switch {
		case testOnly[to] != "":
			return testOnly[to]
		case !reachable(top(folder))[top(to)]:
			return top(folder) + " knows nothing of " + top(to)
		case core(folder) && !core(to):
			return folder + " is a core package, " + to + " is not"
		}
		return ""
	}
	for banned, why := range notFor[top(folder)] {
		if path == banned || strings.HasPrefix(path, banned+"/") {
			return why
		}
	}
	allowed, limited := modulesOf[top(folder)]
	if standard || !limited || slices.ContainsFunc(allowed, func(a string) bool { return strings.HasPrefix(path+"/", strings.TrimSuffix(a, "/")+"/") }) {
		return ""
	}
	return top(folder) + " may use the standard library and " + strings.Join(allowed, ", ")
}

// The packages that only tests may import exist.
func TestTestOnlyPackages(t *testing.T) {
	s := mustLoad(t)
	for folder, why := range testOnly {
		if why == "" {
			t.Errorf("%s has no reason", folder)
		}
		if !slices.ContainsFunc(s.ours, func(p *goPackage) bool { return p.folder() == folder }) {
			t.Errorf("there is no package %s: take it out of internal/tidy/tables_test.go", folder)
		}
	}
}

// The table is a direction at all, and the rules refuse what the design refuses.
func TestImportRules(t *testing.T) {
	for folder, to := range mayImport {
		for _, next := range to {
			if _, listed := mayImport[next]; !listed {
				t.Errorf("%s may import %s, which is not in the table", folder, next)
			}
			if reachable(next)[folder] {
				t.Errorf("%s and %s may import each other", folder, next)
			}
		}
	}
	for _, test := range []struct {
		from, to string
		standard bool
		allowed  bool
	}{
		{"sim", "sort", true, true},
		{"sim", "k8s.io/utils/clock", false, true},
		{"sim", "k8s.io/utils/clocks", false, false},
		{"sim", "k8s.io/apimachinery/pkg/types", false, false},
		{"sim", module + "/fakeapiserver", false, false},
		{"fakeapiserver", module + "/sim", false, true},
		{"fakeapiserver", module + "/informer", false, false},
		{"fakeapiserver", "k8s.io/client-go/tools/cache", false, false},
		{"informer", "k8s.io/client-go/tools/cache", false, true},
		{"informer/dropin", module + "/informer", false, true},
		{"informer", module + "/sim", false, false},
		{"informer", module + "/informer/dropin", false, false},
		{"subjects/stack", module + "/informer", false, true},
		{"scenarios", module + "/subjects", false, true},
		{"scenarios", module + "/subjects/clientgo", false, false},
		{"scenarios", module + "/properties", false, false},
		{"bubble", module + "/sim", false, true},
		{"bubble", module + "/subjects", false, false},
		{"bubble", "k8s.io/client-go/tools/cache", false, false},
		{"simtest", module + "/bubble", false, true},
		{"properties", module + "/fakeapiserver", false, true},
		{"reports", module + "/sim", false, true},
		{"reports", module + "/scenarios", false, false},
		{"cmd/informersim", module + "/reports", false, true},
		{"simtest", module + "/reports", false, true},
		{"scenarios", module + "/reports", false, true},
		{"properties", module + "/simtest", false, false},
		{"properties/differential", module + "/properties/mutants", false, false},
		{"cmd/informersim", module + "/properties/mutants", false, false},
		{"cmd/informersim", module + "/properties/differential", false, true},
	} {
		if why := forbiddenImport(test.from, test.to, test.standard); (why == "") != test.allowed {
			t.Errorf("%s imports %s: allowed %v, want %v (%s)", test.from, test.to, why == "", test.allowed, why)
		}
	}
}
