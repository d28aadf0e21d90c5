package authorization

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
)

// cluster is one with the resources that authorizers read.
type cluster struct {
	t testing.TB
	*fakeapiserver.Cluster
	ids map[string]store.ResourceID
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	c := &cluster{t, fakeapiserver.NewCluster(sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewFIFO()}), fakeapiserver.ClusterOptions{}), map[string]store.ResourceID{}}
	for _, r := range []store.Resource{
		{Group: rbacv1.GroupName, Version: "v1", Plural: "roles", Kind: "Role", Namespaced: true, New: func() runtime.Object { return &rbacv1.Role{} }},
		{Group: rbacv1.GroupName, Version: "v1", Plural: "rolebindings", Kind: "RoleBinding", Namespaced: true, New: func() runtime.Object { return &rbacv1.RoleBinding{} }},
		{Group: rbacv1.GroupName, Version: "v1", Plural: "clusterroles", Kind: "ClusterRole", New: func() runtime.Object { return &rbacv1.ClusterRole{} }},
		{Group: rbacv1.GroupName, Version: "v1", Plural: "clusterrolebindings", Kind: "ClusterRoleBinding", New: func() runtime.Object { return &rbacv1.ClusterRoleBinding{} }},
		{Version: "v1", Plural: "pods", Kind: "Pod", Namespaced: true, New: func() runtime.Object { return &corev1.Pod{} }},
	} {
		id, err := c.AddResource(r)
		if err != nil {
			t.Fatal(err)
		}
		c.ids[r.Plural] = id
	}
	return c
}

func (c *cluster) put(plural string, obj runtime.Object) {
	c.t.Helper()
	if _, err := c.Store().Put(c.ids[plural], obj); err != nil {
		c.t.Fatal(err)
	}
}

// bind gives a user a role of his own in a namespace: verbs on a resource of the core group.
func (c *cluster) bind(namespace, who, resource string, verbs ...string) {
	c.t.Helper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: who + "-" + resource}
	c.put("roles", &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{resource}, Verbs: verbs}}})
	c.put("rolebindings", &rbacv1.RoleBinding{
		ObjectMeta: meta, Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: who}},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
	})
}

func (c *cluster) authorizer(list ...string) *Authorizer {
	c.t.Helper()
	a, err := New(list, c.Cluster)
	if err != nil {
		c.t.Fatal(err)
	}
	return a
}

// may describes a request for an object of the core group: USER VERB RESOURCE/NAME NAMESPACE.
func may(text string, groups ...string) authorizer.AttributesRecord {
	words := strings.Fields(text)
	resource, name, _ := strings.Cut(words[2], "/")
	return authorizer.AttributesRecord{
		User: &user.DefaultInfo{Name: words[0], Groups: groups}, Verb: words[1], Resource: resource, Name: name, Namespace: words[3], APIVersion: "v1", ResourceRequest: true,
	}
}

// Modes are asked in their order until one has an opinion; system:masters is asked by none.
func TestModes(t *testing.T) {
	c := newCluster(t)
	c.bind("a", "bob", "pods", "get")
	for _, tt := range []struct {
		modes   string
		request authorizer.AttributesRecord
		want    authorizer.Decision
	}{
		{"RBAC", may("bob get pods/x a"), authorizer.DecisionAllow},
		{"RBAC", may("bob get pods/x b"), authorizer.DecisionNoOpinion},
		{"RBAC", may("bob list pods a"), authorizer.DecisionNoOpinion},
		{"RBAC", may("ann get pods/x a"), authorizer.DecisionNoOpinion},
		{"RBAC", may("ann get pods/x a", user.SystemPrivilegedGroup), authorizer.DecisionAllow},
		{"RBAC AlwaysAllow", may("ann get pods/x a"), authorizer.DecisionAllow},
		{"AlwaysAllow RBAC", may("ann get pods/x a"), authorizer.DecisionAllow},
		{"RBAC AlwaysDeny", may("bob get pods/x a"), authorizer.DecisionAllow},
		{"AlwaysDeny RBAC", may("bob get pods/x a"), authorizer.DecisionAllow}, // it has no opinion, in truth
		{"AlwaysDeny", may("bob get pods/x a"), authorizer.DecisionNoOpinion},
		{"AlwaysDeny", may("ann get pods/x a", user.SystemPrivilegedGroup), authorizer.DecisionAllow},
		{"Node", may("bob get pods/x a"), authorizer.DecisionNoOpinion},
		{"Node RBAC", may("bob get pods/x a"), authorizer.DecisionAllow},
	} {
		got, reason, err := c.authorizer(strings.Fields(tt.modes)...).Authorize(t.Context(), tt.request)
		if got != tt.want || err != nil {
			t.Errorf("%s, %s %s: %s %q, %v; want %s", tt.modes, tt.request.User.GetName(), tt.request.Verb, got, reason, err, tt.want)
		}
	}
}

