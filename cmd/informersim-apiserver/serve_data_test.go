package main

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	clientcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/cmd/internal/cli"
)

// serving is a server in a process of its own.
type serving struct {
	t       *testing.T
	cmd     *exec.Cmd
	root    string
	control string
	stderr  *bytes.Buffer
}

// serveIn starts `informersim serve --bare` and waits until it serves: most tests are about other things than a fresh cluster, and
// put objects where they like.
func serveIn(t *testing.T, args ...string) *serving {
	t.Helper()
	return serveFresh(t, append([]string{"--bare"}, args...)...)
}

// serveFresh starts `informersim serve` and waits until it serves.
func serveFresh(t *testing.T, args ...string) *serving {
	t.Helper()
	p := &serving{t: t, cmd: exec.CommandContext(t.Context(), os.Args[0], append([]string{"serve"}, args...)...), stderr: &bytes.Buffer{}}
	p.cmd.Env = append(os.Environ(), asCommand+"=1")
	p.cmd.Stderr = p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the end of the context kills it as well, but not always before this process ends
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if root, ok := strings.CutPrefix(lines.Text(), "serving on "); ok {
			p.root = root
		}
		if root, ok := strings.CutPrefix(lines.Text(), "control on "); ok {
			p.control = root
		}
		if p.root != "" && (p.control != "" || !slices.Contains(args, "--control")) {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return p
		}
	}
	t.Fatalf("the server ended: %v\n%s", p.cmd.Wait(), p.stderr)
	return nil
}

func (p *serving) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	_ = p.cmd.Wait() // it was killed
}

func (p *serving) client() kubernetes.Interface {
	p.t.Helper()
	c, err := kubernetes.NewForConfig(&rest.Config{Host: p.root})
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

var killRounds = flag.Int("kills", 5, "how often TestServeSurvivesKill kills the server")

// killLoad is what writers have got acknowledged, over all lives of a server.
type killLoad struct {
	client clientcorev1.ConfigMapInterface

	mu           sync.Mutex
	acknowledged map[string]*corev1.ConfigMap // the last acknowledged state
	attempted    map[string]int               // the number in the last state that was sent
	answers      int
}

const killWriters = 8

// write creates and updates the objects of a writer until the server is gone.
func (l *killLoad) write(ctx context.Context, life, writer int) {
	for n := 0; ; n++ {
		name := fmt.Sprintf("m-%d-%d-%04d", life, writer, n/2)
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"a": "b"}}, Data: map[string]string{"n": strconv.Itoa(n % 2)}}
		l.mu.Lock()
		l.attempted[name] = n % 2
		l.mu.Unlock()
		var err error
		if n%2 == 0 {
			cm, err = l.client.Create(ctx, cm, metav1.CreateOptions{})
		} else {
			cm, err = l.client.Update(ctx, cm, metav1.UpdateOptions{})
		}
		if err != nil {
			return // the server is gone
		}
		l.mu.Lock()
		l.acknowledged[name] = cm
		l.answers++
		l.mu.Unlock()
	}
}

// kill runs the writers, and kills the server once it has acknowledged that many more writes.
func (l *killLoad) kill(p *serving, life, after int) {
	var writers sync.WaitGroup
	for n := range killWriters {
		writers.Go(func() { l.write(p.t.Context(), life, n) })
	}
	l.mu.Lock()
	enough := l.answers + after
	l.mu.Unlock()
	for {
		l.mu.Lock()
		now := l.answers
		l.mu.Unlock()
		if now >= enough || p.t.Context().Err() != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	p.kill()
	writers.Wait()
}

// check compares what a server has with what its predecessors acknowledged. Of each writer, one more write may have been stored whose
// answer was lost.
func (l *killLoad) check(t *testing.T) (objects int) {
	t.Helper()
	list, err := l.client.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]corev1.ConfigMap{}
	for _, cm := range list.Items {
		have[cm.Name] = cm
		if _, sent := l.attempted[cm.Name]; !sent {
			t.Errorf("the server has %s, which nobody wrote", cm.Name)
		}
	}
	extra := 0
	for name, last := range l.attempted {
		got, exists := have[name]
		want := l.acknowledged[name]
		switch {
		case want != nil && equality.Semantic.DeepEqual(&got, want):
		case exists && got.Data["n"] == strconv.Itoa(last) && (want == nil || want.Data["n"] != got.Data["n"]):
			extra++
			l.acknowledged[name] = &got // from now on it must stay
		case want != nil:
			t.Errorf("the server acknowledged %+v, and has %+v", want, got)
		}
	}
	if extra > killWriters {
		t.Errorf("%d writes were stored without an answer, by %d writers", extra, killWriters)
	}
	return len(have)
}

