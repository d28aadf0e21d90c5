package webhooks

import (
	"context"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/admission"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// New returns the admission plugins of a cluster with the given types. everyNamespace is admission.Options.EveryNamespace, a its Authorizer.
func New(c *fakeapiserver.Cluster, t *types.Registry, everyNamespace bool, a authorizer.UnconditionalAuthorizer) (*admission.Plugins, error) {
	return admission.New(admission.Options{
		Cluster: c, Types: t, EveryNamespace: everyNamespace, Authorizer: a, Limit: limit, Warnings: func() admission.Warnings { return &warnings{} },
	})
}

// requestTime limits the calls for a request, as a real server's --request-timeout does.
const requestTime = time.Minute

func limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, requestTime)
}

// warnings collects the warnings of webhooks, some of which are called at the same time.
type warnings struct {
	mu  sync.Mutex
	all []string
}

// AddWarning implements warning.Recorder.
func (l *warnings) AddWarning(_, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, text)
}

// All implements admission.Warnings.
func (l *warnings) All() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}
