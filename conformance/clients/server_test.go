package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var apiserver = flag.String("apiserver", "", "the `program` informersim-apiserver (default: built anew)")

// built is where the program is, and removes it at the end.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// TestMain removes what the tests have built.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range []string{built.dir, installed.dir} {
		if dir != "" {
			os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// program returns the path of informersim-apiserver.
func program(t *testing.T) string {
	t.Helper()
	if *apiserver != "" {
		return *apiserver
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "informersim-clients-"); built.err != nil {
			return
		}
		build := exec.Command("go", "-C", "../..", "build", "-o", filepath.Join(built.dir, "informersim-apiserver"), "./cmd/informersim-apiserver")
		if output, err := build.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("build informersim-apiserver: %w\n%s", err, output)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "informersim-apiserver")
}

// server is an informersim-apiserver in a process of its own.
type server struct {
	t            *testing.T
	command      *exec.Cmd
	url, control string
}

// serve starts one. It ends with the test, if not before.
func serve(t *testing.T, flags ...string) *server {
	t.Helper()
	s := &server{t: t}
	s.command = exec.Command(program(t), append([]string{"serve", "--controllers", "", "--control", "127.0.0.1:0"}, flags...)...)
	s.command.Stderr = t.Output()
	out, err := s.command.StdoutPipe()
	if err == nil {
		err = s.command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	lines := bufio.NewScanner(out)
	for s.url == "" || s.control == "" {
		if !lines.Scan() {
			t.Fatalf("informersim-apiserver ended before it listened: %v", lines.Err())
		}
		if url, found := strings.CutPrefix(lines.Text(), "serving on "); found {
			s.url = url
		}
		if url, found := strings.CutPrefix(lines.Text(), "control on "); found {
			s.control = url
		}
	}
	go io.Copy(io.Discard, out) // so that the server never waits for its reader
	return s
}

// stop ends the server.
func (s *server) stop() {
	if s.command.ProcessState == nil {
		s.command.Process.Signal(os.Interrupt)
		s.command.Wait()
	}
}

// fault has the server inject a fault into requests about the namespace of the test.
func (s *server) fault(kind string, count int) {
	s.t.Helper()
	code, answer, err := send("POST", s.control+"/fault", map[string]any{"kind": kind, "namespace": namespace, "resource": "configmaps", "count": count})
	if err != nil || code >= 300 {
		s.t.Fatalf("inject %s: %d %s %v", kind, code, answer, err)
	}
}

// namespace is where all ConfigMaps are.
const namespace = "default"

func (s *server) configMaps() string {
	return s.url + "/api/v1/namespaces/" + namespace + "/configmaps"
}

// write sends a write until it is answered with anything but a failure that faults cause; its answer may be a conflict or a 404, then.
func (s *server) write(method, name, value string) {
	s.t.Helper()
	url := s.configMaps()
	if method != "POST" {
		url += "/" + name
	}
	var body any
	if method != "DELETE" {
		body = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"value": value}}
	}
	var code int
	var answer []byte
	var err error
	for range 100 {
		if code, answer, err = send(method, url, body); err == nil && code < 500 && code != http.StatusTooManyRequests {
			return
		}
	}
	s.t.Fatalf("%s %s: %d %s %v", method, url, code, answer, err)
}

// list returns the server's ConfigMaps by name.
func (s *server) list() map[string]object {
	s.t.Helper()
	code, answer, err := send("GET", s.configMaps(), nil)
	if err != nil || code != http.StatusOK {
		s.t.Fatalf("list: %d %s %v", code, answer, err)
	}
	var list struct {
		Items []struct {
			Metadata struct{ Name, ResourceVersion string }
			Data     struct{ Value string }
		}
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		s.t.Fatal(err)
	}
	objects := map[string]object{}
	for _, i := range list.Items {
		objects[i.Metadata.Name] = object{Version: i.Metadata.ResourceVersion, Value: i.Data.Value}
	}
	return objects
}

// direct gives up on a request that a fault keeps from being answered.
var direct = http.Client{Timeout: 30 * time.Second}

// send sends a request with a JSON body, or none.
func send(method, url string, body any) (int, []byte, error) {
	var encoded []byte
	if body != nil {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return 0, nil, err
		}
	}
	request, err := http.NewRequest(method, url, bytes.NewReader(encoded))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := direct.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	return answer.StatusCode, all, err
}
