package sequence

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/informersim/informersim/internal/probe"
)

// builtins writes a script about built-in kinds: pods, deployments, services, configmaps, secrets and jobs.
type builtins struct {
	generator
	// kinds are those of this script.
	kinds []string
	// watched maps a watch to its resource.
	watched map[string]string
}

// markers are objects that a server accepts: those with which a script begins, and those that end the reading of a watch.
var markers = map[string]string{
	"pods":        "{spec: {containers: [{name: c, image: i}]}}",
	"deployments": "{spec: {selector: {matchLabels: {m: m}}, template: {metadata: {labels: {m: m}}, spec: {containers: [{name: c, image: i}]}}}}",
	"services":    "{spec: {clusterIP: None, ports: [{port: 80}]}}",
	"configmaps":  "{}", "secrets": "{}",
	"jobs": "{spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}",
}

// withServices is the share of scripts that have Services, one in n: a server allocates addresses and ports for them, so that
// their revisions cannot be compared.
const withServices = 4

// GenerateBuiltin returns the probe of a seed, with about the given number of requests about built-in kinds.
func GenerateBuiltin(seed uint64, requests int) (probe.Probe, error) {
	g := &builtins{
		generator: generator{r: rand.New(rand.NewPCG(seed, 0x6a09e667f3bcc908)), latest: map[string]string{}},
		watched:   map[string]string{},
	}
	// Few kinds in a script, so that requests meet.
	all := []string{"pods", "deployments", "configmaps", "secrets", "jobs"}
	g.r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	g.kinds = all[:2]
	options := ""
	if seed%withServices == 0 {
		g.kinds, options = []string{"services", all[0]}, " !anyRevision"
	}
	// Most requests are about something that is there.
	for _, kind := range g.kinds {
		g.line("%s = create %s/a %s", g.wrote(kind+"/a"), kind, markers[kind])
		if g.chance(50) {
			g.line("%s = apply %s/b?fieldManager=one %s", g.wrote(kind+"/b"), kind, markers[kind])
		}
	}
	for range requests {
		g.request()
	}
	for _, w := range g.watches {
		g.line("events %s end %s", w, markers[g.watched[w]])
	}
	for _, kind := range g.kinds {
		g.line("list %s", kind)
	}
	g.line("revision")
	probes, err := probe.Parse(fmt.Sprintf("seed %d", seed), fmt.Sprintf("probe kube-seed/%d%s\n%s", seed, options, g.b.String()))
	if err != nil {
		return probe.Probe{}, fmt.Errorf("generate a sequence of built-in kinds: %w", err)
	}
	return probes[0], nil
}

