package admission

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
)

// The plugin for validating webhooks asks them all at the same time, on goroutines of its own, and the first who refuses is quoted. Where
// nothing may depend on which goroutine is faster, each webhook is asked by a plugin of its own, and whoever asks decides the order.

// hook is a webhook of a configuration. Objects of the Store are never modified, so another one is another configuration.
type hook struct {
	in    *admissionregistrationv1.ValidatingWebhookConfiguration
	index int
}

// Validator asks one validating webhook.
type Validator struct {
	// Name is that of the webhook.
	Name   string
	plugin *validating.Plugin
}

// Validators returns one Validator for each webhook that was configured when the review began, in the order of their names.
func (r *Review) Validators() (all []*Validator, err error) {
	if r.failed != nil {
		return nil, r.failed
	}
	for _, c := range r.validating {
		for i := range c.Webhooks {
			v, err := r.plugins.validatorOf(hook{c, i})
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
	}
	return all, nil
}

// Ask asks the webhook, if the write concerns it.
func (r *Review) Ask(ctx context.Context, v *Validator, obj, old *unstructured.Unstructured) ([]string, error) {
	return r.ask(ctx, func(ctx context.Context) error { return v.plugin.Validate(ctx, r.attributes(obj, old), interfaces{r}) })
}

func (p *Plugins) validatorOf(h hook) (*Validator, error) {
	if v := p.alone[h]; v != nil {
		return v, nil
	}
	s := newSnapshot()
	s.namespaces = p.snapshot.namespaces
	plugin, err := p.validator(s)
	if err != nil {
		return nil, err
	}
	only := h.in.DeepCopy()
	only.Webhooks = only.Webhooks[h.index : h.index+1]
	v := &Validator{Name: only.Webhooks[0].Name, plugin: plugin}
	p.alone[h] = v
	return v, set(s.validating, []*admissionregistrationv1.ValidatingWebhookConfiguration{only})
}
