package authorization

import (
	"context"
	"strings"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/authorization/union"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/authorization/modes"
)

// Authorizer says who may do what in a cluster. It reads the Store, so it is asked inside a step, or between two of them (Between).
type Authorizer struct {
	authorizer.Authorizer
	authorizer.RuleResolver
}

// New returns the authorizer of a cluster for a list of modes, which are asked in their order until one of them has an opinion.
func New(list []string, c *fakeapiserver.Cluster) (*Authorizer, error) {
	if err := modes.Check(list); err != nil {
		return nil, err
	}
	state := newState(c)
	chain := []union.NamedAuthorizer{{
		AuthorizerName: "kubernetes.io/system-privileged-group", Authorizer: authorizerfactory.NewPrivilegedGroups(user.SystemPrivilegedGroup),
	}}
	var rules []authorizer.RuleResolver
	for _, mode := range list {
		var one interface {
			authorizer.Authorizer
			authorizer.RuleResolver
		}
		switch mode {
		case modes.AlwaysAllow:
			one = authorizerfactory.NewAlwaysAllowAuthorizer()
		case modes.AlwaysDeny:
			one = authorizerfactory.NewAlwaysDenyAuthorizer()
		case modes.Node:
			one = newNodes(state)
		case modes.RBAC:
			one = rbac.New(state, state, state, state)
		}
		// Reasons begin with the name, which kube-apiserver makes of the mode.
		chain = append(chain, union.NamedAuthorizer{AuthorizerName: strings.ToLower(mode), Authorizer: one})
		rules = append(rules, one)
	}
	all, err := union.New(chain...)
	if err != nil {
		return nil, err
	}
	return &Authorizer{all, union.NewRuleResolvers(rules...)}, nil
}

// Between returns the authorizer for whoever asks outside of the steps. look runs a function between two of them.
func (a *Authorizer) Between(look func(func())) authorizer.UnconditionalAuthorizer {
	return between{a, look}
}

type between struct {
	of   *Authorizer
	look func(func())
}

// Authorize implements authorizer.UnconditionalAuthorizer.
func (b between) Authorize(ctx context.Context, a authorizer.Attributes) (decision authorizer.Decision, reason string, err error) {
	b.look(func() { decision, reason, err = b.of.Authorize(ctx, a) })
	return decision, reason, err
}
