package fault

import "github.com/informersim/informersim/sim"

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
