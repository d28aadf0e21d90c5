package fault

import "math"

// What Go tests add to built-in mixes.

// webhookRate is the rate of each fault of a webhook in a built-in mix, as a multiple of the mix's unit: that of other requests that can be hit for a few steps only.
const webhookRate = 8

// WithWebhooks adds the faults of webhooks to a built-in mix, with the odds that it has for others.
func (m Mix) WithWebhooks() Mix { return m.with(webhookRate, WebhookKinds()...) }

// othersRate is the rate of what other clients do, in the same unit.
const othersRate = 16

// WithOthers adds what other clients do to a built-in mix.
func (m Mix) WithOthers() Mix { return m.with(othersRate, othersKinds()...) }

// othersKinds returns the kinds of that.
func othersKinds() (kinds []Kind) {
	for i := range table {
		if table[i].Tier == Others {
			kinds = append(kinds, table[i].Kind)
		}
	}
	return kinds
}

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
	for _, kind := range append(WebhookKinds(), othersKinds()...) {
		name := string(kind)
		rate := m.Rates[name]
		if on, power := draw(); on && rate > 0 {
			into.Rates[name] = min(1, math.Ldexp(rate, power))
		}
	}
}
