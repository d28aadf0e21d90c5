package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// try makes a request with headers, and expects an answer.
func (p *serving) try(code int, contains, method, path string, header map[string]string, body string) string {
	p.t.Helper()
	all := map[string]string{"Content-Type": "application/json"}
	for k, v := range header { // order: a copy
		all[k] = v
	}
	got, answer := p.browse(method, p.root+path, all, body)
	if got != code || !strings.Contains(answer, contains) {
		p.t.Errorf("%s %s, %v: %d %s, want %d with %q", method, path, header, got, answer, code, contains)
	}
	return answer
}

// account creates a ServiceAccount, and returns the header that proves it.
func (p *serving) account(name string) map[string]string {
	p.t.Helper()
	const accounts = "/api/v1/namespaces/default/serviceaccounts"
	p.want(201, name, "POST", accounts, fmt.Sprintf(`{"metadata":{"name":%q}}`, name))
	var answer struct{ Status struct{ Token string } }
	if err := json.Unmarshal([]byte(p.want(201, "token", "POST", accounts+"/"+name+"/token", "{}")), &answer); err != nil {
		p.t.Fatal(err)
	}
	return map[string]string{"Authorization": "Bearer " + answer.Status.Token}
}

// With RBAC, whoever proves to be a ServiceAccount, or is impersonated, may do what roles give him, at once; whoever proves nothing is the administrator.
func TestServeAuthorization(t *testing.T) {
	inTemp(t, map[string]string{"widgets.yaml": widgetsCRD})
	p := serveFresh(t, "--authorization-mode", "RBAC", "--crd", "widgets.yaml")
	const widgets, roles = "/apis/x.dev/v1/namespaces/default/widgets", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/"
	const forbidden = `User \"system:serviceaccount:default:sa\" cannot `
	widget := func(color string) string {
		return fmt.Sprintf(`{"apiVersion":"x.dev/v1","kind":"Widget","metadata":{"name":"w"},"color":%q}`, color)
	}
	sa := p.account("sa")
	p.try(201, `"nonResourceURLs":["/api","/api/*"`, "POST", rulesReviews, sa, `{"spec":{"namespace":"default"}}`)
	p.try(401, "Unauthorized", "GET", widgets, map[string]string{"Authorization": "Bearer barley"}, "")
	p.try(403, `widgets.x.dev is forbidden: User \"bob\" cannot list`, "GET", widgets, map[string]string{"Impersonate-User": "bob"}, "")
	p.try(403, `forbidden: User \"bob\" cannot get path \"/nope\"`, "GET", "/nope", map[string]string{"Impersonate-User": "bob"}, "")
	p.try(403, forbidden+"update", "PUT", widgets+"/w", sa, widget("red"))
	p.want(201, "r", "POST", roles+"roles", `{"metadata":{"name":"r"},"rules":[{"apiGroups":["x.dev"],"resources":["widgets"],"verbs":["update","patch"]}]}`)
	p.want(201, "r", "POST", roles+"rolebindings", `{"metadata":{"name":"r"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"kind":"ServiceAccount","name":"sa"}]}`)
	apply := map[string]string{"Authorization": sa["Authorization"], "Content-Type": "application/apply-patch+yaml"}
	p.try(403, forbidden+"create", "PATCH", widgets+"/w?fieldManager=sa", apply, widget("red"))
	p.want(201, "red", "POST", widgets, widget("red"))
	p.try(200, "blue", "PATCH", widgets+"/w?fieldManager=sa&force=true", apply, widget("blue"))
	p.try(201, `"allowed":false`, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", sa, `{"spec":{"resourceAttributes":{"namespace":"default","verb":"get","group":"x.dev","resource":"widgets"}}}`)
	p.try(403, "attempting to grant RBAC permissions not currently held", "POST", roles+"roles",
		map[string]string{"Impersonate-User": "ann", "Impersonate-Group": p.editors()}, `{"metadata":{"name":"more"},"rules":[{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}]}`)
	p.want(200, "", "DELETE", "/api/v1/namespaces/default/serviceaccounts/sa", "")
	p.try(401, "Unauthorized", "GET", widgets, sa, "")
	p.interrupt()
}

// editors lets a group write roles, and nothing else, and returns its name.
func (p *serving) editors() string {
	p.t.Helper()
	const group = "/apis/rbac.authorization.k8s.io/v1/"
	p.want(201, "editors", "POST", group+"clusterroles", `{"metadata":{"name":"editors"},"rules":[{"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"],"verbs":["create"]}]}`)
	p.want(201, "editors", "POST", group+"clusterrolebindings", `{"metadata":{"name":"editors"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"editors"},"subjects":[{"kind":"Group","name":"editors"}]}`)
	return "editors"
}

// Where everyone may do everything, a ServiceAccount may, too, and what proves nothing is no reason to refuse anyone.
func TestServeWithoutAuthorization(t *testing.T) {
	oneRequestAtATime(t)
	p := serveFresh(t)
	const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	sa := p.account("sa")
	p.try(201, `"username":"system:serviceaccount:default:sa"`, "POST", reviews, sa, "{}")
	p.try(200, "items", "GET", "/api/v1/secrets", sa, "")
	p.try(201, `"username":"admin"`, "POST", reviews, map[string]string{"Authorization": "Bearer barley"}, "{}")
	p.try(200, "items", "GET", "/api/v1/secrets", map[string]string{"Impersonate-User": "bob"}, "")
	p.interrupt()
	p = serveFresh(t, "--token", "sesame")
	p.try(401, "Unauthorized", "GET", "/api/v1/secrets", nil, "")
	p.try(200, "items", "GET", "/api/v1/secrets", map[string]string{"Authorization": "Bearer sesame"}, "")
	p.interrupt()
}

// A token that is bound to a Pod or a Node proves something as long as that is there.
func TestServeBoundTokens(t *testing.T) {
	p := serveFresh(t, "--authorization-mode", "RBAC")
	const namespace, reviews = "/api/v1/namespaces/default", "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	p.account("sa")
	p.want(201, "p", "POST", namespace+"/pods", `{"metadata":{"name":"p"},"spec":{"serviceAccountName":"sa","containers":[{"name":"c","image":"c"}]}}`)
	p.want(201, "n", "POST", "/api/v1/nodes", `{"metadata":{"name":"n"}}`)
	for _, tt := range []struct{ kind, name, path, extra string }{
		{"Pod", "p", namespace + "/pods/p?gracePeriodSeconds=0", `"authentication.kubernetes.io/pod-name":["p"]`},
		{"Node", "n", "/api/v1/nodes/n", `"authentication.kubernetes.io/node-name":["n"]`},
	} {
		var answer struct{ Status struct{ Token string } }
		body := fmt.Sprintf(`{"spec":{"boundObjectRef":{"apiVersion":"v1","kind":%q,"name":%q}}}`, tt.kind, tt.name)
		if err := json.Unmarshal([]byte(p.want(201, "token", "POST", namespace+"/serviceaccounts/sa/token", body)), &answer); err != nil {
			t.Fatal(err)
		}
		bound := map[string]string{"Authorization": "Bearer " + answer.Status.Token}
		p.try(201, tt.extra, "POST", reviews, bound, "{}")
		p.want(200, "", "DELETE", tt.path, "")
		p.try(401, "Unauthorized", "POST", reviews, bound, "{}")
	}
	p.interrupt()
}
