package sequence

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/informersim/informersim/internal/probe"
)

// marker matches every selector of a generated watch.
const marker = "{metadata: {labels: {app: x}}, spec: {color: red, teeth: 1}}"

// generator writes one script.
type generator struct {
	r *rand.Rand
	b strings.Builder
	// variables are the names of saved answers, lists those that may hold a continue token, watches the open
	// watches.
	variables, lists, watches []string
	// latest is the variable of the last write to an object.
	latest map[string]string
}

// Generate returns the probe of a seed, with about the given number of requests.
func Generate(seed uint64, requests int) (probe.Probe, error) {
	g := &generator{r: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), latest: map[string]string{}}
	for range requests {
		g.step()
	}
	for _, w := range g.watches {
		fmt.Fprintf(&g.b, "events %s end %s\n", w, marker)
	}
	g.b.WriteString("list *gizmos\nlist sprockets\nrevision\n")
	probes, err := probe.Parse(fmt.Sprintf("seed %d", seed), fmt.Sprintf("probe seed/%d\n%s", seed, g.b.String()))
	if err != nil {
		return probe.Probe{}, fmt.Errorf("generate a sequence: %w", err)
	}
	return probes[0], nil
}

// pick returns one of the values.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// chance reports true in n of 100 cases.
func (g *generator) chance(n int) bool { return g.r.IntN(100) < n }

func (g *generator) step() {
	weighted := []struct {
		weight int
		write  func()
	}{
		{16, g.create}, {10, g.put}, {14, g.merge}, {4, g.json}, {8, g.apply}, {5, g.status}, {3, g.scale},
		{10, g.delete}, {3, g.deleteCollection}, {6, g.get}, {12, g.list}, {3, g.page}, {10, g.watch}, {4, g.readWatch},
		{1, g.compact},
	}
	total := 0
	for _, w := range weighted {
		total += w.weight
	}
	n := g.r.IntN(total)
	for _, w := range weighted {
		if n -= w.weight; n < 0 {
			w.write()
			return
		}
	}
}

func (g *generator) line(format string, arguments ...any) {
	fmt.Fprintf(&g.b, format+"\n", arguments...)
}

// keep names a new variable.
func (g *generator) keep() string {
	name := fmt.Sprintf("v%d", len(g.variables))
	g.variables = append(g.variables, name)
	return name
}

// object returns a random target out of a few, so that requests interact.
func (g *generator) object() string {
	return pick(g.r, "gizmos/a", "gizmos/a", "gizmos/b", "gizmos/c", "gizmos@ns2/a", "sprockets/s")
}

// rv returns the resourceVersion of an earlier answer, or a special one.
func (g *generator) rv() string {
	if len(g.variables) == 0 || g.chance(20) {
		return pick(g.r, "0", "1", "${base}", "")
	}
	return "${" + pick(g.r, g.variables...) + ".rv}"
}

// wrote records a new variable as the last write to an object.
func (g *generator) wrote(object string) string {
	v := g.keep()
	g.latest[object] = v
	return v
}

func (g *generator) labels() string {
	return pick(g.r, "{}", "{app: x}", "{app: y}", "{app: x, tier: t}")
}

