package fault

import (
	"math"

	"github.com/informersim/informersim/sim"
)

// Faults of webhooks are no part of the table: there is nothing for them to hit but in Go tests, whose own kernel offers them.

// webhookKinds are those faults, with their choices.
var webhookKinds = []struct {
	kind   Kind
	choice sim.Kind
}{
	{WebhookTimeout, sim.RegisterKind(string(WebhookTimeout), sim.ClassFault)},
	{WebhookRefused, sim.RegisterKind(string(WebhookRefused), sim.ClassFault)},
	{Webhook500, sim.RegisterKind(string(Webhook500), sim.ClassFault)},
	{WebhookGarbage, sim.RegisterKind(string(WebhookGarbage), sim.ClassFault)},
}

// webhookRate is the rate of each in a built-in mix, as a multiple of the mix's unit: that of other requests that can be hit for a few steps only.
const webhookRate = 8

// WebhookKinds returns the kinds that hit calls of webhooks.
func WebhookKinds() []Kind {
	kinds := make([]Kind, len(webhookKinds))
	for i, w := range webhookKinds {
		kinds[i] = w.kind
	}
	return kinds
}

// OfWebhook reports whether a kind hits calls of webhooks.
func OfWebhook(k Kind) bool { return choiceOfWebhook(k) != 0 }

// WebhookChoice returns the choice that a kind of WebhookKinds stands for.
func WebhookChoice(k Kind) sim.Kind { return choiceOfWebhook(k) }

func choiceOfWebhook(k Kind) sim.Kind {
	for _, w := range webhookKinds {
		if w.kind == k {
			return w.choice
		}
	}
	return 0
}

// WithWebhooks adds the faults of webhooks to a built-in mix, with the odds that it has for others.
func (m Mix) WithWebhooks() Mix { return m.with(webhookRate, WebhookKinds()...) }

// othersRate is the rate of what other clients do, in the same unit.
const othersRate = 16

// WithOthers adds what other clients do to a built-in mix.
func (m Mix) WithOthers() Mix { return m.with(othersRate, WriteOvertaken) }

// with adds kinds to a built-in mix, with a multiple of its unit.
func (m Mix) with(times float64, kinds ...Kind) Mix {
	rates := make(map[string]float64, len(m.Rates)+len(kinds))
	for k, r := range m.Rates { // order: a map is filled
		rates[k] = r
	}
	unit := m.Rates[string(Write500)] / baseRates[Write500]
	for _, k := range kinds {
		rates[string(k)] = min(1, unit*times)
	}
	m.Rates = rates
	return m
}

// drawAdded draws the rates of what is added to built-in mixes as those of other faults are drawn, and after them, so that they change no other draw.
func (m Mix) drawAdded(into Mix, draw func() (on bool, power int)) {
	for _, kind := range append(WebhookKinds(), WriteOvertaken) {
		name := string(kind)
		rate := m.Rates[name]
		if on, power := draw(); on && rate > 0 {
			into.Rates[name] = min(1, math.Ldexp(rate, power))
		}
	}
}
