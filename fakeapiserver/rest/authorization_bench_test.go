package rest_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/informersim/informersim/fakeapiserver/authorization"
	"github.com/informersim/informersim/fakeapiserver/authorization/modes"
	kinds "github.com/informersim/informersim/fakeapiserver/builtin"
	fakerest "github.com/informersim/informersim/fakeapiserver/rest"
)

// code is a Sink that keeps the code of an answer.
type code int

func (c *code) Answer(n int, _ http.Header, _ fakerest.Body) { *c = code(n) }
func (c *code) Open(n int, _ http.Header)                    { *c = code(n) }
func (*code) Frame([]byte)                                   {}
func (*code) Close(error)                                    {}
func (*code) Fail(error)                                     {}

// BenchmarkAuthorizedGet is a GET of a ConfigMap within the process beside the default policy: where nobody is asked, and with RBAC by an administrator, by
// a user whom a role lets, and by one who is refused.
func BenchmarkAuthorizedGet(b *testing.B) {
	const maps, roles = "/api/v1/namespaces/default/configmaps", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/"
	byRBAC := func(o *fakerest.Options) {
		a, err := authorization.New([]string{modes.RBAC}, o.Cluster)
		if err != nil {
			b.Fatal(err)
		}
		o.Authorizer = a
	}
	for _, tt := range []struct {
		name string
		who  *user.DefaultInfo
		want code
		edit []func(*fakerest.Options)
	}{
		{"nobody-asks", &user.DefaultInfo{Name: "bob", Groups: []string{user.AllAuthenticated}}, 200, nil},
		{"administrator", &user.DefaultInfo{Name: "admin", Groups: []string{user.SystemPrivilegedGroup}}, 200, []func(*fakerest.Options){byRBAC}},
		{"allowed", &user.DefaultInfo{Name: "bob", Groups: []string{user.AllAuthenticated}}, 200, []func(*fakerest.Options){byRBAC}},
		{"refused", &user.DefaultInfo{Name: "ann", Groups: []string{user.AllAuthenticated}}, 403, []func(*fakerest.Options){byRBAC}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			s := newBenchServer(b, tt.edit...)
			post := func(path, body string) {
				s.drain(s.send("POST", path, "application/json", "application/json", body))
			}
			for _, obj := range kinds.Policy() {
				path, body := policyOf(b, obj)
				post(path, body)
			}
			post(maps, `{"metadata":{"name":"m"}}`)
			post(roles+"roles", `{"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}]}`)
			post(roles+"rolebindings", `{"metadata":{"name":"r"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"bob"}]}`)
			target, header := &url.URL{Path: maps + "/m"}, http.Header{"Accept": {"application/json"}}
			b.ReportAllocs()
			for b.Loop() {
				var got code
				s.rt.Driver.Do(func() {
					s.rt.API.Serve(&fakerest.Request{Method: http.MethodGet, URL: target, Header: header, Client: "c", User: tt.who}, &got)
				})
				if got != tt.want {
					b.Fatalf("the answer is %d, want %d", got, tt.want)
				}
			}
		})
	}
}

// policyOf returns where an object of the default policy is created, and its JSON.
func policyOf(b *testing.B, obj runtime.Object) (path, body string) {
	b.Helper()
	const group = "/apis/rbac.authorization.k8s.io/v1/"
	switch obj := obj.(type) {
	case *rbacv1.ClusterRole:
		path = group + "clusterroles"
	case *rbacv1.ClusterRoleBinding:
		path = group + "clusterrolebindings"
	case *rbacv1.Role:
		path = group + "namespaces/" + obj.Namespace + "/roles"
	case *rbacv1.RoleBinding:
		path = group + "namespaces/" + obj.Namespace + "/rolebindings"
	}
	data, err := json.Marshal(obj)
	if err != nil {
		b.Fatal(err)
	}
	return path, string(data)
}
