package tidy

// mayImport is the one direction of imports: each top-level folder, and those it may import directly. What those may import,
// it may import too.
var mayImport = map[string][]string{
	"sim":           {},
	"fakeapiserver": {"internal", "sim"},
	"informer":      {"internal"},
	"bubble":        {"sim"},
	"subjects":      {"informer", "fakeapiserver", "bubble", "sim"},
	"scenarios":     {"reports", "subjects", "fakeapiserver", "sim"},
	"properties":    {"reports", "scenarios", "sim"},
	"simtest":       {"reports", "scenarios", "bubble"},
	"reports":       {"sim"},
	"cmd":           {"internal", "bubble", "reports", "simtest", "properties", "scenarios", "subjects", "informer", "fakeapiserver", "sim"},
	"internal":      {},
}

// modulesOf are the import paths outside of this module and the standard library that a folder may use; prefixes. A folder
// that is not listed may use what go.mod has.
var modulesOf = map[string][]string{
	"sim":      {"k8s.io/utils/clock", "github.com/cespare/xxhash/v2"},
	"informer": {"k8s.io/api/", "k8s.io/apimachinery/", "k8s.io/client-go/", "k8s.io/klog/v2", "k8s.io/utils/", "golang.org/x/time/rate", "github.com/google/go-cmp/cmp", "github.com/go-logr/logr"},
	"bubble":   {"k8s.io/apimachinery/pkg/util/runtime", "k8s.io/klog/v2"},
	"reports":  {"github.com/aymanbagabas/go-udiff"},
}

// notFor are imports that a folder may not use although its modules are fine.
var notFor = map[string]map[string]string{
	"fakeapiserver": {
		"k8s.io/client-go/tools/cache": "the server knows nothing of informers",
		"k8s.io/client-go/informers":   "the server knows nothing of informers",
	},
}

// testOnly are packages that only _test.go files may import, by the reason.
var testOnly = map[string]string{
	"properties/mutants": "defects are for tests: the product must not be able to reach one",
}

// isCore tells, by folder, which packages must be deterministic. A folder that is not listed is as its parent.
var isCore = map[string]bool{
	".":                       true,
	"sim":                     true,
	"fakeapiserver":           true,
	"informer":                true,
	"informer/dropin":         false, // the shell: goroutines live only there
	"subjects":                true,
	"subjects/clientgo":       false, // unmodified client-go has goroutines
	"subjects/kinds":          false, // lists clientgo
	"fakeapiserver/transport": false, // sockets, streams and real time
	"scenarios":               true,
	"properties":              true,
	"reports":                 true,  // identical traces give identical reports
	"simtest":                 false, // a user's program has goroutines
	"bubble":                  false, // real time watches over virtual time
	"cmd":                     false,
	"internal":                false,
	"internal/keytable":       true,
}

// exception is a rule that one file may break.
type exception struct {
	file, rule, reason string
}

var exceptions = []exception{
	{"sim/choice.go", "sync", "test packages register kinds while other tests run"},
	{"sim/clock.go", "channel", "the timers of k8s.io/utils/clock have one; nothing waits for it"},
	{"subjects/draws.go", "random", "client-go draws from such sources; seeded, so that a transcript draws the same for every subject"},
	{"sim/rand.go", "random", "the one place where generators are made, each from a seed and a name"},
	{"scenarios/resources.go", "sync", "a table computed from client-go's scheme when it is first needed, the same for everyone"},
}

// Limits on what is not test code.
const (
	maxFileLines = 600
	maxFuncLines = 80
)

// longFiles and longFuncs may be longer, for the reason given. A function is named file:name.
var (
	longFiles = map[string]string{}
	longFuncs = map[string]string{}
)

// noDoc are folders with Go code and no doc.go.
var noDoc = map[string]string{}
