package simtest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/informersim/informersim/simtest"
)

// The ready-made properties of controllers: the test has to say nothing of what is expected.
func ExampleWellBehaved() {
	o := simtest.Options{Seeds: 5, Properties: simtest.WellBehaved()}
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Go("issuer", func(ctx context.Context) error { return issue(ctx, env.RESTConfig("issuer")) })
		env.Create(configMap("app", ""))
		env.Advance(time.Minute)
	})
	fmt.Println("it comes to rest, and leaves nothing behind")
	// Output: it comes to rest, and leaves nothing behind
}
