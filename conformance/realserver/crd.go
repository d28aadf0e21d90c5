package realserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/yaml"
)

// establishedAgo is how long before the start a definition claims to have been established. Anything above the two
// seconds for which a server delays creates will do.
const establishedAgo = time.Minute

// parseCRDs parses a manifest of one or more definitions separated by "---".
func parseCRDs(manifest string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for i, document := range strings.Split(manifest, "\n---") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict([]byte(document), crd); err != nil {
			return nil, fmt.Errorf("document %d of the CRD manifest: %w", i+1, err)
		}
		if crd.Kind != "CustomResourceDefinition" || crd.Name == "" {
			return nil, fmt.Errorf("document %d of the CRD manifest: kind %q name %q, want a named CustomResourceDefinition",
				i+1, crd.Kind, crd.Name)
		}
		crds = append(crds, crd)
	}
	return crds, nil
}

// establish fills in everything that a server writes into a definition before it serves it.
func establish(crd *apiextensionsv1.CustomResourceDefinition, now time.Time) {
	at := metav1.NewTime(now.Add(-establishedAgo).Truncate(time.Second))
	apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	crd.UID = types.UID(uuid.NewUUID())
	crd.Generation = 1
	crd.CreationTimestamp = at
	crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{
		AcceptedNames:  crd.Spec.Names,
		StoredVersions: []string{storageVersion(crd)},
		Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{{
			Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue,
			Reason: "NoConflicts", Message: "no conflicts found", LastTransitionTime: at,
		}, {
			Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue,
			Reason: "InitialNamesAccepted", Message: "the initial names have been accepted", LastTransitionTime: at,
		}},
	}
}

func storageVersion(crd *apiextensionsv1.CustomResourceDefinition) string {
	for _, version := range crd.Spec.Versions {
		if version.Storage {
			return version.Name
		}
	}
	return ""
}

// seed writes established definitions to etcd before the apiserver starts.
func (e *etcd) seed(ctx context.Context, crds []*apiextensionsv1.CustomResourceDefinition) error {
	now := time.Now()
	for _, crd := range crds {
		establish(crd, now)
		value, err := json.Marshal(crd)
		if err != nil {
			return fmt.Errorf("encode CRD %s: %w", crd.Name, err)
		}
		key := etcdPrefix + "/apiextensions.k8s.io/customresourcedefinitions/" + crd.Name
		if _, err := e.client.Put(ctx, key, string(value)); err != nil {
			return fmt.Errorf("seed CRD %s: %w", crd.Name, err)
		}
	}
	return nil
}

// collectionPaths returns the list paths of every served version of the definitions.
func collectionPaths(crds []*apiextensionsv1.CustomResourceDefinition) []string {
	var paths []string
	for _, crd := range crds {
		for _, version := range crd.Spec.Versions {
			if version.Served {
				paths = append(paths, fmt.Sprintf("/apis/%s/%s/%s", crd.Spec.Group, version.Name, crd.Spec.Names.Plural))
			}
		}
	}
	return paths
}
