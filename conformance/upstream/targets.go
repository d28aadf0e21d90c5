package upstream

// Targets returns the packages that informersim replaces.
func Targets() []Target {
	return []Target{
		{
			ImportPath: "k8s.io/client-go/tools/cache",
			ReplacedBy: "github.com/informersim/informersim/informer/dropin",
			Dir:        "extracted/informer",
			Adapter:    map[string]string{"": "dropin", "..": "informer", "internal/deltaring": "deltaring"},
		},
		{
			ImportPath: "k8s.io/client-go/util/workqueue",
			ReplacedBy: "github.com/informersim/informersim/informer/dropin/workqueue",
			Dir:        "extracted/workqueue",
		},
	}
}
