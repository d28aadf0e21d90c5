package fault

import "testing"

// A built-in mix has the faults of webhooks only if it is asked for them. Of two neighbouring seeds one has each, and no other draw changes.
func TestWebhooksInMixes(t *testing.T) {
	plain, err := MixNamed("storm")
	if err != nil {
		t.Fatal(err)
	}
	with := plain.WithWebhooks()
	for _, k := range WebhookKinds() {
		if plain.Rates[string(k)] != 0 || with.Rates[string(k)] != with.Rates[string(WriteLost)] || with.Rate(WebhookChoice(k)) == 0 || Describe(k) == "" {
			t.Errorf("%s has the rate %v without webhooks, and %v with some", k, plain.Rates[string(k)], with.Rates[string(k)])
		}
		if a, b := with.DrawHalf(1).Rates[string(k)] > 0, with.DrawHalf(2).Rates[string(k)] > 0; a == b {
			t.Errorf("%s is in both of the seeds 1 and 2, or in neither", k)
		}
		if parsed, err := ParseKind(string(k)); err != nil || parsed != k {
			t.Errorf("%s is parsed as %q, %v", k, parsed, err)
		}
	}
	if _, err := ParseKind("webhook-timout"); err == nil || err.Error() != `there is no fault "webhook-timout": did you mean "webhook-timeout"?` {
		t.Errorf("a misspelt one: %v", err)
	}
	for seed := uint64(1); seed <= 20; seed++ {
		for name, rate := range plain.DrawHalf(seed).Rates { // order: each is checked alone
			if with.DrawHalf(seed).Rates[name] != rate || with.Draw(seed).Rates[name] != plain.Draw(seed).Rates[name] {
				t.Errorf("seed %d draws another rate of %s", seed, name)
			}
		}
	}
	for _, name := range []string{"none", "light"} {
		m, err := MixNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		if rate := m.WithWebhooks().Rates[string(WebhookTimeout)]; (rate == 0) != (name == "none") {
			t.Errorf("%s has the rate %v", name, rate)
		}
	}
}
