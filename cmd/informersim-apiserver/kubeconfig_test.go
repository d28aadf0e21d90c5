package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/serveflags"
)

const production = `apiVersion: v1
kind: Config
current-context: prod
clusters:
- name: prod
  cluster: {server: "https://prod.example:6443", certificate-authority: ca.crt}
users:
- name: admin
  user: {client-certificate: admin.crt, client-key: admin.key}
contexts:
- name: prod
  context: {cluster: prod, user: admin, namespace: shop}
`

func writing(path string) server { return server{Flags: &serveflags.Flags{Kubeconfig: path}} }

// The server's context is added to a kubeconfig, and nothing that is there is lost.
func TestKubeconfigIsMerged(t *testing.T) {
	inTemp(t, map[string]string{"kc": production, "empty": ""})
	if err := os.Symlink("kc", "link"); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"http://127.0.0.1:1", "http://127.0.0.1:2"} {
		if err := writing("link").writeKubeconfig(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		config, err := clientcmd.LoadFromFile("kc")
		if err != nil {
			t.Fatal(err)
		}
		prod, user, shop := config.Clusters["prod"], config.AuthInfos["admin"], config.Contexts["prod"]
		if prod == nil || prod.Server != "https://prod.example:6443" || prod.CertificateAuthority != "ca.crt" || user == nil || user.ClientKey != "admin.key" || shop == nil || shop.Namespace != "shop" {
			t.Errorf("the other cluster is now %+v %+v %+v", prod, user, shop)
		}
		if config.CurrentContext != entry || config.Clusters[entry].Server != url {
			t.Errorf("the context %s of %+v", config.CurrentContext, config.Clusters[entry])
		}
		config.Contexts[entry].Namespace = "mine"
		if err := clientcmd.WriteToFile(*config, "kc"); err != nil {
			t.Fatal(err)
		}
	}
	if config, err := clientcmd.LoadFromFile("kc"); err != nil || config.Contexts[entry].Namespace != "mine" {
		t.Errorf("the namespace that the user has set is lost: %v", err)
	}
	for _, path := range []string{"empty", "new/kc", os.DevNull} {
		if err := writing(path).writeKubeconfig(t.Context(), "http://127.0.0.1:1"); err != nil {
			t.Error(err)
		}
	}
	if info, err := os.Stat("new/kc"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a new kubeconfig: %v %v", info, err)
	}
	for _, name := range []string{"kc.lock", "link.lock", "new/kc.lock"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}

// A file that is no kubeconfig, an input, and another's entry of our name are left alone.
func TestKubeconfigRefuses(t *testing.T) {
	before := lockPatience
	lockPatience = 10 * time.Millisecond
	t.Cleanup(func() { lockPatience = before })
	files := map[string]string{
		"pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", "widgets.yaml": widgetsCRD,
		"text": "hello\n", "other": "a: b\n", "broken": "clusters: [\n", "twice": production + "---\n" + production,
		"unknown": production + "mine: 3\n", "foreign": strings.ReplaceAll(production, "name: prod", "name: informersim"),
		"user": strings.ReplaceAll(production, "name: admin", "name: informersim"), "kc": production, "kc.lock": "",
		"same-name": "kind: Config\nusers: [{name: a}, {name: b}, {name: a}, {name: b}]\n",
	}
	inTemp(t, files)
	for args, want := range map[string]string{
		"--kubeconfig pod.yaml":                        "pod.yaml: it is not a kubeconfig: ",
		"--kubeconfig text":                            "text: it is not a kubeconfig: ",
		"--kubeconfig other":                           "other: it is not a kubeconfig: ",
		"--kubeconfig broken":                          "broken: it ",
		"--kubeconfig twice":                           "twice: it has several YAML documents",
		"--kubeconfig same-name":                       `same-name: it has the user "a" twice; remove one of them, or name another file`,
		"--kubeconfig unknown":                         `unknown field "mine"`,
		"--kubeconfig foreign":                         `it has a cluster "informersim" that this command did not write, https://prod.example:6443; rename`,
		"--kubeconfig user":                            `it has a user "informersim" that this command did not write`,
		"--kubeconfig widgets.yaml --crd widgets.yaml": "--kubeconfig: widgets.yaml is the same file as the input",
		"--kubeconfig ./pod.yaml --load pod.yaml":      "--kubeconfig: ./pod.yaml is the same file as the input pod.yaml",
		"--kubeconfig kc":                              "kc.lock exists: another program is changing the kubeconfig",
		"--kubeconfig text --data session.db":          "not a kubeconfig",
		"--kubeconfig=":                                "--kubeconfig is given without a value",
		"--data=":                                      "--data is given without a value",
	} {
		if got := command(t, append([]string{"serve"}, strings.Fields(args)...)...); got.code != cli.BadInput || !strings.Contains(got.stderr, want) {
			t.Errorf("serve %s: %+v, want %q", args, got, want)
		}
	}
	for name, text := range files {
		if got, err := os.ReadFile(name); err != nil || string(got) != text {
			t.Errorf("%s is now %q, %v", name, got, err)
		}
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != len(files) {
		t.Errorf("%d files are left of %d: %v", len(entries), len(files), err)
	}
}
