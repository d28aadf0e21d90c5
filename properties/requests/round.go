package requests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// definitions are the kinds of a round: gadgets have subresources, tools have none.
const definitions = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.dev}
spec:
  group: example.dev
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.seen}}
    selectableFields: [{jsonPath: .spec.color}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {color: {type: string, default: grey}, size: {type: integer, minimum: 0}, replicas: {type: integer}}
          status: {type: object, properties: {phase: {type: string}, seen: {type: integer}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tools.example.dev}
spec:
  group: example.dev
  scope: Cluster
  names: {plural: tools, singular: tool, kind: Tool, listKind: ToolList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {color: {type: string, default: grey}, size: {type: integer, minimum: 0}, replicas: {type: integer}}
          status: {type: object, properties: {phase: {type: string}, seen: {type: integer}}}
`

// served is what all servers serve. It is compiled once, and never changed.
var served *types.Registry

func registry() (*types.Registry, error) {
	if served != nil {
		return served, nil
	}
	loaded, err := crd.LoadManifests(strings.NewReader(definitions))
	if err != nil {
		return nil, err
	}
	compiled, err := crd.Compile(loaded...)
	if err != nil {
		return nil, err
	}
	reg := types.NewRegistry()
	if err := reg.Add(compiled...); err != nil {
		return nil, err
	}
	served = reg
	return reg, nil
}

// round is a server and what it was asked.
type round struct {
	*sim.Stream
	kernel  *sim.Kernel
	id      sim.ActorID
	do      func()
	cluster *fakeapiserver.Cluster
	server  *rest.Server
	model
	wrong string
	doing string
}

// Property is the name of what Check judges.
const Property = "WritesAgree"

// steps are how many requests a round has.
const steps = 40

// Check makes the round of a seed, and returns what is wrong with an answer, "" if nothing is.
func Check(seed uint64) (wrong string) {
	defer func() {
		if p := recover(); p != nil {
			wrong = fmt.Sprint("the server panics: ", p)
			if at := subjects.Panicking(); len(at) > 0 {
				wrong += ", in " + at[0]
			}
		}
	}()
	r := &round{Stream: sim.NewStream(seed, "requests of a REST API"), model: newModel()}
	r.kernel = sim.NewKernel(sim.Options{Seed: seed, Strategy: sim.NewFIFO()})
	r.cluster = fakeapiserver.NewCluster(r.kernel, fakeapiserver.ClusterOptions{FirstRevision: first, History: 1000})
	r.id = r.kernel.Register(r)
	all, err := registry()
	if err == nil {
		r.server, err = rest.New(rest.Options{Cluster: r.cluster, Types: all})
	}
	if err != nil {
		return err.Error()
	}
	r.kernel.Clock().Freeze()
	r.rest()
	for n := range steps {
		r.one()
		if r.wrong != "" {
			return fmt.Sprintf("request %d, %s: %s", n+1, r.doing, r.wrong)
		}
		if r.IntN(4) == 0 {
			r.passes(time.Duration(1+r.IntN(3)) * time.Second)
		}
	}
	r.watched()
	if r.wrong != "" {
		return r.doing + ": " + r.wrong
	}
	return ""
}

// first is the revision of the first write.
const first = 10

// kindAsk is the step in which a request is sent.
var kindAsk = sim.RegisterKind("ask", sim.ClassScript)

// Name implements sim.Actor.
func (*round) Name() string { return "requests" }

// Apply implements sim.Actor.
func (r *round) Apply(sim.Choice) { r.do() }

// rest steps until nothing is left but that time passes.
func (r *round) rest() {
	for !r.kernel.Quiet() && r.kernel.Step() {
	}
}

// passes lets time pass.
func (r *round) passes(by time.Duration) {
	clock := r.kernel.Clock()
	clock.LimitTo(by)
	for !clock.AtLimit() && r.kernel.Step() {
	}
	clock.Freeze()
	r.rest()
}

func (r *round) now() string { return r.kernel.Clock().Now().UTC().Format(time.RFC3339) }

// answer is what comes back. It implements rest.Sink.
type answer struct {
	code   int
	header http.Header
	body   []byte
	frames []string
	closed bool
}

func (a *answer) Answer(code int, h http.Header, body rest.Body) {
	a.code, a.header, a.body = code, h, body.Bytes()
}
func (a *answer) Open(code int, _ http.Header) { a.code = code }
func (a *answer) Frame(b []byte)               { a.frames = append(a.frames, string(b)) }
func (a *answer) Close(error)                  { a.closed = true }
func (a *answer) Fail(error)                   { a.closed = true }

// state is the answer as an object.
func (a *answer) state() state {
	var s state
	if json.Unmarshal(a.body, &s) != nil {
		return state{}
	}
	return s
}

// ask sends a request and waits for its answer.
func (r *round) ask(method, path, mediaType string, body any) *answer {
	return r.asks(method, path, mediaJSON, mediaType, body)
}

// asks sends a request that accepts something.
func (r *round) asks(method, path, accept, mediaType string, body any) *answer {
	u, err := url.Parse(path)
	if err != nil {
		panic(err)
	}
	request := &rest.Request{Method: method, URL: u, Header: http.Header{"Accept": {accept}, "User-Agent": {"agent/1"}}, Client: "c"}
	if body != nil {
		request.Body, err = json.Marshal(body)
		if err != nil {
			panic(err)
		}
		request.Header.Set("Content-Type", mediaType)
	}
	a := &answer{}
	r.do = func() { r.server.Serve(request, a) }
	r.kernel.Offer(r.id, kindAsk, 0)
	r.rest()
	return a
}

// is notes the first difference.
func (r *round) is(what string, want, got any) {
	w, err := json.Marshal(want)
	if err != nil {
		panic(err)
	}
	g, err := json.Marshal(got)
	if err != nil {
		panic(err)
	}
	if r.wrong == "" && string(w) != string(g) {
		r.wrong = fmt.Sprintf("%s: %s, want %s", what, g, w)
	}
}
