package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
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

// serveIn starts `informersim serve` and waits until it serves.
func serveIn(t *testing.T, args ...string) *serving {
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

// A server that is killed under load still has everything that it acknowledged when it is restarted, and an informer continues with
// it.
func TestServeSurvivesKill(t *testing.T) {
	inTemp(t, nil)
	addr := freeAddress(t)
	first := serveIn(t, "--addr", addr, "--data", "session.db")
	client := first.client()
	factory := informers.NewSharedInformerFactory(client, 0)
	lister := factory.Core().V1().ConfigMaps().Lister()
	informer := factory.Core().V1().ConfigMaps().Informer()
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())

	told := make(chan *corev1.ConfigMap, 10000)
	go func() {
		defer close(told)
		for i := 0; ; i++ {
			cm, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("m-%05d", i), Labels: map[string]string{"a": "b"}}}, metav1.CreateOptions{})
			if err != nil {
				return // the server is gone
			}
			told <- cm
		}
	}()
	var all []*corev1.ConfigMap
	for len(all) < 20 {
		all = append(all, <-told)
	}
	first.kill()
	for cm := range told {
		all = append(all, cm)
	}

	second := serveIn(t, "--addr", addr, "--data", "session.db")
	list, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]corev1.ConfigMap{}
	for _, cm := range list.Items {
		have[cm.Name] = cm
	}
	for _, want := range all {
		if got := have[want.Name]; !equality.Semantic.DeepEqual(&got, want) {
			t.Errorf("the server acknowledged %+v, and has %+v", want, got)
		}
	}
	// One more may have been written whose answer was lost.
	if extra := len(have) - len(all); extra < 0 || extra > 1 {
		t.Errorf("there are %d objects, %d were acknowledged", len(have), len(all))
	}
	old, err := client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: all[0].ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	if e := <-old.ResultChan(); !apierrors.IsResourceExpired(apierrors.FromObject(e.Object)) {
		t.Errorf("a watch from before the restart begins with %+v", e)
	}
	after, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "after"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		cm, err := lister.ConfigMaps("default").Get("after")
		if err == nil && cm.ResourceVersion == after.ResourceVersion && len(informer.GetStore().List()) == len(have)+1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the informer has %d objects, and %v of the last one; %d were expected", len(informer.GetStore().List()), err, len(have)+1)
		}
		time.Sleep(10 * time.Millisecond)
	}

	// The file is in use.
	if got := command(t, "serve", "--data", "session.db"); got.code != cli.BadInput || !strings.Contains(got.stderr, "session.db cannot be used: it is open in another process") {
		t.Errorf("a second server on the same file: %+v", got)
	}
	second.kill()
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
