package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// format is a kind of file, with good ones and a command that reads it.
type format struct {
	name    string
	file    string
	args    []string
	serve   bool
	hasLine bool
	isJSON  bool
	good    []byte
	beside  map[string][]byte // other files that the command needs
	// bad names the mutators after which the file must be refused.
	bad string
}

const scenario = `# A good scenario.
cluster replicas=2
resource pods
create pods default/a {"metadata":{"labels":{"app":"x"}},"spec":{"nodeName":"n1"}}
informer i1 pods handlers=h1 resync=1m
settle
log h1
----
h1 add default/a rv=1 initial

fault i1 watch=410
writer w1
update pods default/a by=w1
hold replica/1
advance 2s
release replica/1
compact
settle
expect i1 converged synced count=1
`

const kubeconfig = `apiVersion: v1
kind: Config
clusters:
- name: other
  cluster:
    server: https://10.0.0.1:6443
contexts:
- name: other
  context:
    cluster: other
    user: other
users:
- name: other
  user:
    token: abc
current-context: other
`

const mixYAML = "name: mine\nrates:\n  watch-eof: 0.01\n  list-500: 0.02\nswarm: true\nmax: 7\n"

const mixJSON = `{"name":"mine","rates":{"watch-eof":0.01,"list-500":0.02},"swarm":true,"max":7}`

const definitions = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.x.dev"},"spec":{"group":"x.dev","scope":"Cluster","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer","minimum":1}},"x-kubernetes-validations":[{"rule":"self.size > 0"}]}}}}}]}}`

const objects = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default","labels":{"a":"b"}},"data":{"k":"v"}}`

// The mutators after which nothing is left of a format.
const (
	noYAML   = "empty not-utf8 nul " // YAML may be UTF-16
	noText   = noYAML + "utf16 "
	noJSON   = noText + "control cut deep-objects "
	yamlJSON = noYAML + "control cut deep-objects "
)

// goodInputs makes a good file of every format, and checks that each is good.
func (c config) goodInputs() ([]format, error) {
	dir := filepath.Join(c.keep, "good")
	in := &input{args: []string{"run", "--seed", "3", "--fault-mix", "storm", "--trace", "t.trace.jsonl"}}
	trace, err := c.produce(in, dir, "t.trace.jsonl")
	if err != nil {
		return nil, err
	}
	header, rest, _ := strings.Cut(string(trace), "\n")
	var fields map[string]any
	if err := json.Unmarshal([]byte(header), &fields); err != nil {
		return nil, err
	}
	fields["subject"], fields["options"] = "simtest", map[string]string{"package": "example.com/no/such"}
	ofTest, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	session, err := c.produce(&input{serve: true, args: []string{"serve", "--data", "session.db", "--load", "o.json"}, files: map[string][]byte{"o.json": []byte(objects)}}, dir, "session.db")
	if err != nil {
		return nil, err
	}
	recordings := "scenarios/recording/testdata/"
	watch, err := os.ReadFile(recordings + "widgets-watch.jsonl")
	if err != nil {
		return nil, fmt.Errorf("%w; start it in the root of the repository", err)
	}
	list, err := os.ReadFile(recordings + "widgets-list.json")
	if err != nil {
		return nil, err
	}
	run := []string{"run", "in.sim"}
	all := []format{
		{name: "scenario", file: "in.sim", args: run, hasLine: true, good: []byte(scenario), bad: noText},
		{name: "scenario-seed", file: "in.sim", args: append(run, "--seed", "5", "--json"), hasLine: true, good: []byte(scenario), bad: noText},
		{name: "scenario-verify", file: "in.sim", args: []string{"verify", "in.sim", "--seeds", "1", "--repeat", "1"}, hasLine: true, good: []byte(scenario), bad: noText},
		{name: "scenario-diff", file: "in.sim", args: []string{"diff", "in.sim"}, hasLine: true, good: []byte(scenario), bad: noText},
		{name: "scenario-rewrite", file: "in.sim", args: append(run, "--rewrite"), hasLine: true, good: []byte(scenario), bad: noText},
		{name: "trace", file: "in.trace.jsonl", args: []string{"replay", "in.trace.jsonl"}, hasLine: true, isJSON: true, good: trace, bad: noJSON + "drop-line swap-lines"},
		{name: "trace-simtest", file: "in.trace.jsonl", args: []string{"replay", "in.trace.jsonl"}, isJSON: true, good: []byte(string(ofTest) + "\n" + rest), bad: "empty utf16"},
		{name: "watch-events", file: "in.json", args: []string{"import", "in.json", "--from", "watch-events", "-o", "out.sim"}, hasLine: true, isJSON: true, good: watch, bad: noText},
		{name: "list", file: "in.json", args: []string{"import", "in.json", "--from", "list", "-o", "out.sim"}, hasLine: true, isJSON: true, good: list, bad: noJSON},
		{name: "mix-yaml", file: "mix.yaml", args: []string{"run", "--fault-mix", "./mix.yaml", "--seed", "1"}, good: []byte(mixYAML), bad: noYAML + "control"},
		{name: "mix-json", file: "mix.json", args: []string{"run", "--fault-mix", "./mix.json", "--seed", "1"}, isJSON: true, good: []byte(mixJSON), bad: yamlJSON},
		{name: "serve-mix", file: "mix.json", args: []string{"serve", "--fault-mix", "./mix.json"}, serve: true, isJSON: true, good: []byte(mixJSON), bad: yamlJSON},
		{name: "kubeconfig", file: "kc", args: []string{"serve", "--kubeconfig", "kc"}, serve: true, good: []byte(kubeconfig), bad: "nul not-utf8"},
		{name: "data", file: "session.db", args: []string{"serve", "--data", "session.db"}, serve: true, good: session, bad: "other-format"},
		{name: "crd", file: "crd.json", args: []string{"serve", "--crd", "crd.json"}, serve: true, isJSON: true, good: []byte(definitions), bad: "empty nul control"},
		{name: "load", file: "o.json", args: []string{"serve", "--load", "o.json"}, serve: true, isJSON: true, good: []byte(objects), bad: "nul control"},
		{name: "token", file: "token", args: []string{"serve", "--token-file", "token"}, serve: true, good: []byte("abcdefgh12345678\n"), bad: "empty nul"},
	}
	for i := range all {
		all[i].args = append(slices.Clone(all[i].args), serveArgs(all[i].serve)...)
		in := all[i].input("good/"+all[i].name, all[i].good)
		if o := c.judge(in); (o.refused || len(o.faults) > 0) && all[i].name != "trace-simtest" {
			return nil, fmt.Errorf("the good %s is refused: %s", all[i].name, strings.Join(o.faults, "\n"))
		}
		if err := os.RemoveAll(in.dir(c)); err != nil {
			return nil, err
		}
	}
	return all, os.RemoveAll(dir)
}

