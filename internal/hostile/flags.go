package main

import (
	"fmt"
	"strings"
)

// flagCase is a good command line, the flags that it takes, and those that take any text.
type flagCase struct {
	args  string
	serve bool
	flags string
}

var flagTable = []flagCase{
	{args: "run in.sim", flags: "seed strategy fault-mix trace subject json rewrite verbose force"},
	{args: "fuzz --seeds 1..2", flags: "for shard subject workers shrink out junit"},
	{args: "merge no-such --out sum", flags: "out junit"},
	{args: "verify in.sim --seeds 1 --repeat 1", flags: "seeds repeat subject strategy fault-mix"},
	{args: "diff in.sim", flags: "seed seeds strategy fault-mix"},
	{args: "replay in.trace.jsonl", flags: "json"},
	{args: "import in.json --from list -o out.sim", flags: "from output redact keep-field plural keep-secrets watch-only force"},
	{args: "version"},
	{args: "serve --addr 127.0.0.1:0", serve: true, flags: "addr control crd load data kubeconfig fault-mix seed token token-file controllers controller-delay controller-lag replicas"},
}

// free are flags whose every value that is not among the worst can be right: files to write, and texts.
const free = " trace output out junit token keep-field data kubeconfig "

// values are bad values of a flag. Each is bad for every flag that is not free.
var values = []string{"\x1b[31mred", "\xff", "-1x", "99999999999999999999999999", "1e999", "a\nb", "../..", "%s%n", "..", "1..", "{}", "no such", "\u202ebidi", "NaN"}

// flagCases are wrong flags, wrong values, too many arguments and a strange environment.
func (c config) flagCases(formats []format) (all []*input) {
	files := map[string][]byte{}
	for i := range formats {
		if f := &formats[i]; f.file != "in.json" || f.name == "list" {
			files[f.file] = f.good
		}
	}
	add := func(id string, must verdict, f flagCase, extra ...string) *input {
		in := &input{id: "flags/" + id, must: must, serve: f.serve, args: append(strings.Fields(f.args), extra...), files: files}
		all = append(all, in)
		return in
	}
	for _, f := range flagTable {
		command := strings.Fields(f.args)[0]
		add(command+"/unknown", refused, f, "--no-such-flag")
		add(command+"/unknown-short", refused, f, "-Q")
		add(command+"/control", refused, f, "--no\x1bsuch\n")
		add(command+"/not-utf8", refused, f, "--\xff\xfe")
		add(command+"/dashes", either, f, "--")
		add(command+"/empty", refused, f, "---")
		add(command+"/equals", refused, f, "--=")
		add(command+"/long", refused, f, "--"+strings.Repeat("z", 100_000))
		if command != "replay" { // which takes many, and says something of each
			add(command+"/arguments", refused, f, "no-such-1", "no-such-2", "no-such-3")
		}
		for _, flag := range strings.Fields(f.flags) {
			r := newRand(c.seed, command+flag)
			must := refused
			if strings.Contains(free, " "+flag+" ") {
				must = either
			}
			for _, i := range r.Perm(len(values))[:4] {
				add(fmt.Sprintf("%s/%s-%d", command, flag, i), must, f, "--"+flag+"="+values[i])
			}
			add(fmt.Sprintf("%s/%s-long", command, flag), must, f, "--"+flag+"="+strings.Repeat("9", 70_000))
		}
	}
	add("command", refused, flagCase{args: "no-such-command"})
	add("command-control", refused, flagCase{args: "x\x1b[2Jy\xff"})
	add("command-long", refused, flagCase{args: strings.Repeat("y", 100_000)})
	run := flagTable[0]
	for i, env := range []string{"HOME=", "TMPDIR=/no/such/folder", "GOMAXPROCS=x", "GODEBUG=\x1b,,=", "NO_COLOR=\xff", "COLUMNS=-5", "TERM=\x1b[2J", "LANG=\xff", "GOGC=off", "GOMEMLIMIT=0"} {
		add(fmt.Sprintf("environment/%d", i), either, run, "--seed", "1").env = []string{env}
	}
	for i, path := range []string{"/no/such/program", "/", "/etc/passwd", "\xff", "/dev/null"} {
		add(fmt.Sprintf("environment/apiserver-%d", i), refused, flagCase{args: "serve"}).env = []string{"INFORMERSIM_APISERVER=" + path}
	}
	return all
}
