package simtest_test

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/simtest"
)

// The controller may do what its ServiceAccount may, by the roles with which it is installed. If one lacks a rule, the controller never gets on, under
// whatever faults, and its requests are answered with 403.
func ExampleOptions_roles() {
	simtest.Run(t, simtest.Options{Seeds: 10, Roles: []string{"testdata/roles.yaml"}}, func(env *simtest.Env) {
		env.Go("issuer", func(ctx context.Context) error {
			config := env.RESTConfig("issuer")
			config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:system:issuer"}
			return issue(ctx, config)
		})
		m := configMap("app", "")
		m.Data = nil
		env.Create(m)
		env.Advance(time.Minute)
		env.StopFaults()
		env.Eventually("the ConfigMap has its token", 10*time.Minute, func() error {
			if err := env.Get(m); err != nil || m.Data["token"] == "" {
				return fmt.Errorf("it has none: %v", err)
			}
			return nil
		})
	})
	fmt.Println("its roles suffice")
	// Output: its roles suffice
}
