package builtin

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// lookup returns a served resource.
func lookup(t testing.TB, plural, version string) *types.Resource {
	t.Helper()
	name, group, _ := strings.Cut(plural, ".")
	for _, r := range Resources(Options{}) {
		if r.Plural == name && r.Group == group && r.Version == version {
			return r
		}
	}
	t.Fatalf("%s is not served in version %s", plural, version)
	return nil
}

// The groups are a kube-apiserver's, in its order; each resource has what its discovery says.
func TestResourcesAreThoseOfAKubeAPIServer(t *testing.T) {
	var groups []string
	lines := map[string]string{}
	for _, r := range Resources(Options{}) {
		if gv := r.GroupVersion().String(); !slices.Contains(groups, gv) {
			groups = append(groups, gv)
		}
		var subs []string
		for _, s := range r.Subresources {
			subs = append(subs, s.Name+"="+strings.Join(s.Verbs, ","))
		}
		words := []string{r.Kind, r.Singular, strings.Join(r.Verbs, ","), strings.Join(r.ShortNames, ","), strings.Join(r.Categories, ","), r.StorageVersion}
		lines[r.GroupVersion().String()+" "+r.Plural] = strings.Join(append(words, subs...), " ")
	}
	want := "v1 apps/v1 events.k8s.io/v1 authentication.k8s.io/v1 authorization.k8s.io/v1 autoscaling/v2 autoscaling/v1 batch/v1 certificates.k8s.io/v1 " +
		"networking.k8s.io/v1 policy/v1 rbac.authorization.k8s.io/v1 storage.k8s.io/v1 admissionregistration.k8s.io/v1 scheduling.k8s.io/v1 " +
		"coordination.k8s.io/v1 node.k8s.io/v1 discovery.k8s.io/v1 resource.k8s.io/v1 flowcontrol.apiserver.k8s.io/v1 storagemigration.k8s.io/v1"
	if got := strings.Join(groups, " "); got != want {
		t.Errorf("the groups are\n%s\nwant\n%s", got, want)
	}
	const all = "create,delete,deletecollection,get,list,patch,update,watch"
	for name, want := range map[string]string{
		"apps/v1 deployments": "Deployment deployment " + all + " deploy all v1 scale=get,patch,update status=get,patch,update",
		"v1 namespaces":       "Namespace namespace create,delete,get,list,patch,update,watch ns  v1 finalize=update status=get,patch,update",
		"v1 bindings":         "Binding binding create   v1",
		"v1 pods": "Pod pod " + all + " po all v1 attach=create,get binding=create ephemeralcontainers=get,patch,update eviction=create exec=create,get " +
			"log=get portforward=create,get proxy=create,delete,get,patch,update resize=get,patch,update status=get,patch,update",
		"autoscaling/v1 horizontalpodautoscalers":                   "HorizontalPodAutoscaler horizontalpodautoscaler " + all + " hpa all v2 status=get,patch,update",
		"authorization.k8s.io/v1 localsubjectaccessreviews":         "LocalSubjectAccessReview localsubjectaccessreview create   v1",
		"storagemigration.k8s.io/v1 storageversionmigrations":       "StorageVersionMigration storageversionmigration " + all + "   v1beta1 status=get,patch,update",
		"certificates.k8s.io/v1 certificatesigningrequests":         "CertificateSigningRequest certificatesigningrequest " + all + " csr  v1 approval=get,patch,update status=get,patch,update",
		"networking.k8s.io/v1 servicecidrs":                         "ServiceCIDR servicecidr " + all + "   v1 status=get,patch,update",
		"admissionregistration.k8s.io/v1 mutatingadmissionpolicies": "MutatingAdmissionPolicy mutatingadmissionpolicy " + all + "  api-extensions v1",
	} {
		if lines[name] != want {
			t.Errorf("%s is\n%s\nwant\n%s", name, lines[name], want)
		}
	}
}