func (g *builtins) request() {
	weighted := []struct {
		weight int
		write  func()
	}{
		{18, g.createBuiltin}, {8, g.putBuiltin}, {12, g.mergeBuiltin}, {14, g.strategicBuiltin}, {6, g.jsonBuiltin}, {16, g.applyBuiltin},
		{8, g.statusBuiltin}, {4, g.subresource}, {6, g.deleteBuiltin}, {1, g.deleteAll}, {4, g.getBuiltin}, {6, g.listBuiltin}, {4, g.watchBuiltin},
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

// target returns a kind and one of few objects of it.
func (g *builtins) target() (kind, object string) {
	kind = pick(g.r, g.kinds...)
	return kind, kind + "/" + pick(g.r, "a", "a", "b")
}

// some returns those of the fields that chance leaves in.
func (g *builtins) some(percent int, fields ...string) string {
	var kept []string
	for _, field := range fields {
		if g.chance(percent) {
			kept = append(kept, field)
		}
	}
	return strings.Join(kept, ", ")
}

// container returns one container, with lists that merge by key.
func (g *builtins) container(name string) string {
	fields := []string{"name: " + name, "image: " + pick(g.r, "i", "j", "i:1", "i:latest")}
	for _, field := range []string{
		"env: [" + g.some(60, "{name: x, value: "+pick(g.r, `"1"`, `"2"`)+"}", "{name: y, value: v}", "{name: z, valueFrom: {fieldRef: {fieldPath: metadata.name}}}") + "]",
		"ports: [" + g.some(60, "{containerPort: 80, name: "+pick(g.r, "web", "www")+"}", "{containerPort: 81}", "{containerPort: 80, protocol: UDP}") + "]",
		"resources: {" + g.some(60, `requests: {cpu: `+pick(g.r, `"1"`, "100m", "0.5")+`}`, "limits: {memory: "+pick(g.r, "1Gi", "1024Mi", "1e3")+"}") + "}",
		"command: [" + pick(g.r, "x", "x, y") + "]",
		"imagePullPolicy: " + pick(g.r, "Always", "Never"),
		"readinessProbe: {httpGet: {port: " + pick(g.r, "80", "web", "0") + "}}",
	} {
		if g.chance(12) {
			fields = append(fields, field)
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

func (g *builtins) containers() string {
	list := g.container("c")
	if g.chance(25) {
		list += ", " + g.container(pick(g.r, "d", "d", "c"))
	}
	return "containers: [" + list + "]"
}

// podSpec returns the inside of a pod's spec.
func (g *builtins) podSpec() string {
	fields := []string{g.containers()}
	for _, field := range []string{
		"nodeSelector: {disk: " + pick(g.r, "ssd", "hdd") + "}", "tolerations: [{key: k, operator: Exists}]", "terminationGracePeriodSeconds: " + pick(g.r, "0", "5"),
		"volumes: [" + g.some(60, "{name: v, emptyDir: {}}", "{name: w, configMap: {name: m}}") + "]", "hostNetwork: " + pick(g.r, "true", "false"),
		"serviceAccountName: s", "dnsPolicy: " + pick(g.r, "Default", "Default", "None"),
	} {
		if g.chance(6) {
			fields = append(fields, field)
		}
	}
	return strings.Join(fields, ", ")
}

// spec returns the fields of a kind's body beside its metadata.
func (g *builtins) spec(kind string) string {
	switch kind {
	case "pods":
		extra := g.some(10, "restartPolicy: "+pick(g.r, "Never", "OnFailure"), "nodeName: n", "activeDeadlineSeconds: 100")
		if extra != "" {
			extra = ", " + extra
		}
		return "spec: {" + g.podSpec() + extra + "}"
	case "deployments":
		return "spec: {" + g.replicas() + "selector: {matchLabels: {app: " + pick(g.r, "a", "a", "a", "a", "b") + "}}, template: {metadata: {labels: {app: a}}, spec: {" + g.podSpec() + "}}}"
	case "jobs":
		extra := g.some(12, "parallelism: "+pick(g.r, "2", "3"), "completions: "+pick(g.r, "2", "3"), "suspend: true", "backoffLimit: 1", "completionMode: Indexed", "ttlSecondsAfterFinished: 5")
		if extra != "" {
			extra += ", "
		}
		return "spec: {" + extra + "template: {spec: {restartPolicy: " + pick(g.r, "Never", "Never", "OnFailure", "Always") + ", " + g.podSpec() + "}}}"
	case "services":
		return "spec: {" + g.some(25, "type: "+pick(g.r, "ClusterIP", "NodePort", "LoadBalancer"), "selector: {app: a}", "sessionAffinity: ClientIP", "clusterIP: "+pick(g.r, "None", "10.0.0.30", "10.0.0.31"),
			"externalTrafficPolicy: Local") + ", ports: [" + g.ports() + "]" + "}"
	case "secrets":
		return g.some(60, "data: {"+g.some(60, "a: eA==", "b: "+pick(g.r, "eA==", "eQ=="))+"}", "stringData: {"+g.some(60, "a: s", "c: t")+"}", "type: "+pick(g.r, "Opaque", "example.com/t")) + g.maybe(5, "immutable: true")
	default:
		return g.some(70, "data: {"+g.some(60, "a: x", "b: "+pick(g.r, "x", "y"), "c: z")+"}", "binaryData: {"+g.some(40, "d: eA==", "a: eA==")+"}") + g.maybe(5, "immutable: true")
	}
}

func (g *builtins) maybe(percent int, field string) string {
	if g.chance(percent) {
		return ", " + field
	}
	return ""
}

func (g *builtins) replicas() string {
	if g.chance(40) {
		return fmt.Sprintf("replicas: %d, ", g.r.IntN(4))
	}
	return g.some(15, "paused: true", "strategy: {type: "+pick(g.r, "Recreate", "RollingUpdate")+"}", "minReadySeconds: 3") + ", "
}

func (g *builtins) ports() string {
	list := g.some(60, "{name: x, port: 80}", "{name: y, port: 81, targetPort: "+pick(g.r, "8080", "web")+"}", "{name: u, port: 80, protocol: UDP}", "{port: 82}")
	if list == "" {
		return "{port: 80}"
	}
	return list
}

// clean removes what leaving out fields leaves behind.
var clean = strings.NewReplacer("{, ", "{", ", , ", ", ", ", }", "}", "[, ", "[")

func (g *builtins) body(kind, labels string) string {
	finalizers := g.maybe(8, "finalizers: [example.com/f]")
	return clean.Replace("{metadata: {labels: " + labels + finalizers + "}, " + g.spec(kind) + "}")
}

func (g *builtins) createBuiltin() {
	kind, object := g.target()
	query := ""
	if g.chance(5) {
		query = "?dryRun=All"
	}
	g.line("%s = create %s%s %s", g.wrote(object), object, query, g.body(kind, g.labels()))
}

func (g *builtins) putBuiltin() {
	kind, object := g.target()
	version := ""
	if last := g.latest[object]; last != "" && g.chance(60) {
		version = `, resourceVersion: "${` + last + `.rv}"`
	}
	g.line("%s = put %s %s", g.wrote(object), object, clean.Replace("{metadata: {labels: "+g.labels()+version+"}, "+g.spec(kind)+"}"))
}

// partial returns a patch of a kind, as a merge patch or an apply may have it.
func (g *builtins) partial(kind string) string {
	meta := pick(g.r, "metadata: {labels: "+g.labels()+"}", "metadata: {annotations: {k: v}}", "metadata: {finalizers: [example.com/f]}", "metadata: {}")
	if g.chance(35) {
		return "{" + meta + "}"
	}
	switch kind {
	case "pods":
		return "{spec: {" + pick(g.r, "containers: ["+g.container("c")+"]", "tolerations: [{key: q, operator: Exists}]", "activeDeadlineSeconds: "+pick(g.r, "50", "200")) + "}}"
	case "deployments":
		return "{spec: {" + pick(g.r, fmt.Sprintf("replicas: %d", g.r.IntN(5)), "paused: true", "template: {spec: {containers: ["+g.container(pick(g.r, "c", "d"))+"]}}",
			"template: {metadata: {annotations: {n: "+pick(g.r, `"1"`, `"2"`)+"}}}", "strategy: {rollingUpdate: {maxSurge: "+pick(g.r, "1", "10%")+"}}") + "}}"
	case "jobs":
		return "{spec: {" + pick(g.r, "suspend: "+pick(g.r, "true", "false"), "parallelism: 4", "completions: 4", "activeDeadlineSeconds: 9") + "}}"
	case "services":
		return "{spec: {" + pick(g.r, "ports: ["+g.ports()+"]", "selector: {app: "+pick(g.r, "a", "b")+"}", "type: "+pick(g.r, "ClusterIP", "NodePort"), "sessionAffinity: "+pick(g.r, "ClientIP", "None")) + "}}"
	}
	return clean.Replace("{" + g.spec(kind) + "}")
}

func (g *builtins) mergeBuiltin() {
	kind, object := g.target()
	body := g.partial(kind)
	if g.chance(15) {
		body = pick(g.r, "{metadata: {finalizers: null}}", "{metadata: {labels: null}}", "{data: {a: null}}", "{spec: {replicas: null}}", "{status: {replicas: 3, phase: Running}}")
	}
	g.line("%s = merge %s %s", g.wrote(object), object, body)
}

func (g *builtins) strategicBuiltin() {
	kind, object := g.target()
	body := g.partial(kind)
	if g.chance(50) {
		switch kind {
		case "pods":
			body = pick(g.r, "{spec: {containers: [{name: c, $patch: delete}]}}", `{spec: {containers: [{name: c, image: k}]}}`, "{spec: {tolerations: [{key: t, operator: Exists}]}}")
		case "deployments":
			body = "{spec: {template: {spec: {" + pick(g.r, "containers: [{name: c, env: [{name: x, $patch: delete}, {name: w, value: v}]}]", "containers: [{name: d, $patch: delete}]", "containers: [{$patch: replace}, {name: c, image: k}]",
				`"$setElementOrder/containers": [{name: d}, {name: c}], containers: [{name: d, image: k}]`, "containers: [{name: c, ports: [{containerPort: 80, $patch: delete}]}]",
				"volumes: [{name: v, $patch: delete}]", "containers: [{name: c, resources: {$patch: replace, limits: {cpu: 1}}}]") + "}}}}"
		case "services":
			body = "{spec: {" + pick(g.r, "ports: [{port: 80, $patch: delete}]", "ports: [{port: 83, name: n}]", "ports: [{port: 80, targetPort: 99}]", "selector: {$patch: replace, x: y}") + "}}"
		case "configmaps", "secrets":
			body = "{data: {" + pick(g.r, "a: null", "$patch: replace, z: eA==", "$patch: delete") + "}}"
		}
	}
	g.line("%s = strategic %s %s", g.wrote(object), object, body)
}

func (g *builtins) jsonBuiltin() {
	_, object := g.target()
	g.line("%s = json %s [%s]", g.wrote(object), object, pick(g.r,
		"{op: add, path: /metadata/labels, value: {app: x}}", "{op: remove, path: /metadata/finalizers}", "{op: add, path: /data/j, value: eA==}",
		"{op: replace, path: /spec/replicas, value: 2}", "{op: add, path: /spec/template/spec/containers/-, value: {name: j, image: i}}",
		"{op: replace, path: /spec/containers/0/image, value: k}", "{op: test, path: /metadata/name, value: a}, {op: add, path: /metadata/annotations, value: {t: u}}"))
}

func (g *builtins) applyBuiltin() {
	kind, object := g.target()
	query := "?fieldManager=" + pick(g.r, "one", "one", "two")
	if g.chance(30) {
		query += "&force=true"
	}
	body := g.partial(kind)
	if g.chance(60) {
		body = g.body(kind, g.labels())
	}
	g.line("%s = apply %s%s %s", g.wrote(object), object, query, body)
}

func (g *builtins) statusBuiltin() {
	kind, object := g.target()
	verb := pick(g.r, "merge", "strategic")
	if kind == "configmaps" || kind == "secrets" {
		kind, object = g.kinds[0], g.kinds[0]+"/a"
	}
	var status string
	switch kind {
	case "pods":
		status = pick(g.r, "phase: "+pick(g.r, "Running", "Succeeded", "Failed"), "podIP: 1.2.3.4, podIPs: [{ip: 1.2.3.4}]", `conditions: [{type: `+pick(g.r, "Ready", "Initialized")+`, status: "True"}]`)
	case "services":
		status = pick(g.r, "loadBalancer: {ingress: [{ip: 1.2.3.4}]}", "loadBalancer: {}")
	case "jobs":
		status = pick(g.r, "active: 1", "active: 0, failed: 1", `startTime: "1999-01-01T00:00:00Z"`, `conditions: [{type: Suspended, status: "True"}]`)
	default:
		status = pick(g.r, "replicas: "+pick(g.r, "1", "2"), "replicas: 2, readyReplicas: 1", "observedGeneration: 1", `conditions: [{type: `+pick(g.r, "Available", "Progressing")+`, status: "True"}]`)
	}
	g.line("%s = %s %s/status {status: {%s}}", g.wrote(object), verb, object, status)
}

func (g *builtins) subresource() {
	kind, object := g.target()
	switch kind {
	case "deployments":
		g.line("%s = merge %s/scale {spec: {replicas: %d}}", g.keep(), object, g.r.IntN(5))
		g.line("get %s/scale", object)
	case "pods":
		g.line("%s = create %s/%s", g.keep(), object, pick(g.r, "binding {target: {kind: Node, name: n}}", "eviction {}", "eviction {deleteOptions: {gracePeriodSeconds: 3}}"))
	default:
		g.line("get %s %s", object, asTable)
	}
}

// asTable asks for a table.
const asTable = "[Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json]"

func (g *builtins) deleteBuiltin() {
	kind, object := g.target()
	body := ""
	switch {
	case kind == "pods" && g.chance(50):
		body = " {gracePeriodSeconds: " + pick(g.r, "0", "1", "40") + "}"
	case g.chance(30):
		body = " {propagationPolicy: " + pick(g.r, "Foreground", "Background", "Orphan") + "}"
	case g.chance(10):
		body = " {dryRun: [All]}"
	}
	g.line("%s = delete %s%s", g.wrote(object), object, body)
}

func (g *builtins) deleteAll() {
	g.line("%s = DELETE %s?x=y%s", g.keep(), pick(g.r, g.kinds...), g.selectors())
}

func (g *builtins) getBuiltin() {
	_, object := g.target()
	g.line("get %s", object)
}

func (g *builtins) listBuiltin() {
	kind := pick(g.r, g.kinds...)
	query := "x=y" + g.selectors()
	if g.chance(30) {
		query += "&fieldSelector=" + pick(g.r, "metadata.name%3Da", "status.phase%3DRunning", "spec.nodeName%3Dn", "spec.type%3DNodePort", "type%3DOpaque")
	}
	if g.chance(20) {
		query += "&limit=1"
	}
	accept := ""
	if g.chance(30) {
		accept = " " + asTable
	}
	g.line("list %s?%s%s", kind, query, accept)
}

func (g *builtins) watchBuiltin() {
	kind := pick(g.r, g.kinds...)
	w := fmt.Sprintf("w%d", len(g.watches))
	g.watches = append(g.watches, w)
	g.watched[w] = kind
	g.line("watch %s %s?x=y&allowWatchBookmarks=true%s", w, kind, pick(g.r, "", "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"))
}
