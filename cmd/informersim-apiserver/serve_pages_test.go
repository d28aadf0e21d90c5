package main

import (
	"strings"
	"testing"
)

const (
	components   = "/api/v1/componentstatuses"
	leases       = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
	rulesReviews = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
)

// What a real server says of itself, this one says, too; --bare says none of it.
func TestServePages(t *testing.T) {
	oneRequestAtATime(t)
	t.Chdir(t.TempDir())
	p := serveFresh(t, "--controllers", "")
	address := strings.TrimPrefix(p.root, "http://")
	p.want(200, `"jwks_uri":"https://`+address+`/openid/v1/jwks"`, "GET", "/.well-known/openid-configuration", "")
	p.want(200, `{"keys":[{"use":"sig","kty":"EC"`, "GET", "/openid/v1/jwks", "")
	p.want(405, "MethodNotAllowed", "POST", "/openid/v1/jwks", "")
	p.want(200, "\nprocess_resident_memory_bytes ", "GET", "/metrics", "")
	p.want(200, "apiserver statusz", "GET", "/statusz", "")
	p.want(404, "404 page not found", "GET", "/openapi/v2/", "")
	paths := p.want(200, `"/.well-known/openid-configuration"`, "GET", "/", "")
	for _, path := range []string{"/apis/", "/apis/apiregistration.k8s.io/v1", "/metrics", "/openid/v1/jwks", "/statusz"} {
		if !strings.Contains(paths, `"`+path+`"`) {
			t.Errorf("%s is not listed in %s", path, paths)
		}
	}
	p.want(200, `"message":"ok"`, "GET", components+"/etcd-0", "")
	p.want(200, `"status":"False"`, "GET", components+"/controller-manager", "")
	p.want(200, `"items":[]`, "GET", components+"?labelSelector=a%3Db", "")
	p.want(405, "watch is not supported", "GET", components+"?watch=true", "")
	p.want(200, `"apiserver.kubernetes.io/identity":"kube-apiserver"`, "GET", leases, "")
	p.want(201, `"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]`, "POST", rulesReviews, `{"spec":{"namespace":"default"}}`)
	p.interrupt()

	p = serveFresh(t)
	p.want(200, `"message":"ok"`, "GET", components+"/controller-manager", "") // it has one
	p.interrupt()

	p = serveIn(t)
	for _, path := range []string{"/.well-known/openid-configuration", "/openid/v1/jwks", "/metrics", "/statusz"} {
		p.want(404, "404 page not found", "GET", path, "")
	}
	p.want(200, `"items":[]`, "GET", components, "")
	p.want(201, `"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]`, "POST", rulesReviews, `{"spec":{"namespace":"default"}}`)
	p.interrupt()
}

// A request may be on behalf of another, but not of nobody.
func TestServeImpersonation(t *testing.T) {
	oneRequestAtATime(t)
	p := serveFresh(t)
	const review = `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`
	for _, tt := range []struct {
		header map[string]string
		code   int
		want   string
	}{
		{nil, 201, `"username":"admin","groups":["system:masters","system:authenticated"]`},
		{map[string]string{"Impersonate-User": "bob", "Impersonate-Group": "dev"}, 201, `"username":"bob","groups":["dev","system:authenticated"]`},
		{map[string]string{"Impersonate-Group": "dev"}, 400, `Groups:[]string{\"dev\"}, Extra:map[string][]string(nil)} without impersonating a user name`},
	} {
		header := map[string]string{"Content-Type": "application/json"}
		for k, v := range tt.header {
			header[k] = v
		}
		if code, answer := p.browse("POST", p.root+"/apis/authentication.k8s.io/v1/selfsubjectreviews", header, review); code != tt.code || !strings.Contains(answer, tt.want) {
			t.Errorf("%v: %d %s, want %d with %s", tt.header, code, answer, tt.code, tt.want)
		}
	}
	p.interrupt()
}
