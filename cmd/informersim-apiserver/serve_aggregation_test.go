package main

import (
	"strings"
	"testing"
)

const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices"

// Every group has its APIService, those of definitions too; --bare has none (S43).
func TestS43ServeAPIServices(t *testing.T) {
	t.Chdir(t.TempDir())
	p := serveFresh(t)
	if n := strings.Count(p.want(200, "", "GET", apiServices, ""), `"reason":"Local"`); n != 22 {
		t.Errorf("%d APIServices are available, want 22", n)
	}
	p.want(200, `"groups":[{"name":"apiregistration.k8s.io"`, "GET", "/apis", "")
	p.want(201, "", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"things.agg.example.com"},"spec":{"group":"agg.example.com",
		"scope":"Namespaced","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
	p.want(200, `"kube-aggregator.kubernetes.io/automanaged":"true"`, "GET", apiServices+"/v1.agg.example.com", "")
	p.want(200, "", "DELETE", apiServices+"/v1.agg.example.com", "")
	p.want(200, `"reason":"Local"`, "GET", apiServices+"/v1.agg.example.com", "")
	p.want(200, "", "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.agg.example.com", "")
	p.until(func() bool {
		code, _ := p.as("test", "GET", p.root+apiServices+"/v1.agg.example.com", "")
		return code == 404
	})
	p.interrupt()
	p = serveIn(t)
	p.want(404, "404 page not found", "GET", apiServices, "")
	if groups := p.want(200, `"name":"apps"`, "GET", "/apis", ""); strings.Contains(groups, "apiregistration.k8s.io") {
		t.Errorf("a bare server has %s", groups)
	}
	p.interrupt()
}

// An APIService of another server is stored, says why it is not available, and its group answers 503. A session keeps it, and gets back what it
// lacks of its own (S43).
func TestS43ServeAPIServiceOfAService(t *testing.T) {
	t.Chdir(t.TempDir())
	p := serveFresh(t, "--data", "session")
	p.want(201, "", "POST", apiServices, `{"metadata":{"name":"v1beta1.metrics.k8s.io"},"spec":{"group":"metrics.k8s.io","version":"v1beta1","groupPriorityMinimum":100,
		"versionPriority":100,"insecureSkipTLSVerify":true,"service":{"namespace":"kube-system","name":"metrics-server"}}}`)
	p.want(200, `"reason":"ServiceNotFound","message":"service/metrics-server in \"kube-system\" is not present"`, "GET", apiServices+"/v1beta1.metrics.k8s.io", "")
	p.want(503, "service unavailable\n", "GET", "/apis/metrics.k8s.io/v1beta1/nodes", "")
	p.want(200, `"preferredVersion":{"groupVersion":"metrics.k8s.io/v1beta1"`, "GET", "/apis/metrics.k8s.io", "")
	p.want(200, "", "DELETE", apiServices+"/v1.apps", "")
	p.want(404, "", "GET", apiServices+"/v1.apps", "")
	p.want(200, "", "GET", "/apis/apps/v1/deployments", "")
	p.interrupt()
	p = serveFresh(t, "--data", "session")
	p.want(200, `"reason":"Local"`, "GET", apiServices+"/v1.apps", "")
	p.want(503, "service unavailable\n", "GET", "/apis/metrics.k8s.io/v1beta1", "")
	p.want(201, "", "POST", "/api/v1/namespaces/kube-system/services", `{"metadata":{"name":"metrics-server"},"spec":{"type":"ExternalName","externalName":"metrics.example.com"}}`)
	p.want(200, `"reason":"FailedDiscoveryCheck"`, "GET", apiServices+"/v1beta1.metrics.k8s.io", "")
	p.interrupt()
}
