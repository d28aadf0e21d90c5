package tidy

// mayImport lists, for each package, the packages of this module that it imports: folders from the root, or "folder/..." for
// one and all below it. A stale entry fails. After a move, print the table and read the difference:
//
//	go test ./internal/tidy -run 'TestImports$' -v -print-imports
var mayImport = map[string][]string{
	".":                                   {},
	"bubble":                              {},
	"bubble/exchange":                     {"world/wire"},
	"bubble/overlay":                      {},
	"cmd/informersim":                     {".", "bubble/overlay", "cmd/internal/assets", "cmd/internal/campaign", "cmd/internal/cli", "cmd/internal/faultmix", "cmd/internal/guests", "cmd/internal/junit", "cmd/internal/launcher", "cmd/internal/serveflags", "cmd/internal/version", "fakeapiserver/fault", "internal/garbage", "internal/museum", "internal/mutation", "internal/outfile", "properties", "properties/differential", "reports", "reports/html", "reports/perfetto", "reports/terminal", "reports/timeline", "reports/tui", "scenarios", "scenarios/generate", "scenarios/minimal", "scenarios/property", "scenarios/recording", "scenarios/script", "scenarios/twin", "sim", "subjects", "subjects/clientgo", "subjects/clientgo/releases", "subjects/clientgo/remote", "subjects/kinds", "subjects/stack"},
	"cmd/informersim-apiserver":           {"cmd/internal/cli", "cmd/internal/faultmix", "cmd/internal/launcher", "cmd/internal/serveflags", "cmd/internal/version", "cmd/internal/webhooks", "fakeapiserver", "fakeapiserver/aggregation", "fakeapiserver/apiextensions", "fakeapiserver/authentication", "fakeapiserver/authorization", "fakeapiserver/authorization/modes", "fakeapiserver/bootstrap", "fakeapiserver/builtin", "fakeapiserver/controllers", "fakeapiserver/controllers/stages", "fakeapiserver/discovery", "fakeapiserver/fault", "fakeapiserver/persistence", "fakeapiserver/quotas", "fakeapiserver/rest", "fakeapiserver/store", "fakeapiserver/transport", "fakeapiserver/types", "fakeapiserver/types/crd", "internal/controllermanager", "internal/controllermanager/basic", "internal/outfile", "reports", "sim", "world", "world/wire"},
	"cmd/informersim-controllers":         {"bubble", "cmd/internal/launcher", "cmd/internal/version", "internal/controllermanager/beside"},
	"cmd/informersim-kubectl":             {"cmd/internal/launcher", "cmd/internal/version"},
	"cmd/internal/assets":                 {"cmd/internal/version"},
	"cmd/internal/campaign":               {"cmd/internal/junit", "fakeapiserver/fault", "internal/outfile", "reports"},
	"cmd/internal/cli":                    {"reports", "scenarios/script"},
	"cmd/internal/faultmix":               {"cmd/internal/cli", "fakeapiserver/fault"},
	"cmd/internal/guests":                 {".", "bubble", "bubble/overlay", "cmd/internal/launcher", "cmd/internal/version", "subjects", "subjects/clientgo", "subjects/clientgo/pipe", "subjects/clientgo/releases", "subjects/clientgo/remote"},
	"cmd/internal/junit":                  {"reports"},
	"cmd/internal/launcher":               {"bubble/overlay", "cmd/internal/version", "internal/newer"},
	"cmd/internal/serveflags":             {"cmd/internal/cli", "cmd/internal/faultmix", "fakeapiserver/authorization/modes", "fakeapiserver/controllers/names", "fakeapiserver/fault"},
	"cmd/internal/version":                {},
	"cmd/internal/webhooks":               {"fakeapiserver", "fakeapiserver/admission", "fakeapiserver/types"},
	"fakeapiserver":                       {"fakeapiserver/fault", "fakeapiserver/store", "sim"},
	"fakeapiserver/admission":             {"fakeapiserver", "fakeapiserver/rest", "fakeapiserver/types"},
	"fakeapiserver/aggregation":           {"fakeapiserver", "fakeapiserver/controllers", "fakeapiserver/rest", "fakeapiserver/store", "fakeapiserver/types", "sim"},
	"fakeapiserver/apiextensions":         {"fakeapiserver", "fakeapiserver/controllers", "fakeapiserver/patch", "fakeapiserver/rest", "fakeapiserver/store", "fakeapiserver/types", "fakeapiserver/types/crd", "sim"},
	"fakeapiserver/authentication":        {},
	"fakeapiserver/authorization":         {"fakeapiserver", "fakeapiserver/authorization/modes", "fakeapiserver/store"},
	"fakeapiserver/authorization/modes":   {},
	"fakeapiserver/bootstrap":             {},
	"fakeapiserver/builtin":               {"fakeapiserver/types"},
	"fakeapiserver/controllers":           {"fakeapiserver", "fakeapiserver/controllers/stages", "fakeapiserver/store", "sim"},
	"fakeapiserver/controllers/names":     {},
	"fakeapiserver/controllers/stages":    {},
	"fakeapiserver/discovery":             {"fakeapiserver/patch", "fakeapiserver/render", "fakeapiserver/types"},
	"fakeapiserver/fault":                 {"sim"},
	"fakeapiserver/patch":                 {"fakeapiserver/types"},
	"fakeapiserver/persistence":           {"fakeapiserver", "fakeapiserver/rest", "fakeapiserver/store"},
	"fakeapiserver/quotas":                {"fakeapiserver/types"},
	"fakeapiserver/render":                {"fakeapiserver/types"},
	"fakeapiserver/rest":                  {"fakeapiserver", "fakeapiserver/discovery", "fakeapiserver/patch", "fakeapiserver/render", "fakeapiserver/store", "fakeapiserver/types"},
	"fakeapiserver/store":                 {"internal/keytable"},
	"fakeapiserver/transport":             {"fakeapiserver/render", "fakeapiserver/rest", "sim"},
	"fakeapiserver/types":                 {},
	"fakeapiserver/types/crd":             {"fakeapiserver/types"},
	"informer":                            {"internal/keytable"},
	"informer/dropin":                     {"informer", "informer/dropin/internal/deltaring"},
	"informer/dropin/factory":             {"informer/dropin"},
	"informer/dropin/internal/apisurface": {},
	"informer/dropin/internal/deltaring":  {},
	"informer/dropin/workqueue":           {"informer/workqueue"},
	"informer/workqueue":                  {},
	"internal/controllermanager":          {"internal/controllermanager/basic"},
	"internal/controllermanager/basic":    {},
	"internal/controllermanager/beside":   {"bubble", "bubble/exchange", "internal/controllermanager/basic", "world/wire"},
	"internal/defective":                  {},
	"internal/garbage":                    {},
	"internal/hostile":                    {},
	"internal/keytable":                   {},
	"internal/same":                       {},
	"internal/selectors":                  {},
	"internal/museum":                     {"internal/mutation", "internal/outfile", "reports", "subjects/clientgo/releases"},
	"internal/mutation":                   {"bubble/overlay", "reports", "scenarios/minimal", "scenarios/property", "subjects"},
	"internal/mutation/requests":          {"internal/mutation", "properties/requests"},
	"internal/mutation/driver":            {"bubble", "internal/mutation", "properties", "reports", "scenarios", "scenarios/generate", "scenarios/minimal", "scenarios/property", "sim", "subjects", "subjects/kinds"},
	"internal/nested":                     {},
	"internal/newer":                      {},
	"internal/outfile":                    {},
	"internal/probe":                      {"internal/probe/resources"},
	"internal/probe/fake":                 {"fakeapiserver", "fakeapiserver/apiextensions", "fakeapiserver/rest", "fakeapiserver/transport", "fakeapiserver/types", "fakeapiserver/types/crd", "internal/probe", "internal/probe/resources", "sim"},
	"internal/probe/resources":            {},
	"internal/tidy":                       {},
	"properties":                          {"fakeapiserver", "properties/api", "properties/fakeserver", "reports", "scenarios", "scenarios/property", "sim", "subjects"},
	"properties/api":                      {"fakeapiserver", "fakeapiserver/fault", "fakeapiserver/store", "internal/selectors", "reports", "scenarios/property", "sim"},
	"properties/differential":             {"fakeapiserver", "properties", "reports", "scenarios", "scenarios/property", "scenarios/script", "sim", "sim/shrink", "subjects"},
	"properties/fakeserver":               {"fakeapiserver", "fakeapiserver/fault", "fakeapiserver/store", "internal/same", "sim", "subjects"},
	"properties/requests":                 {"fakeapiserver", "fakeapiserver/rest", "fakeapiserver/types", "fakeapiserver/types/crd", "sim", "subjects"},
	"properties/mutants":                  {"fakeapiserver", "informer", "informer/workqueue", "subjects", "subjects/stack"},
	"reports":                             {"sim"},
	"reports/html":                        {"reports", "reports/timeline", "sim"},
	"reports/internal/traces":             {"reports/timeline", "sim"},
	"reports/perfetto":                    {"reports", "reports/timeline"},
	"reports/terminal":                    {"reports", "reports/timeline"},
	"reports/timeline":                    {"reports", "scenarios/script", "sim"},
	"reports/tui":                         {"reports", "reports/terminal", "reports/timeline"},
	"scenarios":                           {"fakeapiserver", "fakeapiserver/fault", "fakeapiserver/store", "reports", "scenarios/property", "scenarios/script", "sim", "subjects", "subjects/informers", "subjects/workers"},
	"scenarios/generate":                  {"fakeapiserver/fault", "scenarios", "sim"},
	"scenarios/generate/rapidgen":         {"scenarios", "scenarios/generate"},
	"scenarios/ginkgosuite":               {"fakeapiserver/fault", "properties", "reports", "scenarios", "scenarios/property", "subjects", "subjects/kinds"},
	"scenarios/minimal":                   {"fakeapiserver/fault", "reports", "scenarios", "scenarios/script", "sim", "sim/shrink"},
	"scenarios/property":                  {"fakeapiserver", "reports", "sim", "subjects"},
	"scenarios/recording":                 {"reports", "scenarios/script"},
	"scenarios/script":                    {},
	"scenarios/twin":                      {"reports", "scenarios", "scenarios/minimal", "scenarios/script", "sim"},
	"sim":                                 {},
	"sim/shrink":                          {},
	"subjects":                            {"fakeapiserver", "fakeapiserver/store", "sim"},
	"subjects/clientgo":                   {"bubble", "fakeapiserver", "sim", "subjects", "subjects/clientgo/gates", "subjects/informers", "subjects/workers"},
	"subjects/clientgo/gates":             {"bubble", "informer", "subjects", "subjects/clientgo/gates/library"},
	"subjects/clientgo/gates/library":     {"subjects"},
	"subjects/clientgo/guest":             {"subjects/clientgo/gates", "subjects/clientgo/pipe"},
	"subjects/clientgo/pipe":              {"subjects", "subjects/clientgo/gates", "world/wire"},
	"subjects/clientgo/releases":          {"subjects"},
	"subjects/clientgo/remote":            {"subjects", "subjects/clientgo", "subjects/clientgo/gates", "subjects/clientgo/pipe", "world/wire"},
	"subjects/informers":                  {"fakeapiserver/store", "internal/selectors", "sim", "subjects", "subjects/workers"},
	"subjects/kinds":                      {"subjects", "subjects/clientgo", "subjects/stack", "subjects/stall"},
	"subjects/stack":                      {"fakeapiserver", "informer", "informer/workqueue", "sim", "subjects", "subjects/informers", "subjects/stack/library", "subjects/workers"},
	"subjects/stack/library":              {"informer", "informer/workqueue", "internal/same", "sim", "subjects"},
	"subjects/stall":                      {"bubble", "subjects"},
	"subjects/workers":                    {"sim", "subjects"},
	"world":                               {"fakeapiserver", "fakeapiserver/admission", "fakeapiserver/apiextensions", "fakeapiserver/authorization", "fakeapiserver/authorization/modes", "fakeapiserver/bootstrap", "fakeapiserver/builtin", "fakeapiserver/controllers", "fakeapiserver/controllers/names", "fakeapiserver/controllers/stages", "fakeapiserver/discovery", "fakeapiserver/fault", "fakeapiserver/patch", "fakeapiserver/quotas", "fakeapiserver/rest", "fakeapiserver/store", "fakeapiserver/types", "fakeapiserver/types/crd", "properties/api", "reports", "reports/html", "scenarios/property", "sim", "sim/shrink", "subjects", "world/wellbehaved", "world/wire"},
	"world/wellbehaved":                   {"fakeapiserver", "fakeapiserver/fault", "fakeapiserver/store", "reports", "scenarios/property", "sim"},
	"world/wire":                          {},
}

