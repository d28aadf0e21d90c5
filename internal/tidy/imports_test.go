package tidy

import (
	"flag"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

var printImports = flag.Bool("print-imports", false, "print the table mayImport for the current source")

// match reports whether a pattern covers a folder. "folder/..." covers it and everything below it, "..." covers all.
func match(pattern, folder string) bool {
	if pattern == "..." {
		return true
	}
	if above, ok := strings.CutSuffix(pattern, "/..."); ok {
		return folder == above || strings.HasPrefix(folder, above+"/")
	}
	return pattern == folder
}

func matchAny(patterns []string, folder string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, folder) })
}

// rowFor returns the key of the table's row for a folder: the folder itself, or the longest pattern that covers it.
func rowFor[V any](table map[string]V, folder string) (key string, found bool) {
	if _, ok := table[folder]; ok {
		return folder, true
	}
	for pattern := range table {
		if match(pattern, folder) && len(pattern) > len(key) {
			key, found = pattern, true
		}
	}
	return key, found
}

// ourImports returns the folders of this module that a package imports.
func (p *goPackage) ourImports() (folders []string) {
	for _, i := range p.Imports {
		if q := (&goPackage{ImportPath: i}); q.ours() {
			folders = append(folders, q.folder())
		}
	}
	slices.Sort(folders)
	return folders
}

// importProblems reports imports that are not in the package's row, packages without a row, and stale entries of the table.
func importProblems(packages []*goPackage, table map[string][]string) (problems []string) {
	rows, used := map[string]bool{}, map[[2]string]bool{}
	for _, p := range packages {
		row, found := rowFor(table, p.folder())
		if !found {
			problems = append(problems, fmt.Sprintf("%s has no row in mayImport: add one with its imports", p.folder()))
			continue
		}
		rows[row] = true
		for _, to := range p.ourImports() {
			permitted := false
			for _, pattern := range table[row] {
				if match(pattern, to) {
					permitted, used[[2]string{row, pattern}] = true, true
				}
			}
			if !permitted {
				problems = append(problems, fmt.Sprintf("%s imports %s, which its row in mayImport does not permit", p.folder(), to))
			}
		}
	}
	for row, permitted := range table {
		if !rows[row] {
			problems = append(problems, fmt.Sprintf("the row %s of mayImport matches no package: remove it", row))
			continue
		}
		for _, pattern := range permitted {
			if !used[[2]string{row, pattern}] {
				problems = append(problems, fmt.Sprintf("%s does not import %s: remove it from mayImport", row, pattern))
			}
		}
	}
	slices.Sort(problems)
	return problems
}

