package upstream

// Targets are the packages that informersim replaces.
func Targets() []Target {
	return []Target{
		{
			ImportPath: "k8s.io/client-go/tools/cache",
			ReplacedBy: "github.com/informersim/informersim/informer",
			Dir:        "extracted/informer",
			Adapter:    map[string]string{"": "informer", "core": "core", "internal/deltaring": "deltaring"},
		},
		{
			ImportPath: "k8s.io/client-go/util/workqueue",
			ReplacedBy: "github.com/informersim/informersim/informer/workqueue",
			Dir:        "extracted/workqueue",
		},
	}
}