// barrier forbids transitive imports. mayImport lists the imports that exist; barriers say which must never exist.
type barrier struct {
	from, but []string // patterns: these packages, except those in but
	only, not []string // may import only these, and none of those in not
	why       string
}

var barriers = []barrier{
	{
		from: []string{"..."}, but: []string{"cmd/informersim-apiserver", "world", "fakeapiserver/builtin"}, not: []string{"fakeapiserver/builtin"},
		why: "only the serving binary links Kubernetes' own code",
	},
	{
		from: []string{"..."}, but: []string{"cmd/informersim-apiserver", "world", "fakeapiserver/quotas"}, not: []string{"fakeapiserver/quotas"},
		why: "only the serving binary links Kubernetes' own code",
	},
	{
		from: []string{"..."}, but: []string{"cmd/informersim-apiserver", "world", "fakeapiserver/authorization"}, not: []string{"fakeapiserver/authorization"},
		why: "only the serving binary links Kubernetes' own code",
	},
	{
		from: []string{"..."}, but: []string{"cmd/informersim-apiserver", "internal/controllermanager"}, not: []string{"internal/controllermanager"},
		why: "only the serving binary links Kubernetes' own code",
	},
	{
		from: []string{"..."}, but: []string{"cmd/informersim-apiserver", "cmd/informersim-controllers", "internal/controllermanager/..."}, not: []string{"internal/controllermanager/basic"},
		why: "Kubernetes' controllers have programs of their own",
	},
	{from: []string{"sim/..."}, only: []string{"sim/...", "internal/..."}, why: "the kernel knows nothing of Kubernetes"},
	{from: []string{"fakeapiserver/..."}, only: []string{"fakeapiserver/...", "sim/...", "internal/..."}, why: "the server knows nothing of informers and tests"},
	{from: []string{"fakeapiserver/fault"}, only: []string{"sim"}, why: "faults are data"},
	{from: []string{"fakeapiserver/store"}, only: []string{"internal/keytable"}, why: "state knows nothing of its readers"},
	{from: []string{"informer/..."}, only: []string{"informer/...", "internal/..."}, why: "the stack knows nothing of a simulator"},
	{from: []string{"..."}, but: []string{"informer/dropin/..."}, not: []string{"informer/dropin/..."}, why: "the drop-in is a product of its own"},
	{
		from: []string{"scenarios/...", "properties/...", "reports/..."}, but: []string{"properties/mutants", "scenarios/ginkgosuite"},
		not: []string{"informer/...", "subjects/stack", "subjects/clientgo"},
		why: "a stack under test is seen through package subjects",
	},
	{from: []string{"..."}, not: []string{"properties/mutants/..."}, why: "mutants are defects: only tests import them"},
	{from: []string{"..."}, but: []string{"internal/probe/..."}, not: []string{"internal/probe/..."}, why: "probes ask a server from outside: only tests and the conformance module play them"},
	{from: []string{"..."}, but: []string{"cmd/..."}, not: []string{"cmd/..."}, why: "a command is not a library"},
	{from: []string{"world/..."}, not: []string{"bubble/...", "informer/..."}, why: "the engine runs nothing of the user's"},
	{from: []string{"world/wire", "bubble"}, only: []string{}, why: "copies of them are part of another module"},
}

