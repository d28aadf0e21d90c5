package discovery

import (
	"net/http"

	"k8s.io/apimachinery/pkg/version"

	"github.com/informersim/informersim/fakeapiserver/render"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// Version is what the server says that it is: the one that it does as. Nothing in it depends on how this program was built.
var Version = version.Info{
	Major: "1", Minor: "37", EmulationMajor: "1", EmulationMinor: "37", MinCompatibilityMajor: "1", MinCompatibilityMinor: "36",
	GitVersion: "v1.37.2+informersim", GitCommit: "0000000000000000000000000000000000000000", GitTreeState: "clean",
	BuildDate: "1970-01-01T00:00:00Z", GoVersion: "go1.26", Compiler: "gc", Platform: "linux/amd64",
}

// version answers /version.
func (s *Server) version(q Request) Answer {
	if !reads(q) {
		return methodNotAllowed(q)
	}
	return Answer{Answer: render.Answer{Code: http.StatusOK, ContentType: types.JSON, Body: rawJSON(Version)}}
}
