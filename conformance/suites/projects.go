package suites

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Project is a module whose test suites use envtest.
type Project struct {
	Name    string // the first element of what the command and the file of known failures call its packages
	Path    string // of the module
	Version string
	// Nested are modules that the module's go.mod expects in folders of its own, by folder. They have its version.
	Nested map[string]string
	// Plain says that its tests are those of package testing. Others are Ginkgo's.
	Plain    bool
	Packages []string // those whose suites start a control plane
}

// Projects are the projects that are known.
func Projects() []Project {
	return []Project{
		{
			// With packages of what starts a control plane. Without pkg/client/apiutil, whose tests download a real one.
			Name: "controller-runtime", Path: "sigs.k8s.io/controller-runtime", Version: "v0.25.2",
			Packages: []string{
				"pkg/client", "pkg/cache", "pkg/manager", "pkg/manager/internal/integration", "pkg/controller",
				"pkg/controller/controllerutil", "pkg/builder", "pkg/cluster", "pkg/source", "pkg/handler", "pkg/reconcile", "pkg/webhook", "pkg/envtest",
				"pkg/metrics/filters", "pkg/internal/controller", "pkg/internal/recorder", "pkg/internal/testing/controlplane",
			},
		},
		{
			Name: "karpenter", Path: "sigs.k8s.io/karpenter", Version: "v1.14.0",
			Packages: []string{
				"pkg/apis/autoscaling/v1beta1", "pkg/apis/v1", "pkg/apis/v1alpha1", "pkg/controllers/capacitybuffer", "pkg/controllers/disruption",
				"pkg/controllers/dynamicresources/deviceallocation", "pkg/controllers/metrics/node", "pkg/controllers/metrics/nodepool",
				"pkg/controllers/metrics/pod", "pkg/controllers/node/health", "pkg/controllers/node/hydration", "pkg/controllers/node/termination",
				"pkg/controllers/node/termination/terminator", "pkg/controllers/nodeclaim/consistency", "pkg/controllers/nodeclaim/disruption",
				"pkg/controllers/nodeclaim/expiration", "pkg/controllers/nodeclaim/garbagecollection", "pkg/controllers/nodeclaim/hydration",
				"pkg/controllers/nodeclaim/lifecycle", "pkg/controllers/nodeclaim/podevents", "pkg/controllers/nodeoverlay",
				"pkg/controllers/nodepool/counter", "pkg/controllers/nodepool/hash", "pkg/controllers/nodepool/readiness",
				"pkg/controllers/nodepool/registrationhealth", "pkg/controllers/nodepool/validation", "pkg/controllers/provisioning",
				"pkg/controllers/provisioning/scheduling", "pkg/controllers/state", "pkg/controllers/static/deprovisioning",
				"pkg/controllers/static/provisioning", "pkg/scheduling/dynamicresources", "pkg/state/cost", "pkg/utils/node",
				"pkg/utils/nodeclaim", "pkg/utils/nodepool", "pkg/utils/pdb",
			},
		},
		{
			Name: "cluster-api", Path: "sigs.k8s.io/cluster-api", Version: "v1.14.2", Plain: true,
			Nested: map[string]string{"api": "sigs.k8s.io/cluster-api/api"},
			Packages: []string{
				"bootstrap/kubeadm/reconcilers/kubeadmconfig", "controllers/clustercache", "controllers/crdmigrator", "controlplane/kubeadm/pkg",
				"controlplane/kubeadm/reconcilers/kubeadmcontrolplane", "core/reconcilers/cluster", "core/reconcilers/clusterclass",
				"core/reconcilers/clusterresourceset", "core/reconcilers/extensionconfig", "core/reconcilers/machine", "core/reconcilers/machinedeployment",
				"core/reconcilers/machinehealthcheck", "core/reconcilers/machinepool", "core/reconcilers/machineset", "core/reconcilers/topology/cluster",
				"core/webhooks/admission/test", "internal/topology/upgrade", "internal/util/ssa/test", "util/controller",
				"util/deprecated/v1beta1/patch", "util/kubeconfig", "util/patch/test",
			},
		},
		{Name: "kro", Path: "github.com/kubernetes-sigs/kro", Version: "v0.9.4", Packages: []string{"test/integration/suites/core"}},
	}
}

// Select returns the projects that arguments of the form PROJECT or PROJECT/PACKAGE name, with the packages that they name; all of them if
// there are no arguments. A module, if there is one, is written MODULE@VERSION: it takes the place of the project of that module,
// or is one more, which is named after the last element of its path.
func Select(projects []Project, module string, args []string) ([]Project, error) {
	if module != "" {
		modulePath, version, ok := strings.Cut(module, "@")
		if !ok || modulePath == "" || version == "" {
			return nil, fmt.Errorf("a module is written MODULE@VERSION, like sigs.k8s.io/karpenter@v1.14.0, not %q", module)
		}
		i := slices.IndexFunc(projects, func(p Project) bool { return p.Path == modulePath })
		if i < 0 {
			name := path.Base(modulePath)
			if majorVersion.MatchString(name) {
				name = path.Base(path.Dir(modulePath))
			}
			projects, i = append(projects, Project{Name: name, Path: modulePath}), len(projects)
		}
		projects[i].Version = version
		projects = projects[i : i+1]
	}
	var selected []Project
	for _, arg := range args {
		name, pkg, _ := strings.Cut(arg, "/")
		i := slices.IndexFunc(projects, func(p Project) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%q: no such project; there are %s", arg, names(projects))
		}
		packages := projects[i].Packages
		if pkg = strings.TrimSuffix(pkg, "/"); pkg != "" {
			packages = []string{pkg}
		}
		if j := slices.IndexFunc(selected, func(p Project) bool { return p.Name == name }); j >= 0 {
			selected[j].Packages = append(slices.Clone(selected[j].Packages), packages...)
			continue
		}
		selected = append(selected, projects[i])
		selected[len(selected)-1].Packages = packages
	}
	if len(args) == 0 {
		selected = projects
	}
	for _, p := range selected {
		if len(p.Packages) == 0 {
			return nil, fmt.Errorf("which packages of %s have suites is not known: name them like %s/pkg/controllers", p.Path, p.Name)
		}
	}
	return selected, nil
}

// majorVersion is the end of a module's path that is not its name.
var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

func names(projects []Project) string {
	var all []string
	for _, p := range projects {
		all = append(all, p.Name)
	}
	return strings.Join(all, ", ")
}
