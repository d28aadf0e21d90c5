package rest

import (
	"encoding/json"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
)

// Version is what /version says: the release whose behaviour this server has.
var Version = version.Info{
	Major: "1", Minor: "37", EmulationMajor: "1", EmulationMinor: "37", MinCompatibilityMajor: "1", MinCompatibilityMinor: "36", GitVersion: "v1.37.2", GitCommit: "", GitTreeState: "clean", BuildDate: "1970-01-01T00:00:00Z",
	GoVersion: "go1.26", Compiler: "gc", Platform: "linux/amd64",
}

// nonResource answers paths that are no resource's.
func (c *call) nonResource() (cancel func()) {
	return c.at(func() {
		path := strings.TrimSuffix(c.request.URL.Path, "/")
		if c.request.Method != http.MethodGet && c.request.Method != http.MethodHead && path == "/version" {
			c.fail(&apierrors.StatusError{ErrStatus: metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusMethodNotAllowed, Reason: metav1.StatusReasonMethodNotAllowed,
				Message: "the server does not allow this method on the requested resource", Details: &metav1.StatusDetails{},
			}})
			return
		}
		switch path {
		case "/version":
			c.version()
		case "/healthz", "/livez", "/readyz", "/healthz/ping", "/livez/ping", "/readyz/ping":
			c.respond(http.StatusOK, header("text/plain; charset=utf-8"), []byte("ok"))
		default:
			if doc := c.server.discovery(path); doc != nil {
				c.document(doc)
				return
			}
			c.notFoundPage()
		}
	})
}

// document answers with an object that is no resource's.
func (c *call) document(obj runtime.Object) {
	f, err := c.encoder.ask.NegotiatePlain()
	if err != nil {
		c.fail(err)
		return
	}
	b, err := f.Encode(obj)
	if err != nil {
		c.fail(err)
		return
	}
	c.respond(http.StatusOK, header(f.ContentType()), b)
}

// version answers with what this server is a likeness of.
func (c *call) version() {
	b, err := json.MarshalIndent(Version, "", "  ")
	if err != nil {
		c.fail(err)
		return
	}
	c.respond(http.StatusOK, header("application/json"), b)
}
