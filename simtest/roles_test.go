package simtest_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/simtest"
)

const issuerAccount = "system:serviceaccount:system:issuer"

// as returns a client on behalf of a user, "" for nobody.
func as(env *simtest.Env, name, user string) *kubernetes.Clientset {
	config := env.RESTConfig(name)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	return kubernetes.NewForConfigOrDie(config)
}

// Who is on behalf of a user may do what the roles in the cluster allow him, from the next request on; everyone else may do everything.
func TestRoles(t *testing.T) {
	o := simtest.Options{Seeds: 5, Mix: "none", Roles: []string{"testdata/roles.yaml"}, Verify: true}
	simtest.Run(t, o, func(env *simtest.Env) {
		want := func(what, refused string, err error) {
			t.Helper()
			if (refused == "") != (err == nil) || err != nil && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), refused)) {
				t.Errorf("%s: %v, want %q", what, err, refused)
			}
		}
		asked := false
		env.Go("clients", func(ctx context.Context) error {
			issuer, other, admin := as(env, "issuer", issuerAccount), as(env, "other", "system:serviceaccount:default:issuer"), as(env, "admin", "")
			_, err := issuer.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
			want("what is allowed", "", err)
			_, err = issuer.CoreV1().ConfigMaps("default").Get(ctx, "app", metav1.GetOptions{})
			want("another verb", `configmaps "app" is forbidden: User "`+issuerAccount+`" cannot get resource "configmaps" in API group "" in the namespace "default"`, err)
			_, err = issuer.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
			want("another resource", `cannot list resource "pods" in API group "" at the cluster scope`, err)
			_, err = other.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
			want("another account", "cannot list", err)
			_, err = discovery.NewDiscoveryClient(other.CoreV1().RESTClient()).ServerVersion()
			want("discovery", "", err)
			pods := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "pods"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}}}
			_, err = admin.RbacV1().Roles("default").Create(ctx, pods, metav1.CreateOptions{})
			want("a role", "", err)
			_, err = admin.RbacV1().RoleBindings("default").Create(ctx, &rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: "pods"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "pods"},
				Subjects: []rbacv1.Subject{{Kind: "Group", APIGroup: rbacv1.GroupName, Name: "system:serviceaccounts:system"}},
			}, metav1.CreateOptions{})
			want("a binding", "", err)
			_, err = issuer.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
			want("what is allowed meanwhile", "", err)
			_, err = issuer.CoreV1().Pods("kube-system").List(ctx, metav1.ListOptions{})
			want("another namespace", `in the namespace "kube-system"`, err)
			asked = true
			<-ctx.Done()
			return nil
		})
		env.Eventually("all is asked", time.Hour, func() error {
			if !asked {
				return errors.New("not yet")
			}
			return nil
		})
		if err := env.Get(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "issuer"}}); err != nil {
			t.Errorf("the ServiceAccount of the manifest: %v", err)
		}
	})
}

// A controller whose roles lack a rule is found, and so is one that has none.
func TestRolesThatLackARule(t *testing.T) {
	manifest, err := os.ReadFile("testdata/roles.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, lack := range []string{"list, ", ", update", "[secrets]", "subjects:\n- kind: ServiceAccount\n  namespace: system\n  name: issuer\n"} {
		less := strings.Replace(string(manifest), lack, map[string]string{"[secrets]": "[pods]"}[lack], 1)
		found := simtest.Find(t, simtest.Options{Seeds: 1, Mix: "none", CrashProbability: -1, Roles: []string{less}}, func(env *simtest.Env) {
			env.Go("issuer", func(ctx context.Context) error {
				config := env.RESTConfig("issuer")
				config.Impersonate.UserName = issuerAccount
				return issue(ctx, config)
			})
			m := configMap("app", "")
			m.Data = nil
			env.Create(m)
			env.Eventually("it has its token", time.Hour, func() error {
				if err := env.Get(m); err != nil || m.Data["token"] == "" {
					return errors.New("it has none")
				}
				return nil
			})
		})
		if found == nil || found.Property != "it has its token" || !strings.Contains(string(found.Trace), "403") {
			t.Errorf("without %q: %v", lack, found)
		}
		if testing.Short() {
			break // the others take the same way
		}
	}
}

// Manifests without a role, and those that cannot be read, are errors.
func TestBadRoles(t *testing.T) {
	for _, tt := range []struct{ roles, want string }{
		{"testdata/webhook.yaml", "Options.Roles: there is no Role, ClusterRole or binding in testdata/webhook.yaml"},
		{"testdata/nowhere.yaml", "Options.Roles: "},
		{"a: [\nb", "Options.Roles: document 1 is neither YAML nor JSON"},
		{"apiVersion: rbac.authorization.k8s.io/v1beta1\nkind: Role\n", "Options.Roles: document 1: rbac.authorization.k8s.io/v1beta1, Kind=Role: only v1 is served"},
	} {
		wantIn(t, failure(t, simtest.Options{Roles: []string{tt.roles}}, func(*simtest.Env) {}), tt.want)
	}
}
