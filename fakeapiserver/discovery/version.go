package discovery

import (
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/informersim/informersim/fakeapiserver/render"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// Version is the server version that is imitated. Nothing in it depends on how this program was built.
var Version = version.Info{
	Major: "1", Minor: "37", EmulationMajor: "1", EmulationMinor: "37", MinCompatibilityMajor: "1", MinCompatibilityMinor: "36",
	GitVersion: "v1.37.2+informersim", GitCommit: "0000000000000000000000000000000000000000", GitTreeState: "clean",
	BuildDate: "1970-01-01T00:00:00Z", GoVersion: "go1.26", Compiler: "gc", Platform: "linux/amd64",
}

// version answers /version.
func (s *Server) version(q Request, parts []string) Answer {
	if len(parts) > 1 {
		return Answer{Answer: q.Ask.Error(apierrors.NewGenericServerResponse(http.StatusNotFound, q.Method, schema.GroupResource{}, "", "", 0, false))}
	}
	if refusal, refused := refuse(q, types.JSON); refused {
		return refusal
	}
	return Answer{Answer: render.Answer{Code: http.StatusOK, ContentType: types.JSON, Body: rawJSON(Version)}}
}

// notAcceptable returns the 406 of the server's own pages.
func notAcceptable(q Request, have ...string) Answer {
	return Answer{Answer: q.Ask.Error(&apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable, Details: &metav1.StatusDetails{},
		Message: "406: Not Acceptable\n\nAvailable representations: " + strings.Join(have, ", "),
	}})}
}

// takes parses an Accept header like the part of a real server that serves its own pages: it reports whether the header names one of
// the media types, or all.
func takes(accept string, have ...string) bool {
	if accept == "" {
		return true
	}
	for clause := range strings.SplitSeq(accept, ",") {
		media, _, _ := strings.Cut(clause, ";")
		if media = strings.TrimSpace(media); media == "*/*" || slices.Contains(have, media) {
			return true
		}
	}
	return false
}
