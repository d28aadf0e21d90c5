package main

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/token/union"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/informersim/informersim/fakeapiserver/authentication"
	"github.com/informersim/informersim/fakeapiserver/authorization"
	"github.com/informersim/informersim/fakeapiserver/authorization/modes"
	"github.com/informersim/informersim/fakeapiserver/builtin"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// types returns the types of built-in kinds, and sets who says who may do what with them: nobody, if all may do everything.
func (f server) types(w *served) (*types.Registry, error) {
	o := builtin.Options{IPAddresses: !f.Bare, Aggregation: !f.Bare}
	if len(f.Authorization) > 0 && f.Authorization[0] != modes.AlwaysAllow { // no later mode is asked then
		var err error
		if w.authorizer, err = authorization.New(f.Authorization, w.cluster); err != nil {
			return nil, err
		}
		o.Authorizer = w.authorizer
	}
	reg := types.NewRegistry()
	return reg, reg.Add(builtin.Resources(o)...)
}

// inside returns the authorizer for who is within a step, nil if everyone may do everything.
func (w *served) inside() authorizer.UnconditionalAuthorizer {
	if w.authorizer == nil {
		return nil
	}
	return w.authorizer
}

// outside returns the authorizer for who is not within a step, nil if everyone may do everything.
func (w *served) outside() authorizer.UnconditionalAuthorizer {
	if w.authorizer == nil {
		return nil
	}
	return w.authorizer.Between(func(f func()) { w.pump.Look(f) })
}

// proofs adds to how clients prove whom they are the tokens of ServiceAccounts.
func (w *served) proofs(o authentication.Options) authentication.Options {
	o.Authorizer = w.outside()
	if o.Token == nil {
		o.Token = w.tokens
	} else {
		o.Token = union.New(o.Token, w.tokens)
	}
	return o
}

// newTokens returns the tokens of the server's ServiceAccounts.
func (w *served) newTokens() (*builtin.Tokens, error) {
	return builtin.NewTokens(func(f func(time.Time, func(schema.GroupResource, string, string) runtime.Object)) {
		w.pump.Look(func() {
			f(w.kernel.Clock().Now(), func(gr schema.GroupResource, namespace, name string) runtime.Object {
				id, ok := w.cluster.FindResource(gr)
				if !ok {
					return nil
				}
				obj, _ := w.cluster.Store().Get(id, namespace, name)
				return obj
			})
		})
	})
}