func serveArgs(serve bool) []string {
	if serve {
		return []string{"--addr", "127.0.0.1:0"}
	}
	return nil
}

// produce runs a command and returns a file that it has written.
func (c config) produce(in *input, dir, file string) ([]byte, error) {
	if err := in.create(dir); err != nil {
		return nil, err
	}
	if code, _, stderr, _ := c.execute(in, dir); code != 0 {
		return nil, fmt.Errorf("%s: status %d: %s", strings.Join(in.args, " "), code, stderr)
	}
	return os.ReadFile(filepath.Join(dir, file))
}

func (f *format) input(id string, data []byte) *input {
	in := &input{id: id, serve: f.serve, args: f.args, place: f.file, hasLine: f.hasLine, files: map[string][]byte{f.file: data}}
	for name, data := range f.beside { // order: independent files
		in.files[name] = data
	}
	return in
}

// each is how many mutations each mutator makes of a file.
const each = 3

// fileCases mutates every format, and puts other things in its place.
func (c config) fileCases(formats []format) (all []*input) {
	for i := range formats {
		f := &formats[i]
		mutators := [][]mutator{byteMutators}
		if f.isJSON {
			mutators = append(mutators, jsonMutators)
		}
		n := each
		if f.name == "trace-simtest" {
			n = 1 // every one starts the go command
		}
		for _, m := range c.mutations(f.name, f.good, n, mutators...) {
			in := f.input(m.id, m.data)
			if slices.Contains(strings.Fields(f.bad), m.name) {
				in.must = refused
			}
			if len(m.data) == 0 || m.name == "empty" {
				in.hasLine = false
			}
			all = append(all, in)
		}
		all = append(all, specialCases(f)...)
	}
	return all
}

// specialCases puts what is not a plain file in a file's place.
func specialCases(f *format) (all []*input) {
	special := func(name string, must verdict, make func(path string) error) *input {
		in := f.input(f.name+"/"+name, nil)
		delete(in.files, f.file)
		in.must, in.hasLine = must, false
		in.make = func(dir string) error { return make(filepath.Join(dir, f.file)) }
		all = append(all, in)
		return in
	}
	created := refused
	if f.name == "kubeconfig" || f.name == "data" {
		created = either // it is created
	}
	special("absent", created, func(string) error { return nil })
	special("folder", refused, func(path string) error { return os.Mkdir(path, 0o777) })
	special("symlink-loop", refused, func(path string) error { return os.Symlink(filepath.Base(path), path) })
	special("dangling", created, func(path string) error { return os.Symlink("nothing", path) })
	special("unreadable", refused, func(path string) error { return os.Symlink("/proc/self/mem", path) })
	special("below-a-file", refused, func(path string) error { return os.Symlink("/etc/passwd/x", path) })
	special("null-device", either, func(path string) error { return os.Symlink("/dev/null", path) })
	endless := refused
	if f.name == "kubeconfig" {
		endless = either // what is not a plain file is written to, and not read
	}
	special("endless", endless, func(path string) error { return os.Symlink("/dev/zero", path) })
	if strings.Contains(" scenario trace list mix-json crd kubeconfig ", " "+f.name+" ") { // one for each way in
		special("fifo", either, func(path string) error { return syscall.Mkfifo(path, 0o666) }).waits = true
	}
	return all
}
