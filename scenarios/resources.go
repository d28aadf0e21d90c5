package scenarios

import (
	"fmt"
	"sort"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/scenarios/script"
)

// clusterScoped are the built-in resources without a namespace, which the scheme does not tell.
var clusterScoped = map[string]bool{
	"nodes": true, "namespaces": true, "persistentvolumes": true, "clusterroles": true, "clusterrolebindings": true,
	"storageclasses": true, "volumeattachments": true, "csidrivers": true, "csinodes": true, "priorityclasses": true,
	"ingressclasses": true, "runtimeclasses": true, "mutatingwebhookconfigurations": true,
	"validatingwebhookconfigurations": true, "validatingadmissionpolicies": true, "validatingadmissionpolicybindings": true,
	"mutatingadmissionpolicies": true, "mutatingadmissionpolicybindings": true, "flowschemas": true,
	"prioritylevelconfigurations": true, "certificatesigningrequests": true, "clustertrustbundles": true,
	"resourceslices": true, "deviceclasses": true, "volumeattributesclasses": true, "ipaddresses": true, "servicecidrs": true,
	"storageversions": true, "storageversionmigrations": true, "componentstatuses": true,
}

// builtins returns the kinds of the built-in resources by plural.
var builtins = sync.OnceValue(func() map[string]schema.GroupVersionKind { return resourcesOf(builtinScheme) })

// resourcesOf returns the kinds of a scheme's resources by plural; where groups share a plural, the one that the scheme prefers.
func resourcesOf(scheme *runtime.Scheme) map[string]schema.GroupVersionKind {
	all := map[string]schema.GroupVersionKind{}
	for _, gv := range scheme.PrioritizedVersionsAllGroups() {
		known := scheme.KnownTypes(gv)
		kinds := make([]string, 0, len(known))
		for kind := range known { // order: sorted below
			kinds = append(kinds, kind)
		}
		sort.Strings(kinds)
		for _, kind := range kinds {
			obj, err := scheme.New(gv.WithKind(kind))
			if err != nil {
				continue
			}
			if _, err := meta.Accessor(obj); err != nil {
				continue
			}
			plural, _ := meta.UnsafeGuessKindToResource(gv.WithKind(kind))
			if _, taken := all[plural.Resource]; !taken {
				all[plural.Resource] = gv.WithKind(kind)
			}
		}
	}
	return all
}

type resourceError struct{ msg, hint string }

// resolveResource resolves the arguments of a resource command.
func resolveResource(name, kind, scope string) (store.Resource, *resourceError) {
	plural, gv, err := splitResource(name)
	if err != nil {
		return store.Resource{}, err
	}
	if gv.Version == "" {
		gvk, ok := builtins()[plural]
		if !ok {
			return store.Resource{}, unknownBuiltin(plural)
		}
		gv = gvk.GroupVersion()
		if kind == "" {
			kind = gvk.Kind
		}
	}
	if kind == "" {
		if gvk, ok := builtins()[plural]; ok && gvk.GroupVersion() == gv {
			kind = gvk.Kind
		} else {
			return store.Resource{}, &resourceError{fmt.Sprintf("the kind of %s is unknown", name), "add kind=" + strings.ToUpper(plural[:1]) + strings.TrimSuffix(plural[1:], "s")}
		}
	}
	gvk := gv.WithKind(kind)
	res := store.Resource{Group: gv.Group, Version: gv.Version, Plural: plural, Kind: kind, Namespaced: scope != "cluster"}
	if builtinScheme.Recognizes(gvk) {
		res.New = func() runtime.Object {
			obj, err := builtinScheme.New(gvk)
			if err != nil {
				panic(err) // the scheme recognizes the kind
			}
			obj.GetObjectKind().SetGroupVersionKind(gvk)
			return obj
		}
	}
	if scope == "" && builtinScheme.IsGroupRegistered(gv.Group) {
		res.Namespaced = !clusterScoped[plural]
	}
	return res, nil
}

// splitResource splits PLURAL, PLURAL/VERSION or PLURAL.GROUP/VERSION.
func splitResource(name string) (plural string, gv schema.GroupVersion, _ *resourceError) {
	bad := &resourceError{fmt.Sprintf("%q does not name a resource", name), "write it like pods, deployments.apps/v1 or widgets.example.com/v1"}
	full, version, hasVersion := strings.Cut(name, "/")
	plural, group, hasGroup := strings.Cut(full, ".")
	if plural == "" || (hasVersion && version == "") || (hasGroup && (group == "" || !hasVersion)) || strings.ContainsAny(version, "/ ") || strings.ContainsAny(plural, " ") {
		return "", gv, bad
	}
	return plural, schema.GroupVersion{Group: group, Version: version}, nil
}

func unknownBuiltin(plural string) *resourceError {
	names := make([]string, 0, len(builtins()))
	for n := range builtins() { // order: sorted below
		names = append(names, n)
	}
	sort.Strings(names)
	hint := "write a custom resource as " + plural + ".GROUP/VERSION kind=KIND"
	if near := script.Suggest(plural, names); near != "" {
		hint = `did you mean "` + near + `"? Or ` + hint
	}
	return &resourceError{fmt.Sprintf("%q is not a built-in resource", plural), hint}
}