func (g *generator) spec(object string) string {
	if strings.HasPrefix(object, "sprockets") {
		return fmt.Sprintf("{teeth: %d}", g.r.IntN(4))
	}
	fields := []string{}
	for _, field := range []string{"color: " + pick(g.r, "red", "blue"), fmt.Sprintf("size: %d", g.r.IntN(4)),
		fmt.Sprintf("replicas: %d", g.r.IntN(3)), "mode: " + pick(g.r, "slow", "fast"), "tags: [" + pick(g.r, "t", "u", "t, u") + "]",
		"unknown: 1"} {
		if g.chance(40) && (field != "unknown: 1" || g.chance(20)) {
			fields = append(fields, field)
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

func (g *generator) create() {
	object, finalizers := g.object(), ""
	if g.chance(20) {
		finalizers = ", finalizers: [conformance.informersim.dev/f]"
	}
	dry := ""
	if g.chance(5) {
		dry = "?dryRun=All"
	}
	g.line("%s = create %s%s {metadata: {labels: %s%s}, spec: %s}", g.wrote(object), object, dry, g.labels(), finalizers, g.spec(object))
}

func (g *generator) put() {
	object := g.object()
	rv := g.rv()
	if last := g.latest[object]; last != "" && g.chance(75) {
		rv = "${" + last + ".rv}"
	}
	g.line(`%s = put %s {metadata: {resourceVersion: "%s", labels: %s}, spec: %s}`, g.wrote(object), object, rv, g.labels(), g.spec(object))
}

func (g *generator) merge() {
	object := g.object()
	body := pick(g.r,
		fmt.Sprintf("{metadata: {labels: %s}}", g.labels()),
		"{metadata: {labels: {app: null}}}",
		fmt.Sprintf("{spec: %s}", g.spec(object)),
		fmt.Sprintf("{spec: %s}", g.spec(object)),
		"{metadata: {finalizers: null}}",
		"{metadata: {finalizers: [conformance.informersim.dev/f]}}",
		"{metadata: {annotations: {k: v}}}",
		"{status: {phase: Lost}}",
		fmt.Sprintf(`{metadata: {resourceVersion: "%s"}, spec: %s}`, g.rv(), g.spec(object)),
	)
	g.line("%s = merge %s %s", g.wrote(object), object, body)
}

func (g *generator) json() {
	object := g.object()
	g.line("%s = json %s [%s]", g.wrote(object), object, pick(g.r,
		"{op: add, path: /metadata/labels, value: {app: x}}",
		"{op: test, path: /spec/size, value: 1}, {op: add, path: /spec/color, value: blue}",
		"{op: remove, path: /spec/size}",
		"{op: replace, path: /spec/mode, value: fast}",
		"{op: add, path: /spec/tags/-, value: w}"))
}

func (g *generator) apply() {
	object := g.object()
	query := "?fieldManager=" + pick(g.r, "one", "two")
	if g.chance(30) {
		query += "&force=true"
	}
	g.line("%s = apply %s%s {metadata: {labels: %s}, spec: %s}", g.wrote(object), object, query, g.labels(), g.spec(object))
}

func (g *generator) status() {
	object := g.object()
	g.line("%s = merge %s/status {status: {phase: %s}}", g.wrote(object), object, pick(g.r, "Ready", "Failed"))
}

func (g *generator) scale() {
	g.line("%s = merge %s/scale {spec: {replicas: %d}}", g.keep(), g.object(), g.r.IntN(4))
}

func (g *generator) delete() {
	object, body := g.object(), ""
	switch {
	case g.chance(15):
		body = fmt.Sprintf(` {preconditions: {resourceVersion: "%s"}}`, g.rv())
	case g.chance(15) && len(g.variables) > 0:
		body = fmt.Sprintf(` {preconditions: {uid: "${%s.uid}"}}`, pick(g.r, g.variables...))
	case g.chance(10):
		body = " {propagationPolicy: " + pick(g.r, "Foreground", "Background", "Orphan") + "}"
	case g.chance(5):
		body = " {dryRun: [All]}"
	}
	g.line("%s = delete %s%s", g.wrote(object), object, body)
}

func (g *generator) selectors() string {
	switch g.r.IntN(10) {
	case 0, 1:
		return "&labelSelector=app%3Dx"
	case 2:
		return "&labelSelector=app+in+(x,y)"
	case 3:
		return "&labelSelector=app"
	}
	return ""
}

// fieldSelectors returns a field selector, which only gizmos support.
func (g *generator) fieldSelectors(collection string) string {
	if strings.Contains(collection, "gizmos") && g.chance(15) {
		return "&fieldSelector=spec.color%3Dred"
	}
	return ""
}

func (g *generator) collection() string {
	return pick(g.r, "gizmos", "gizmos", "*gizmos", "gizmos@ns2", "sprockets")
}

func (g *generator) deleteCollection() {
	c := pick(g.r, "gizmos", "gizmos@ns2", "sprockets")
	limit := ""
	if g.chance(20) {
		limit = "&limit=1"
	}
	g.line("%s = DELETE %s?x=y%s%s%s", g.keep(), c, g.selectors(), g.fieldSelectors(c), limit)
}

func (g *generator) get() {
	query := ""
	if g.chance(40) {
		query = "?resourceVersion=" + g.rv()
	}
	g.line("%s = get %s%s", g.keep(), g.object(), query)
}

func (g *generator) list() {
	c := g.collection()
	query := "x=y" + g.selectors() + g.fieldSelectors(c)
	if g.chance(60) {
		rv := g.rv()
		query += "&resourceVersion=" + rv
		if g.chance(60) {
			match := pick(g.r, "Exact", "NotOlderThan", "NotOlderThan")
			if rv == "${base}" {
				// Whether an exact list that far back is served depends on history before this sequence.
				match = "NotOlderThan"
			}
			query += "&resourceVersionMatch=" + match
		} else if rv == "${base}" {
			query += "&resourceVersionMatch=NotOlderThan"
		}
	}
	if g.chance(40) {
		query += "&limit=" + pick(g.r, "1", "2", "0")
	}
	v := g.keep()
	g.lists = append(g.lists, v)
	g.line("%s = list %s?%s", v, c, query)
}

func (g *generator) page() {
	if len(g.lists) == 0 {
		g.list()
		return
	}
	from := g.lists[len(g.lists)-1]
	v := g.keep()
	g.lists = append(g.lists, v)
	g.line("%s = list %s?limit=%d&continue=${%s.continue}", v, pick(g.r, "gizmos", "gizmos", "*gizmos"), g.r.IntN(3), from)
}

func (g *generator) watch() {
	c := g.collection()
	query := "x=y" + g.selectors() + g.fieldSelectors(c)
	if g.chance(80) {
		query += "&resourceVersion=" + g.rv()
	}
	if g.chance(30) {
		query += "&sendInitialEvents=" + pick(g.r, "true", "true", "true", "false") + "&resourceVersionMatch=NotOlderThan"
	}
	if g.chance(50) {
		query += "&allowWatchBookmarks=true"
	}
	w := fmt.Sprintf("w%d", len(g.watches))
	g.watches = append(g.watches, w)
	g.line("watch %s %s?%s", w, c, query)
}

func (g *generator) readWatch() {
	if len(g.watches) == 0 {
		g.watch()
		return
	}
	g.line("events %s end %s", pick(g.r, g.watches...), marker)
}

func (g *generator) compact() { g.line("compact storage") }
