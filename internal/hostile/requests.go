package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// request is a good request, which is mutated.
type request struct {
	name, method, path, contentType, body string
	control                               bool
}

const (
	typeJSON  = "application/json"
	definePut = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

var requests = []request{
	{name: "fault", method: "POST", path: "/fault", contentType: typeJSON, control: true, body: `{"kind":"watch-eof","target":"kubectl","count":3,"from":"10s","until":"20s","after":{"event":"frame","key":"default/a","count":3}}`},
	{name: "create", method: "POST", path: "/api/v1/namespaces/default/configmaps", contentType: typeJSON, body: objects},
	{name: "create-yaml", method: "POST", path: "/api/v1/namespaces/default/configmaps", contentType: "application/yaml", body: objects},
	{name: "create-protobuf", method: "POST", path: "/api/v1/namespaces/default/configmaps", contentType: "application/vnd.kubernetes.protobuf", body: objects},
	{name: "update", method: "PUT", path: "/api/v1/namespaces/default/configmaps/there", contentType: typeJSON, body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"there","resourceVersion":"1"},"data":{"k":"v"}}`},
	{name: "merge-patch", method: "PATCH", path: "/api/v1/namespaces/default/configmaps/there", contentType: "application/merge-patch+json", body: `{"metadata":{"labels":{"a":"b"}},"data":{"k":"w"}}`},
	{name: "strategic-patch", method: "PATCH", path: "/api/v1/namespaces/default/pods/there", contentType: "application/strategic-merge-patch+json", body: `{"spec":{"containers":[{"name":"c","image":"d"}]}}`},
	{name: "json-patch", method: "PATCH", path: "/api/v1/namespaces/default/configmaps/there", contentType: "application/json-patch+json", body: `[{"op":"replace","path":"/data/k","value":"z"},{"op":"copy","from":"/data/k","path":"/data/l"}]`},
	{name: "apply", method: "PATCH", path: "/api/v1/namespaces/default/configmaps/applied?fieldManager=m", contentType: "application/apply-patch+yaml", body: objects},
	{name: "delete-options", method: "DELETE", path: "/api/v1/namespaces/default/configmaps/nothing", contentType: typeJSON, body: `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"x"},"gracePeriodSeconds":0,"propagationPolicy":"Background"}`},
	{name: "define", method: "POST", path: definePut, contentType: typeJSON, body: definitions},
}

// paths are queries and paths of both ports, with the verdict on each.
var paths = []struct {
	method, path string
	control      bool
	must         verdict
}{
	{"GET", "/api/v1/pods?limit=x", false, refused},
	{"GET", "/api/v1/pods?limit=99999999999999999999", false, refused},
	{"GET", "/api/v1/pods?continue=%00%ff", false, refused},
	{"GET", "/api/v1/pods?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTF9", false, refused},
	{"GET", "/api/v1/pods?resourceVersion=-1", false, refused},
	{"GET", "/api/v1/pods?resourceVersion=x%1b[2J", false, refused},
	{"GET", "/api/v1/pods?labelSelector=%3d%3d%3d", false, refused},
	{"GET", "/api/v1/pods?labelSelector=" + strings.Repeat("a,", 3000) + "%21", false, refused},
	{"GET", "/api/v1/pods?fieldSelector=no.such%3d1", false, refused},
	{"GET", "/api/v1/pods?fieldSelector=%00", false, refused},
	{"GET", "/api/v1/pods?watch=1&timeoutSeconds=x", false, refused},
	{"GET", "/api/v1/pods?watch=1&resourceVersion=99999999999999999999", false, refused},
	{"GET", "/api/v1/pods?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=Exact", false, refused},
	{"GET", "/api/v1/pods?timeout=x", false, refused},
	{"GET", "/api/v1/pods?resourceVersionMatch=%1b", false, refused},
	{"GET", "/api/v1/nothing", false, refused},
	{"GET", "/apis/%00/v1/pods", false, refused},
	{"GET", "/apis/" + strings.Repeat("x/", 5000), false, refused},
	{"GET", "/api/v1/namespaces/default/pods/%2e%2e%2f%2e%2e", false, refused},
	{"GET", "/api/v1/namespaces/default/pods/" + strings.Repeat("n", 60_000), false, refused},
	{"GET", "/%ff%fe", false, refused},
	{"BREW", "/api/v1/pods", false, refused},
	{"DELETE", "/api/v1/pods", false, refused},
	{"POST", "/api/v1/namespaces/default/pods/there/exec", false, refused},
	{"PUT", "/openapi/v3", false, either},
	{"GET", "/compact", true, refused},
	{"POST", "/compact?rev=x", true, refused},
	{"POST", "/compact?rev=-1", true, refused},
	{"POST", "/compact?rev=99999999999999999999", true, refused},
	{"POST", "/compact?rev=9999999999", true, refused},
	{"POST", "/compact?rev=1&rev=2", true, refused},
	{"POST", "/compact?%zz", true, refused},
	{"POST", "/compact?no%1b%5b2J=1", true, refused},
	{"POST", "/compact?cache=lose", true, refused},
	{"POST", "/restart?replica=x", true, refused},
	{"POST", "/restart?replica=%00", true, refused},
	{"POST", "/restart?replica=99", true, refused},
	{"POST", "/restore", true, refused},
	{"POST", "/restore?rev=", true, refused},
	{"POST", "/restore?rev=9999999999", true, refused},
	{"POST", "/restore?rev=1&bump=-1", true, refused},
	{"POST", "/restore?rev=1&bump=9223372036854775807", true, refused},
	{"DELETE", "/faults/x", true, refused},
	{"DELETE", "/faults/-1", true, refused},
	{"DELETE", "/faults/99999999999999999999", true, refused},
	{"DELETE", "/faults/77", true, refused},
	{"DELETE", "/faults?all=1", true, refused},
	{"GET", "/revision?x=%ff", true, refused},
	{"POST", "/no/such", true, refused},
	{"GET", "/" + strings.Repeat("y", 60_000), true, refused},
}

// raw are bytes for a socket: no HTTP client sends them.
var raw = []string{
	"", "\x00\x00\x00\x00", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET /api HTTP/1.1\r\n\r\n", "GET /\x1b[2J HTTP/1.1\r\nHost: localhost\r\n\r\n",
	"POST /fault HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: -5\r\n\r\n{}",
	"POST /fault HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
	"GET /api HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
	"GET /api HTTP/1.1\r\nHost: evil.example\r\n\r\n", "GET /api HTTP/1.1\r\nHost: localhost\r\nOrigin: \x1b\r\n\r\n",
	"GET /api HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("h", 2<<20) + "\r\n\r\n",
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00",
}

// heavy bodies cost the real server something, too: they are refused by its limits.
func (c config) heavyBodies(q *request) map[string]string {
	return map[string]string{
		"too-large": `{"a":"` + strings.Repeat("x", 4<<20) + `"}`,
		"many":      "[" + strings.Repeat("{},", 300_000) + "{}]",
		"aliases":   "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n",
	}
}

// target is a running server.
type target struct {
	cmd          *exec.Cmd
	out, errs    syncBuffer
	api, control string
	client       *http.Client
	ended        chan error
}

func (c config) startTarget() (*target, error) {
	t := &target{client: &http.Client{Timeout: patience}, ended: make(chan error, 1)}
	dir := filepath.Join(c.keep, "server")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	t.cmd = exec.Command(c.apiserver, "serve", "--addr", "127.0.0.1:0", "--control", "127.0.0.1:0")
	t.cmd.Dir, t.cmd.Stdout, t.cmd.Stderr = dir, &t.out, &t.errs
	if err := t.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { t.ended <- t.cmd.Wait() }()
	address := regexp.MustCompile(`serving on (\S+)\ncontrol on (\S+)\n`)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if found := address.FindStringSubmatch(t.out.String()); found != nil {
			t.api, t.control = found[1], found[2]
			return t, nil
		}
	}
	return nil, fmt.Errorf("the server does not start: %s", t.errs.String())
}

// stop interrupts the server, which must end well and have logged no panic.
func (t *target) stop() error {
	if err := t.cmd.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	select {
	case err := <-t.ended:
		if err != nil {
			return fmt.Errorf("the server ended with %w: %s", err, t.errs.String())
		}
	case <-time.After(patience):
		_ = t.cmd.Process.Kill() // it is reported as hanging
		return errors.New("the server does not end when it is interrupted")
	}
	if text := t.errs.String(); strings.Contains(text, "panic") || strings.Contains(text, "goroutine ") {
		return fmt.Errorf("the server has logged %s", shown(text))
	}
	return nil
}

// ask sends a request, and returns its answer.
func (t *target) ask(q *request, body string) (code int, kind, text string, err error) {
	base := t.api
	if q.control {
		base = t.control
	}
	r, err := http.NewRequestWithContext(context.Background(), q.method, base+q.path, strings.NewReader(body))
	if err != nil {
		return 0, "", "", err
	}
	if q.contentType != "" {
		r.Header.Set("Content-Type", q.contentType)
	}
	r.Header.Set("User-Agent", "hostile")
	resp, err := t.client.Do(r)
	if err != nil {
		return 0, "", "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header.Get("Content-Type"), string(data), err
}

func (t *target) revision() string {
	_, _, text, err := t.ask(&request{method: "GET", path: "/revision", control: true}, "")
	return strings.TrimSpace(text) + fmt.Sprint(err)
}

// requestCases mutates requests to one server, one after the other.
func (c config) requestCases(t *tally) error {
	if c.only != "" && !strings.HasPrefix(c.only, "request/") && !strings.HasPrefix("request/", c.only) {
		return nil
	}
	server, err := c.startTarget()
	if err != nil {
		return err
	}
	there := []request{
		{method: "POST", path: "/api/v1/namespaces/default/configmaps", contentType: typeJSON, body: `{"metadata":{"name":"there"},"data":{"k":"v"}}`},
		{method: "POST", path: "/api/v1/namespaces/default/pods", contentType: typeJSON, body: `{"metadata":{"name":"there"},"spec":{"containers":[{"name":"c","image":"c"}]}}`},
	}
	for i := range there {
		if code, _, text, err := server.ask(&there[i], there[i].body); code != http.StatusCreated {
			return fmt.Errorf("the first object is answered with %d %s %v", code, text, err)
		}
	}
	try := func(id string, must verdict, q request, body string) {
		if !strings.HasPrefix(id, c.only) {
			return
		}
		dir := (&input{id: id}).dir(c)
		o := c.judgeRequest(server, &q, body)
		if len(o.faults) > 0 || must == refused && !o.refused {
			if err := (&input{files: map[string][]byte{"body": []byte(body)}}).create(dir); err != nil {
				o.faults = append(o.faults, err.Error())
			}
		}
		t.add(id, dir, must, o)
	}
	for _, q := range requests {
		prefix := "request/" + q.name
		for _, m := range c.mutations(prefix, []byte(q.body), each-1, byteMutators, jsonMutators) {
			try(m.id, either, q, string(m.data))
		}
		heavy := c.heavyBodies(&q)
		for _, name := range []string{"too-large", "many", "aliases"} {
			try(prefix+"/"+name, refused, q, heavy[name])
		}
		for i, media := range []string{"", "text/plain", "\"", strings.Repeat("a", 5000), "application/json; charset=\x80"} {
			q.contentType = media
			try(fmt.Sprintf("%s/media-%d", prefix, i), either, q, q.body)
		}
	}
	for i, p := range paths {
		try(fmt.Sprintf("request/path-%d", i), p.must, request{method: p.method, path: p.path, control: p.control}, "")
	}
	for i, text := range raw {
		id := fmt.Sprintf("request/raw-%d", i)
		if strings.HasPrefix(id, c.only) {
			t.add(id, (&input{id: id}).dir(c), either, server.judgeRaw(text))
		}
	}
	return server.stop()
}

// judgeRequest sends a request and checks its answer.
func (c config) judgeRequest(server *target, q *request, body string) (o outcome) {
	fault := func(format string, args ...any) { o.faults = append(o.faults, fmt.Sprintf(format, args...)) }
	before := server.revision()
	code, media, text, err := server.ask(q, body)
	after := server.revision()
	if err != nil {
		fault("%s %.200s is not answered: %v", q.method, q.path, err)
		return o
	}
	message := text
	switch {
	case code >= 500 && (q.control || !strings.Contains(text, `"kind":"Status"`)):
		fault("it is answered with %d", code)
	case code >= 400: // a real server answers some bad requests with a 500, too
		o.refused = true
		if before != after && q.path != definePut { // an earlier definition may still be on its way
			fault("it was refused, and the revision went from %s to %s", before, after)
		}
		if strings.HasPrefix(media, typeJSON) {
			var status struct{ Kind, Status, Message, Reason string }
			if err := json.Unmarshal([]byte(text), &status); err != nil || status.Message == "" && len(text) < 20 {
				fault("the answer is no Status: %.200s", text)
			}
			if status.Kind == "Status" {
				message = status.Message
			}
		}
		if q.control && (strings.Count(message, "\n") > 1 || len(message) > longestMessage) {
			fault("the message has %d lines and %d bytes", strings.Count(message, "\n"), len(message))
		}
		if strings.TrimSpace(message) == "" {
			fault("the answer says nothing")
		}
		if q.control {
			o.faults = append(o.faults, badText(message, q.path+body)...)
		} else if found := regexp.MustCompile(`panic|goroutine \d|runtime error|nil pointer|%!`).FindString(message); found != "" && !strings.Contains(body+q.path, found) {
			fault("it prints %q", found) // the rest are the real server's words
		}
	}
	if len(o.faults) > 0 {
		fault("%s %.200s: %d %s", q.method, q.path, code, shown(message))
	}
	return o
}

// judgeRaw sends bytes to both sockets. A broken connection is an answer, too, but the server must live.
func (t *target) judgeRaw(text string) (o outcome) {
	for _, url := range []string{t.api, t.control} {
		conn, err := net.DialTimeout("tcp", strings.TrimPrefix(url, "http://"), patience)
		if err != nil {
			return outcome{faults: []string{err.Error()}}
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = conn.Write([]byte(text)) // the server may have hung up
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite() // as a client that sends no more
		}
		answer, _ := io.ReadAll(conn)
		conn.Close()
		o.refused = o.refused || bytes.HasPrefix(answer, []byte("HTTP/1.1 4")) || len(answer) == 0
	}
	if rev := t.revision(); !strings.HasSuffix(rev, "<nil>") {
		o.faults = append(o.faults, "the server no longer answers: "+rev)
	}
	return o
}
