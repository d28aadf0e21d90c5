package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
	"strings"

	"github.com/informersim/informersim/internal/probe/resources"
)

// namespaces are there when a probe of built-in kinds begins.
var namespaces = []string{"ns1", "ns2"}

// beginBuiltin makes the world of a probe of built-in kinds: its namespaces, and nothing of the resources that it names,
// apart from what a fresh cluster has.
func (s *Session) beginBuiltin() error {
	if err := s.cleanBuiltin(); err != nil {
		return err
	}
	for _, name := range namespaces {
		if err := s.ensureNamespace(name); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) ensureNamespace(name string) error {
	path := s.target.Root() + "/api/v1/namespaces"
	data, err := exchange(s.ctx, s.client, http.MethodGet, path+"/"+name, "", "")
	if err == nil && strings.Contains(string(data), "deletionTimestamp") {
		if err = removeNamespace(s.ctx, s.client, s.target.Root(), name); err == nil {
			err = fmt.Errorf("404")
		}
	}
	if err != nil && strings.Contains(err.Error(), "404") {
		_, err = exchange(s.ctx, s.client, http.MethodPost, path, "application/json", fmt.Sprintf(`{"metadata":{"name":%q}}`, name))
	}
	return err
}

// removeNamespace deletes a namespace for good, whether or not a controller finalizes it.
func removeNamespace(ctx context.Context, client *http.Client, root, name string) error {
	path := root + "/api/v1/namespaces/" + name
	if _, err := exchange(ctx, client, http.MethodDelete, path, "", ""); err != nil && !gone(err) {
		return err
	}
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q},"spec":{"finalizers":[]}}`, name)
	if _, err := exchange(ctx, client, http.MethodPut, path+"/finalize", "application/json", body); err != nil && !gone(err) {
		return err
	}
	return nil
}

// gone reports whether a request failed because what it was about is not there, or was deleted meanwhile.
func gone(err error) bool {
	return err != nil && (strings.Contains(err.Error(), ": 404 ") || strings.Contains(err.Error(), ": 409 "))
}

// cleanBuiltin empties the resources that the probe names.
func (s *Session) cleanBuiltin() error {
	for _, name := range s.probe.resources() {
		if r, found := resources.Lookup(name); found && !createOnly[r.Plural] {
			if err := emptyBuiltin(s.ctx, s.client, s.target.Root(), r); err != nil {
				return fmt.Errorf("clean up %s: %w", name, err)
			}
		}
	}
	return nil
}

// createOnly are resources that store nothing.
var createOnly = map[string]bool{
	"bindings": true, "componentstatuses": true, "selfsubjectreviews": true, "tokenreviews": true, "localsubjectaccessreviews": true,
	"selfsubjectaccessreviews": true, "selfsubjectrulesreviews": true, "subjectaccessreviews": true,
}

// resources returns the names of the resources that the probe's steps name, namespaces last.
func (p Probe) resources() []string {
	set := map[string]bool{}
	for _, step := range p.Steps {
		target := step.Target
		if step.Verb == "watch" {
			target, _, _ = strings.Cut(step.Rest, " ")
		}
		l := parseTarget(target)
		name := l.resource
		if l.raw != "" {
			name = resources.Served(l.raw)
		}
		if _, found := resources.Lookup(name); found {
			set[name] = true
		}
	}
	if set["pods"] {
		// A pod can be evicted or bound because of these.
		set["poddisruptionbudgets"] = true
	}
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		if last := names[j] == "namespaces"; last != (names[i] == "namespaces") {
			return last
		}
		return names[i] < names[j]
	})
	return names
}

// emptyBuiltin deletes the objects of a resource except those of a fresh cluster.
func emptyBuiltin(ctx context.Context, client *http.Client, root string, r resources.Resource) error {
	for range cleanRounds {
		data, err := exchange(ctx, client, http.MethodGet, root+r.Path()+"/"+r.Plural, "", "")
		if err != nil {
			if strings.Contains(err.Error(), ": 404 ") || strings.Contains(err.Error(), ": 405 ") {
				return nil // the server does not have it, which the probe shows
			}
			return err
		}
		var list struct{ Items []builtinObject }
		if err := json.Unmarshal(data, &list); err != nil {
			return fmt.Errorf("%w in %.200s", err, data)
		}
		left := 0
		for _, o := range list.Items {
			if o.bootstrap(r) {
				continue
			}
			left++
			if err := o.remove(ctx, client, root, r); err != nil && !gone(err) {
				return err
			}
		}
		if left == 0 {
			return nil
		}
	}
	return fmt.Errorf("objects remain after %d rounds", cleanRounds)
}

// builtinObject is what cleaning needs to know of an object.
type builtinObject struct {
	Metadata struct {
		Name, Namespace     string
		Labels, Annotations map[string]string
		Finalizers          []string
		DeletionTimestamp   string
	}
}

// bootstrap reports whether a fresh cluster has the object.
func (o builtinObject) bootstrap(r resources.Resource) bool {
	name := o.Metadata.Name
	switch {
	case r.Plural == "namespaces":
		return name == "default" || strings.HasPrefix(name, "kube-") || o.Metadata.DeletionTimestamp == "" && (name == namespaces[0] || name == namespaces[1])
	case strings.HasPrefix(o.Metadata.Namespace, "kube-"):
		return true
	case r.Plural == "services", r.Plural == "endpoints", r.Plural == "endpointslices", r.Plural == "servicecidrs":
		return name == "kubernetes"
	case r.Plural == "serviceaccounts", r.Plural == "configmaps":
		return name == "default" || name == "kube-root-ca.crt"
	case r.Plural == "ipaddresses":
		return name == "10.0.0.1"
	case r.Group == "rbac.authorization.k8s.io":
		return o.Metadata.Labels["kubernetes.io/bootstrapping"] != ""
	case r.Group == "flowcontrol.apiserver.k8s.io":
		return o.Metadata.Annotations["apf.kubernetes.io/autoupdate-spec"] != ""
	case r.Plural == "priorityclasses":
		return strings.HasPrefix(name, "system-")
	case r.Plural == "apiservices":
		return o.Metadata.Labels["kube-aggregator.kubernetes.io/automanaged"] != ""
	}
	return false
}

// remove deletes the object at once: without finalizers, grace and dependents.
func (o builtinObject) remove(ctx context.Context, client *http.Client, root string, r resources.Resource) error {
	if r.Plural == "namespaces" {
		return removeNamespace(ctx, client, root, o.Metadata.Name)
	}
	path := root + r.Path()
	if !r.Cluster {
		path += "/namespaces/" + o.Metadata.Namespace
	}
	path += "/" + r.Plural + "/" + o.Metadata.Name
	if len(o.Metadata.Finalizers) > 0 {
		if _, err := exchange(ctx, client, http.MethodPatch, path, patchTypes["merge"], `{"metadata":{"finalizers":null}}`); err != nil && !gone(err) {
			return err
		}
	}
	_, err := exchange(ctx, client, http.MethodDelete, path+"?gracePeriodSeconds=0&propagationPolicy=Background", "", "")
	return err
}