// modulesOf lists prefixes of the import paths outside this module and the standard library that packages may use. A package
// without a row may use everything in go.mod.
var modulesOf = map[string][]string{
	"sim/...":             {"k8s.io/utils/clock", "github.com/cespare/xxhash/v2"},
	"informer/...":        {"k8s.io/apimachinery/", "k8s.io/client-go/", "k8s.io/klog/v2", "k8s.io/utils/", "golang.org/x/time/rate", "github.com/go-logr/logr"},
	"fakeapiserver/fault": {"sigs.k8s.io/yaml", "go.yaml.in/yaml/v2"}, // data without Kubernetes
	"reports/...":         {"github.com/aymanbagabas/go-udiff"},
}

// lifted is the reason of a ban that does not hold for the folder that has it.
const lifted = "may"

// notFor lists packages of permitted modules that must not be imported, and why.
var notFor = map[string]map[string]string{
	"...": {
		"k8s.io/kubernetes": "only the serving binary links Kubernetes' own code",
	},
	"internal/controllermanager":       {"k8s.io/kubernetes": lifted},
	"internal/controllermanager/basic": {"k8s.io/kubernetes": lifted},
	"fakeapiserver/builtin": {
		"k8s.io/kubernetes":            lifted,
		"k8s.io/client-go/tools/cache": lifted, // storages and admission plugins name its types; nothing of it runs
		"k8s.io/client-go/informers":   lifted,
	},
	"fakeapiserver/authorization": {
		"k8s.io/kubernetes": lifted,
	},
	"fakeapiserver/quotas": {
		"k8s.io/kubernetes":            lifted,
		"k8s.io/client-go/tools/cache": lifted, // evaluators take listers; nothing else of it runs
	},
	"fakeapiserver/admission": {
		"k8s.io/client-go/tools/cache": lifted, // admission plugins name its types; nothing of it runs
		"k8s.io/client-go/informers":   lifted,
	},
	"fakeapiserver/...": {
		"k8s.io/client-go/tools/cache": "the server knows nothing of informers",
		"k8s.io/client-go/informers":   "the server knows nothing of informers",
	},
}

