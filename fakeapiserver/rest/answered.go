package rest

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/render"
)

var _ fakeapiserver.Answerer = (*call)(nil)

// Answered implements fakeapiserver.Answerer: the record of a response has the code, and of an error the reason and the message, for
// a write that the server refuses is a response like any other to the connection.
func (c *call) Answered(page *fakeapiserver.Page, err error) string {
	switch {
	case err != nil && brokenConnection(err):
		return ""
	case err != nil:
		return describeError(err)
	case page == nil && c.answer != nil:
		return c.answered
	case page == nil: // a watch is opened
		return fmt.Sprintf("%d %s", http.StatusOK, http.StatusText(http.StatusOK))
	case c.single && len(page.Items) == 0:
		return describeError(apierrors.NewNotFound(c.resource.GroupResource(), c.target.name))
	}
	return ""
}

// describeError renders an error answer on one line.
func describeError(err error) string {
	status := render.Status(err)
	if status.Reason == "" {
		return fmt.Sprintf("%d: %s", status.Code, status.Message)
	}
	return fmt.Sprintf("%d %s: %s", status.Code, status.Reason, status.Message)
}
