package simtest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// The controller's updates fail for as long as the test says, and the answer to its first creation is lost.
func ExampleEnv_Inject() {
	simtest.Run(t, simtest.Options{Seeds: 5, Mix: "none"}, func(env *simtest.Env) {
		env.Go("issuer", func(ctx context.Context) error { return issue(ctx, env.RESTConfig("issuer")) })
		env.Inject(fault.Fault{Kind: fault.WriteLost, Target: "issuer", Verb: "create", Resource: "secrets"})
		heal := env.Inject(fault.Fault{Kind: fault.Write503, Target: "issuer", Verb: "update", Count: fault.Lasting})
		m := configMap("app", "")
		m.Data = nil
		env.Create(m)
		env.Advance(time.Minute)
		env.Logf("the apiserver takes updates again, after %d faults", env.Cluster().Faults())
		heal()
		env.Eventually("the ConfigMap has its token", time.Minute, func() error {
			if err := env.Get(m); err != nil || m.Data["token"] == "" {
				return fmt.Errorf("it has %v, %v", m.Data, err)
			}
			return nil
		})
	})
	fmt.Println("healed")
	// Output: healed
}