// isCore says, by folder, which packages must be deterministic. A folder that is not listed inherits from its parent.
var isCore = map[string]bool{
	".":                       true,
	"sim":                     true,
	"fakeapiserver":           true,
	"informer":                true,
	"informer/dropin":         false, // the shell: goroutines live only there
	"subjects":                true,
	"subjects/clientgo":       false, // unmodified client-go has goroutines
	"subjects/kinds":          false, // lists clientgo
	"subjects/stall":          false, // real time watches over steps
	"fakeapiserver/transport": false, // sockets, streams and real time
	"scenarios":               true,
	"scenarios/ginkgosuite":   false, // a user's test suite, which names the subjects
	"properties":              true,
	"reports":                 true, // identical traces give identical reports
	"world":                   true,
	"bubble":                  false, // real time watches over virtual time
	"cmd":                     false,
	"internal":                false,
	"internal/keytable":       true,
	"internal/same":           true,
	"internal/selectors":      true,
}

// exception is a rule that one file may break.
type exception struct {
	file, rule, reason string
}

var exceptions = []exception{
	{"sim/choice.go", "sync", "test packages register kinds while other tests run"},
	{"sim/clock.go", "channel", "the timers of k8s.io/utils/clock have one; nothing waits for it"},
	{"subjects/draws.go", "random", "client-go draws from such sources; these are seeded, so that a transcript draws the same for every subject"},
	{"fakeapiserver/builtin/view.go", "clock", "Kubernetes' printers take ages from the clock; times are moved so that virtual ages come out"},
	{"fakeapiserver/builtin/web_services.go", "sync", "routes built when a document is first asked for, the same for every server"},
	{"scenarios/resources.go", "sync", "a table computed from client-go's scheme when it is first needed, the same for everyone"},
}