// Objects of every kind can be made, decoded and shown; their Go types are client-go's.
func TestEveryKindCanBeDecodedAndShown(t *testing.T) {
	for _, r := range Resources(Options{}) {
		obj := r.Strategy.New()
		if obj.GetObjectKind().GroupVersionKind() != r.GroupVersionKind() || !clientscheme.Scheme.Recognizes(r.GroupVersionKind()) {
			t.Errorf("%s: New returned a %s", r, obj.GetObjectKind().GroupVersionKind())
		}
		if r.Allows("list", "") && r.Strategy.NewList().GetObjectKind().GroupVersionKind() != r.ListGroupVersionKind() {
			t.Errorf("%s: NewList returned a %s", r, r.Strategy.NewList().GetObjectKind().GroupVersionKind())
		}
		body := types.Body{Data: []byte(`{"apiVersion":"` + r.GroupVersion().String() + `","kind":"` + r.Kind + `","metadata":{"name":"a","nonsense":1}}`)}
		decoded, warnings, err := r.Decode(body, "")
		if err != nil || !slices.Equal(warnings, []string{`unknown field "metadata.nonsense"`}) {
			t.Errorf("%s: decoded with %v and warnings %q", r, err, warnings)
			continue
		}
		if decoded.GetObjectKind().GroupVersionKind() != r.GroupVersionKind() {
			t.Errorf("%s: decoded to a %s", r, decoded.GetObjectKind().GroupVersionKind())
		}
		if !r.Allows("list", "") {
			continue
		}
		stored, err := r.Strategy.Stored(decoded)
		if err != nil {
			t.Errorf("%s: to the storage version: %v", r, err)
			continue
		}
		if back, err := r.Strategy.Convert(stored); err != nil || back.GetObjectKind().GroupVersionKind() != r.GroupVersionKind() {
			t.Errorf("%s: from the storage version: %v", r, err)
		}
		table, err := r.Strategy.Table(decoded, &metav1.TableOptions{}, noon)
		if err != nil || len(table.Rows) != 1 || len(table.Rows[0].Cells) < len(table.ColumnDefinitions) {
			t.Errorf("%s: table %+v, %v", r, table, err)
		}
		list := r.Strategy.NewList()
		if err := meta.SetList(list, nil); err != nil {
			t.Errorf("%s: %v", r, err)
		}
		for _, s := range r.Subresources {
			if slices.Contains(s.Verbs, "update") && s.Name != "proxy" && r.Strategy.ResetFields(s.Name) == nil && s.Name != types.Scale &&
				s.Name != "ephemeralcontainers" && s.Name != "resize" && s.Name != "finalize" {
				t.Errorf("%s/%s resets no fields", r, s.Name)
			}
		}
	}
}

// The fields of selectors are those of the code.
func TestSelectableFields(t *testing.T) {
	for name, want := range map[string]string{
		"pods":       "spec.hostNetwork spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName status.nominatedNodeName status.phase status.podIP",
		"jobs.batch": "status.successful", "secrets": "type", "configmaps": "", "services": "spec.clusterIP spec.type", "replicasets.apps": "", "replicationcontrollers": "status.replicas",
		"events.events.k8s.io": "reason regarding.apiVersion regarding.fieldPath regarding.kind regarding.name regarding.namespace regarding.resourceVersion " +
			"regarding.uid reportingController type",
	} {
		if got := strings.Join(lookup(t, name, "v1").SelectableFields, " "); got != want {
			t.Errorf("%s can be selected by %q, want %q", name, got, want)
		}
	}
	pods := lookup(t, "pods", "v1").Strategy.(types.FieldLabels)
	if err := pods.CheckField("spec.foo"); err == nil || err.Error() != "field label not supported: spec.foo" {
		t.Errorf("a field that is none: %v", err)
	}
	if err := lookup(t, "configmaps", "v1").Strategy.(types.FieldLabels).CheckField("data.a"); err == nil ||
		err.Error() != `"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"` {
		t.Errorf("a kind without fields: %v", err)
	}
}
