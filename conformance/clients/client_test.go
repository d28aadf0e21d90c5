package clients

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// release is a released client with an informer, or with what its documentation makes one of.
type release struct {
	name string
	// module is what node imports; empty for python.
	module string
	// node is the first release of node that it runs on, as major and minor.
	node [2]int
}

var releases = []release{
	{name: "client-node-1.4.0", module: "client-node-1"},
	{name: "client-node-2.0.1", module: "client-node-2", node: [2]int{22, 19}}, // its dependency undici says so
	{name: "python"},
}

// start starts the release's program with a server's URL. It skips the test where the program cannot run.
func (r release) start(t *testing.T, url, restart string) *client {
	t.Helper()
	if r.module == "" {
		return run(t, exec.Command(python(t), filepath.Join("python", "informer.py"), url, namespace, restart))
	}
	dir := modules(t)
	version, err := exec.Command("node", "-p", "process.versions.node").Output()
	if err != nil {
		t.Skipf("node does not say which release it is: %v", err)
	}
	major, rest, _ := strings.Cut(strings.TrimSpace(string(version)), ".")
	minor, _, _ := strings.Cut(rest, ".")
	have := [2]int{number(t, major), number(t, minor)}
	if have[0] < r.node[0] || have[0] == r.node[0] && have[1] < r.node[1] {
		t.Skipf("%s needs node %d.%d, and this is %s", r.name, r.node[0], r.node[1], version)
	}
	return run(t, exec.Command("node", filepath.Join(dir, "informer.js"), r.module, url, namespace, restart))
}

// python returns the first python that has the package kubernetes; Debian's is python3-kubernetes.
func python(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"python3", "/usr/bin/python3"} {
		if version, err := exec.Command(program, "-c", "import kubernetes; print(kubernetes.__version__)").Output(); err == nil {
			t.Logf("%s has kubernetes %s", program, version)
			return program
		}
	}
	t.Skip("no python3 has the package kubernetes; Debian: apt-get install python3-kubernetes")
	return ""
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// installed is the folder with the program and its modules, made once.
var installed struct {
	once        sync.Once
	dir, reason string
}

// modules installs client-node in a temporary folder and returns it; the source tree stays as it is.
func modules(t *testing.T) string {
	t.Helper()
	installed.once.Do(func() {
		for _, needed := range []string{"node", "npm"} {
			if _, err := exec.LookPath(needed); err != nil {
				installed.reason = "there is no " + needed
				return
			}
		}
		dir, err := os.MkdirTemp("", "informersim-node-")
		if err == nil {
			err = os.CopyFS(dir, os.DirFS("node"))
		}
		if err != nil {
			installed.reason = err.Error()
			return
		}
		installed.dir = dir
		if _, err := os.Stat(filepath.Join(dir, "node_modules")); err == nil {
			return // somebody has run npm ci in the source tree
		}
		npm := exec.Command("npm", "ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund")
		npm.Dir = dir
		if output, err := npm.CombinedOutput(); err != nil {
			installed.reason = "npm ci failed: " + err.Error() + "\n" + string(output)
		}
	})
	if installed.reason != "" {
		t.Skip(installed.reason)
	}
	return installed.dir
}

// client is a running program.
type client struct {
	t     *testing.T
	in    io.Writer
	lines *bufio.Reader
}

// object is what a cache has of a ConfigMap.
type object struct {
	Version, Value string
	Created        string `json:",omitempty"` // the type of its creation time
}

// state is what a program says of its informer.
type state struct {
	Objects map[string]object
	Seen    struct{ Add, Update, Delete, Connect int }
	Errors  []string
}

func run(t *testing.T, command *exec.Cmd) *client {
	t.Helper()
	command.Stderr = t.Output()
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		command.Process.Kill()
		command.Wait()
	})
	return &client{t: t, in: in, lines: bufio.NewReader(out)}
}

// do sends a command.
func (c *client) do(command string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, command+"\n"); err != nil {
		c.t.Fatalf("the client has ended: %v", err)
	}
}

// state asks for the cache.
func (c *client) state() state {
	c.t.Helper()
	c.do("state")
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		c.t.Fatalf("the client has ended: %v", err)
	}
	var s state
	if err := json.Unmarshal(line, &s); err != nil {
		c.t.Fatalf("%v: %s", err, line)
	}
	return s
}

// until waits until what the client says satisfies a condition, or a bound passes. The bound decides only how long a failure takes.
func (c *client) until(bound time.Duration, condition func(state) bool) (state, bool) {
	c.t.Helper()
	for end := time.Now().Add(bound); ; time.Sleep(50 * time.Millisecond) {
		s := c.state()
		if condition(s) {
			return s, true
		}
		if time.Now().After(end) {
			return s, false
		}
	}
}

// has is the condition that the cache is what a list has said.
func has(want map[string]object) func(state) bool {
	return func(s state) bool { return maps.Equal(plain(s.Objects), want) }
}

// plain leaves out what a list does not say.
func plain(objects map[string]object) map[string]object {
	without := map[string]object{}
	for name, o := range objects { // order: a map is filled
		without[name] = object{Version: o.Version, Value: o.Value}
	}
	return without
}
