package simtest_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/informersim/informersim/simtest"
)

// onceEach says that no object of a resource is created twice: one that is, was deleted before.
func onceEach(resource string) simtest.Property {
	return simtest.Property{
		Name:      "OnceEach",
		Statement: "no object of " + resource + " is created twice",
		Kinds:     []string{"commit"},
		New: func() simtest.Checker {
			created := map[string]*simtest.Record{}
			return simtest.Checker{Record: func(r *simtest.Record) *simtest.Violation {
				if r.Detail != "ADDED" || !strings.HasPrefix(r.Key, resource+" ") {
					return nil
				}
				if first := created[r.Key]; first != nil {
					return &simtest.Violation{Key: r.Key, Message: fmt.Sprintf("%s is created again at %v", r.Key, r.At), Because: []simtest.Evidence{
						first.Because("it is created (RV %d)", first.RV), r.Because("and again (RV %d)", r.RV),
					}}
				}
				created[r.Key] = r
				return nil
			}}
		},
	}
}

// A property of your own is judged record by record: here by the commits, whoever makes them.
func ExampleProperty() {
	o := simtest.Options{Seeds: 5, Properties: []simtest.Property{onceEach("secrets")}}
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Replicas("issuer", 2, func(ctx context.Context, replica string) error { return issue(ctx, env.RESTConfig(replica)) })
		env.Create(configMap("app", ""))
		env.Advance(5 * time.Minute)
	})
	fmt.Println("no Secret is created twice")
	// Output: no Secret is created twice
}