// Limits on product code.
const (
	maxFileLines = 600
	maxFuncLines = 80
)

// longFiles and longFuncs may exceed the limits, for the reason given. A function is named file:name.
var (
	longFiles = map[string]string{}
	longFuncs = map[string]string{}
)

// notBuilt lists the numbers of docs/spec that nothing cites, and why. Remove those that are cited.
var notBuilt = map[string]string{}

// inRoot lists what may lie in the root of the repository, besides what .gitignore names.
var inRoot = map[string]string{
	".ci":             "the checks of CI, for any machine",
	".github":         "the workflow that runs them on GitHub",
	".gitignore":      "",
	"ARCHITECTURE.md": "", "CONTRIBUTING.md": "", "LICENSE": "", "README.md": "",
	"sources.go":    "what a guest is built of; only from here can all of it be embedded",
	"doc.go":        "the module's documentation",
	"go.mod":        "",
	"go.sum":        "",
	"bubble":        "where goroutines run under virtual time",
	"cmd":           "commands",
	"conformance":   "a module of its own: the same requests to a real apiserver and to ours",
	"docs":          "pages, and docs/spec",
	"examples":      "modules of their own",
	"fakeapiserver": "the server",
	"informer":      "the stack",
	"internal":      "packages for this module only",
	"properties":    "the properties of an informer",
	"reports":       "violations, stories and verdicts, as text, JSON and HTML",
	"scenarios":     "scripts and their runner",
	"sim":           "the kernel",
	"simtest":       "a module of its own: simulation of a controller from a Go test, with the client-go that its go.mod names",
	"subjects":      "stacks under test",
	"wild":          "modules of their own: real controllers under faults",
	"world":         "the engine of Go tests",
}

// noDoc lists folders with Go code but no doc.go, and why.
var noDoc = map[string]string{}