// A decision is of the newest state: a role counts at once, and no longer than it is there.
func TestRolesCountAtOnce(t *testing.T) {
	c := newCluster(t)
	a, request := c.authorizer("RBAC"), may("bob get pods/x a")
	looks := 0
	between := a.Between(func(f func()) { looks++; f() })
	decide := func(want authorizer.Decision, because string) {
		t.Helper()
		for _, of := range []authorizer.UnconditionalAuthorizer{a, between} {
			if got, reason, err := of.Authorize(t.Context(), request); got != want || !strings.Contains(reason, because) || err != nil {
				t.Errorf("%s %q, %v; want %s %q", got, reason, err, want, because)
			}
		}
	}
	decide(authorizer.DecisionNoOpinion, "")
	c.bind("a", "bob", "pods", "get")
	decide(authorizer.DecisionAllow, `RBAC: allowed by RoleBinding "bob-pods/a" of Role "bob-pods" to User "bob"`)
	if _, _, err := c.Store().Delete(c.ids["roles"], "a", "bob-pods"); err != nil {
		t.Fatal(err)
	}
	decide(authorizer.DecisionNoOpinion, `rbac: RBAC: role.rbac.authorization.k8s.io "bob-pods" not found`)
	if looks != 3 {
		t.Errorf("between steps it has looked %d times", looks)
	}
}

// A kubelet sees the Secrets of its Pods, as long as they are there.
func TestNodesSeeWhatTheirPodsNeed(t *testing.T) {
	c := newCluster(t)
	a := c.authorizer("Node")
	request := may("system:node:n get secrets/s a", user.NodesGroup)
	decide := func(want authorizer.Decision) {
		t.Helper()
		if got, _, err := a.Authorize(t.Context(), request); got != want || err != nil {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	decide(authorizer.DecisionNoOpinion)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"}, Spec: corev1.PodSpec{
		NodeName: "n", Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}}},
	}}
	c.put("pods", pod)
	decide(authorizer.DecisionAllow)
	if _, _, err := c.Store().Delete(c.ids["pods"], "a", "p"); err != nil {
		t.Fatal(err)
	}
	decide(authorizer.DecisionNoOpinion)
}

// BenchmarkAuthorize is the cost of one decision by RBAC beside the policy of a fresh cluster: of an administrator, of a user with a role in the request's
// namespace, of one without, and of the latter beside 1,000 more cluster-wide bindings.
func BenchmarkAuthorize(b *testing.B) {
	fresh := func(more int) *Authorizer {
		c := newCluster(b)
		for _, r := range slices.Concat(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()) {
			c.put("clusterroles", &r)
		}
		for _, r := range slices.Concat(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()) {
			c.put("clusterrolebindings", &r)
		}
		for i := range more {
			c.put("clusterrolebindings", &rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("more-", i)}, Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "x", Name: fmt.Sprint(i)}},
				RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
			})
		}
		c.bind("a", "bob", "pods", "get")
		return c.authorizer("RBAC")
	}
	for _, tt := range []struct {
		name    string
		more    int
		request authorizer.AttributesRecord
		want    authorizer.Decision
	}{
		{"administrator", 0, may("admin get pods/x a", user.SystemPrivilegedGroup), authorizer.DecisionAllow},
		{"allowed", 0, may("bob get pods/x a", user.AllAuthenticated), authorizer.DecisionAllow},
		{"refused", 0, may("ann get pods/x a", user.AllAuthenticated), authorizer.DecisionNoOpinion},
		{"bindings=1000", 1000, may("bob get pods/x a", user.AllAuthenticated), authorizer.DecisionAllow},
	} {
		b.Run(tt.name, func(b *testing.B) {
			a := fresh(tt.more)
			b.ReportAllocs()
			for b.Loop() {
				if got, reason, err := a.Authorize(context.Background(), tt.request); got != tt.want || err != nil {
					b.Fatal(got, reason, err)
				}
			}
		})
	}
}