// shortestPath returns the shortest chain of imports from a package to a bad one, without the first; nil if there is none.
func shortestPath(imports map[string][]string, from string, bad func(folder string) bool) []string {
	before, queue := map[string]string{from: ""}, []string{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if at != from && bad(at) {
			var chain []string
			for ; at != from; at = before[at] {
				chain = append(chain, at)
			}
			slices.Reverse(chain)
			return chain
		}
		for _, next := range imports[at] {
			if _, seen := before[next]; !seen {
				before[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// barrierProblems reports transitive imports that a barrier forbids, and patterns of barriers that match no package.
func barrierProblems(packages []*goPackage, barriers []barrier) (problems []string) {
	imports := map[string][]string{}
	for _, p := range packages {
		imports[p.folder()] = p.ourImports()
	}
	for _, b := range barriers {
		for _, pattern := range slices.Concat(b.from, b.but, b.only, b.not) {
			if !slices.ContainsFunc(packages, func(p *goPackage) bool { return match(pattern, p.folder()) }) {
				problems = append(problems, fmt.Sprintf("the barrier %q names %s, which matches no package", b.why, pattern))
			}
		}
		for _, p := range packages {
			if !matchAny(b.from, p.folder()) || matchAny(b.but, p.folder()) {
				continue
			}
			chain := shortestPath(imports, p.folder(), func(to string) bool {
				return matchAny(b.not, to) || b.only != nil && !matchAny(b.only, to)
			})
			if chain != nil {
				problems = append(problems, fmt.Sprintf("%s imports %s: %s", p.folder(), strings.Join(chain, ", which imports "), b.why))
			}
		}
	}
	return problems
}

// moduleProblems reports imports of modules that are not permitted, and stale entries of the tables.
func moduleProblems(packages []*goPackage, standard map[string]bool, allowed map[string][]string, banned map[string]map[string]string) (problems []string) {
	below := func(path, prefix string) bool {
		prefix = strings.TrimSuffix(prefix, "/")
		return path == prefix || strings.HasPrefix(path, prefix+"/")
	}
	used, covers := map[[2]string]bool{}, map[string]bool{}
	for _, p := range packages {
		row, limited := rowFor(allowed, p.folder())
		covers[row] = true
		for _, i := range p.Imports {
			if (&goPackage{ImportPath: i}).ours() || standard[i] {
				continue
			}
			for pattern, bans := range banned {
				for ban, why := range bans {
					if match(pattern, p.folder()) && below(i, ban) && banned[p.folder()][ban] != lifted {
						problems = append(problems, fmt.Sprintf("%s imports %s: %s", p.folder(), i, why))
					}
				}
			}
			permitted := !limited
			for _, prefix := range allowed[row] {
				if below(i, prefix) {
					permitted, used[[2]string{row, prefix}] = true, true
				}
			}
			if !permitted {
				problems = append(problems, fmt.Sprintf("%s imports %s: besides the standard library it may use only %s", p.folder(), i, strings.Join(allowed[row], ", ")))
			}
		}
	}
	for row, prefixes := range allowed {
		for _, prefix := range prefixes {
			if !used[[2]string{row, prefix}] {
				problems = append(problems, fmt.Sprintf("%s does not use %s: remove it from modulesOf", row, prefix))
			}
		}
		if !covers[row] {
			problems = append(problems, fmt.Sprintf("the row %s of modulesOf matches no package: remove it", row))
		}
	}
	for pattern := range banned {
		if !slices.ContainsFunc(packages, func(p *goPackage) bool { return match(pattern, p.folder()) }) {
			problems = append(problems, fmt.Sprintf("the row %s of notFor matches no package: remove it", pattern))
		}
	}
	slices.Sort(problems)
	return problems
}

// coreProblems reports core packages that import others, and stale rows of the table.
func coreProblems(packages []*goPackage, table map[string]bool) (problems []string) {
	for _, p := range packages {
		for _, to := range p.ourImports() {
			if coreIn(table, p.folder()) && !coreIn(table, to) {
				problems = append(problems, fmt.Sprintf("%s is a core package and imports %s, which is not one", p.folder(), to))
			}
		}
	}
	for folder, core := range table {
		switch {
		case !slices.ContainsFunc(packages, func(p *goPackage) bool { return match(folder+"/...", p.folder()) }):
			problems = append(problems, fmt.Sprintf("the row %s of isCore matches no package: remove it", folder))
		case folder != "." && path.Dir(folder) != "." && core == coreIn(table, path.Dir(folder)):
			problems = append(problems, fmt.Sprintf("the row %s of isCore repeats its parent's: remove it", folder))
		}
	}
	slices.Sort(problems)
	return problems
}

// Imports are those of the tables, and none crosses a barrier.
func TestImports(t *testing.T) {
	s := mustLoad(t)
	if *printImports {
		for _, p := range s.ours {
			quoted := []string{}
			for _, to := range p.ourImports() {
				quoted = append(quoted, fmt.Sprintf("%q", to))
			}
			fmt.Printf("\t%q: {%s},\n", p.folder(), strings.Join(quoted, ", "))
		}
		t.Skip("printed, not checked; gofmt aligns the rows")
	}
	standard := map[string]bool{}
	for _, p := range s.standard {
		standard[p] = true
	}
	for _, problem := range slices.Concat(importProblems(s.ours, mayImport), barrierProblems(s.ours, barriers),
		moduleProblems(s.ours, standard, modulesOf, notFor), coreProblems(s.ours, isCore)) {
		t.Error(problem)
	}
}

// packages parses packages from "folder: import import", each import a folder of this module unless it has a dot.
func packages(lines ...string) (made []*goPackage) {
	for _, line := range lines {
		folder, imports, _ := strings.Cut(line, ":")
		p := &goPackage{ImportPath: path.Join(module, folder)}
		for _, i := range strings.Fields(imports) {
			if !strings.Contains(i, ".") {
				i = module + "/" + i
			}
			p.Imports = append(p.Imports, i)
		}
		made = append(made, p)
	}
	return made
}

func TestImportRulesCatch(t *testing.T) {
	source := packages("sim:", "server: sim k8s.io/a/b", "server/rest: server", "stack:", "user: server/rest k8s.io/c")
	table := map[string][]string{"sim": nil, "server/...": {"sim", "server"}, "stack": nil, "user": {"server/..."}}
	noStack := barrier{from: []string{"user"}, not: []string{"stack"}, why: "hidden"}
	for _, test := range []struct {
		name string
		got  []string
		want []string
	}{
		{"as the table says", importProblems(source, table), nil},
		{"not permitted", importProblems(packages("sim: stack", "stack:"), map[string][]string{"sim": nil, "stack": nil}),
			[]string{"sim imports stack, which its row in mayImport does not permit"}},
		{"a new package", importProblems(packages("sim:", "new: sim"), map[string][]string{"sim": nil}),
			[]string{"new has no row in mayImport: add one with its imports"}},
		{"an exact row wins over a pattern", importProblems(packages("a:", "a/b: a", "a/c: a"), map[string][]string{"a/...": {"a"}, "a/c": nil}),
			[]string{"a/c imports a, which its row in mayImport does not permit"}},
		{"stale", importProblems(packages("sim:", "stack:"), map[string][]string{"sim": {"stack"}, "stack": nil, "gone": {"sim"}}),
			[]string{"sim does not import stack: remove it from mayImport", "the row gone of mayImport matches no package: remove it"}},
		{"no barrier crossed", barrierProblems(source, []barrier{noStack, {from: []string{"..."}, but: []string{"server/...", "user"}, not: []string{"server/..."}}}), nil},
		{"crossed transitively", barrierProblems(packages("user: server", "server: stack", "stack:"), []barrier{noStack}),
			[]string{"user imports server, which imports stack: hidden"}},
		{"outside of only", barrierProblems(packages("user: stack", "stack:"), []barrier{{from: []string{"user"}, only: []string{"user"}, why: "alone"}}),
			[]string{"user imports stack: alone"}},
		{"a stale barrier", barrierProblems(packages("user:"), []barrier{noStack}), []string{`the barrier "hidden" names stack, which matches no package`}},
		{"modules as allowed", moduleProblems(source, nil, map[string][]string{"server/...": {"k8s.io/a"}}, nil), nil},
		{"a prefix that is not a path element", moduleProblems(packages("a: k8s.io/ab"), nil, map[string][]string{"a": {"k8s.io/a"}}, nil),
			[]string{"a does not use k8s.io/a: remove it from modulesOf", "a imports k8s.io/ab: besides the standard library it may use only k8s.io/a"}},
		{"a module that is banned", moduleProblems(packages("a/b: k8s.io/a/c"), nil, nil, map[string]map[string]string{"a/...": {"k8s.io/a": "bad"}, "z": nil}),
			[]string{"a/b imports k8s.io/a/c: bad", "the row z of notFor matches no package: remove it"}},
		{"core", coreProblems(packages("a: b", "b:", "b/c: b"), map[string]bool{"a": true, "b": false, "b/c": false, "gone": true}),
			[]string{"a is a core package and imports b, which is not one", "the row b/c of isCore repeats its parent's: remove it",
				"the row gone of isCore matches no package: remove it"}},
	} {
		if !slices.Equal(test.got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, test.got, test.want)
		}
	}
}

// The barriers forbid these imports.
func TestTablesRefuse(t *testing.T) {
	s := mustLoad(t)
	for _, test := range []struct{ from, to string }{
		{"sim", "fakeapiserver"},
		{"fakeapiserver", "informer"},
		{"fakeapiserver/rest", "subjects"},
		{"informer", "sim"},
		{"informer/workqueue", "fakeapiserver"},
		{"subjects/stack", "informer/dropin"},
		{"cmd/informersim", "informer/dropin/workqueue"},
		{"scenarios", "informer"},
		{"scenarios", "subjects/stack"},
		{"properties", "informer/workqueue"},
		{"cmd/informersim", "properties/mutants"},
		{"world", "properties/mutants"},
		{"reports", "informer"},
		{"properties", "cmd/informersim"},
	} {
		var source []*goPackage
		for _, p := range s.ours {
			if p.folder() == test.from {
				q := *p
				q.Imports = append(slices.Clone(p.Imports), module+"/"+test.to)
				p = &q
			}
			source = append(source, p)
		}
		if len(barrierProblems(source, barriers)) == 0 {
			t.Errorf("no barrier keeps %s from importing %s", test.from, test.to)
		}
	}
}