// A server that is killed under load, again and again, still has everything that it acknowledged when it is restarted, and an
// informer continues with it.
func TestServeSurvivesKill(t *testing.T) {
	inTemp(t, nil)
	addr := freeAddress(t)
	p := serveIn(t, "--addr", addr, "--data", "session.db")
	client := p.fastClient()
	factory := informers.NewSharedInformerFactory(client, 0)
	lister := factory.Core().V1().ConfigMaps().Lister()
	informer := factory.Core().V1().ConfigMaps().Informer()
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())

	load := &killLoad{client: client.CoreV1().ConfigMaps("default"), acknowledged: map[string]*corev1.ConfigMap{}, attempted: map[string]int{}}
	first, err := load.client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "first"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	load.acknowledged["first"], load.attempted["first"] = first, 0
	objects, kills := 0, *killRounds
	if testing.Short() {
		kills = min(kills, 2) // each starts a server anew, which takes the race detector ten seconds
	}
	for life := range kills {
		load.kill(p, life, 20+life*37%200)
		p = serveIn(t, "--addr", addr, "--data", "session.db")
		objects = load.check(t)
	}
	t.Logf("%d kills under %d writers: %d writes were acknowledged, all of them are there", kills, killWriters, load.answers)
	old, err := load.client.Watch(t.Context(), metav1.ListOptions{ResourceVersion: first.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	if e := <-old.ResultChan(); !apierrors.IsResourceExpired(apierrors.FromObject(e.Object)) {
		t.Errorf("a watch from before the restart begins with %+v", e)
	}
	after, err := load.client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "after"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(3 * time.Minute) // many ends in a row make an informer wait long
	for {
		cm, err := lister.ConfigMaps("default").Get("after")
		if err == nil && cm.ResourceVersion == after.ResourceVersion && len(informer.GetStore().List()) == objects+1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the informer has %d objects, and %v of the last one; %d were expected", len(informer.GetStore().List()), err, objects+1)
		}
		time.Sleep(10 * time.Millisecond)
	}

	// The file is in use.
	if got := command(t, "serve", "--data", "session.db"); got.code != cli.BadInput || !strings.Contains(got.stderr, "session.db cannot be used: it is open in another process") {
		t.Errorf("a second server on the same file: %+v", got)
	}
	p.kill()
}

// fastClient is a client that does not hold its requests back.
func (p *serving) fastClient() kubernetes.Interface {
	p.t.Helper()
	c, err := kubernetes.NewForConfig(&rest.Config{Host: p.root, QPS: -1})
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// At the second start, --load finds its objects in place.
func TestServeLoadsOnce(t *testing.T) {
	inTemp(t, map[string]string{"objects.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: b-, namespace: a}\n"})
	for range 2 {
		p := serveIn(t, "--data", "session.db", "--load", "objects.yaml")
		list, err := p.client().CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != 1 {
			t.Errorf("%d objects, %v", len(list.Items), err)
		}
		if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v: %s", err, p.stderr)
		}
	}
}

// A restore is persisted as well.
func TestServeKeepsRestore(t *testing.T) {
	inTemp(t, nil)
	p := serveIn(t, "--data", "session.db", "--control", "127.0.0.1:0")
	maps := p.client().CoreV1().ConfigMaps("default")
	var first *corev1.ConfigMap
	for i := range 3 {
		cm, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("m-", i)}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = cm
		}
	}
	resp, err := http.Post(p.control+"/restore?rev="+first.ResourceVersion, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	p.kill()
	list, err := serveIn(t, "--data", "session.db").client().CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.ResourceVersion != first.ResourceVersion {
		t.Errorf("%d objects at %s, %v; want 1 at %s", len(list.Items), list.ResourceVersion, err, first.ResourceVersion)
	}
}

func TestServeRefusesData(t *testing.T) {
	inTemp(t, map[string]string{"notes.txt": "remember the milk", "plain/x": ""})
	for path, want := range map[string]string{
		"notes.txt":    "--data: notes.txt was not written by this server, or is damaged",
		"plain":        "--data: plain is not a regular file",
		"missing/data": "--data: open missing/data: no such file or directory",
		"notes.txt/x":  "not a directory",
	} {
		if got := command(t, "serve", "--data", path); got.code != cli.BadInput || !strings.Contains(got.stderr, want) {
			t.Errorf("--data %s: %+v, want %q", path, got, want)
		}
	}
}

// Definitions survive, however they were created, with objects that were stored before a change; --crd replaces existing ones.
func TestServeKeepsDefinitions(t *testing.T) {
	colors := strings.Replace(widgetsCRD, "{type: object, x-kubernetes-preserve-unknown-fields: true}", "{type: object, properties: {spec: {type: object, properties: {color: {type: string, default: red}}}}}", 1)
	inTemp(t, map[string]string{"widgets.yaml": widgetsCRD, "colors.yaml": colors})
	p := serveIn(t, "--data", "session.db", "--crd", "widgets.yaml")
	gadgets := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.x.dev"},"spec":{"group":"x.dev","scope":"Cluster","names":{"plural":"gadgets","kind":"Gadget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
	p.want(201, "", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", gadgets)
	p.want(201, "", "POST", "/apis/x.dev/v1/gadgets", `{"apiVersion":"x.dev/v1","kind":"Gadget","metadata":{"name":"g"}}`)
	p.want(201, `"size":1`, "POST", "/apis/x.dev/v1/namespaces/a/widgets", `{"apiVersion":"x.dev/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":1}}`)
	p.kill()

	p = serveIn(t, "--data", "session.db")
	before := p.want(200, `"True"`, "GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.x.dev", "")
	p.want(200, `"name":"g"`, "GET", "/apis/x.dev/v1/gadgets/g", "")
	p.want(200, `"size":1`, "GET", "/apis/x.dev/v1/namespaces/a/widgets/w", "")
	p.kill()

	p = serveIn(t, "--data", "session.db", "--crd", "colors.yaml")
	if answer := p.want(200, `"color":"red"`, "GET", "/apis/x.dev/v1/namespaces/a/widgets/w", ""); strings.Contains(answer, `"size"`) {
		t.Errorf("a field that the schema has lost: %s", answer)
	}
	p.kill()
	p = serveIn(t, "--data", "session.db")
	p.want(200, `"color":"red"`, "GET", "/apis/x.dev/v1/namespaces/a/widgets/w", "")
	if after := p.want(200, "", "GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.x.dev", ""); after != before {
		t.Errorf("an untouched definition was\n%s\nand is\n%s", before, after)
	}
	p.want(200, "", "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.x.dev", "")
	p.kill()
	p = serveIn(t, "--data", "session.db")
	p.want(404, "", "GET", "/apis/x.dev/v1/gadgets/g", "")
}
