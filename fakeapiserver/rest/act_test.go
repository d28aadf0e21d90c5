package rest_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

func newPod(t *testing.T, c kubernetes.Interface, name string) *corev1.Pod {
	t.Helper()
	pod, err := c.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "x"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// wantStatus checks an error's code and text.
func wantStatus(t *testing.T, err error, code int32, text string) {
	t.Helper()
	status, ok := err.(apierrors.APIStatus)
	if !ok || status.Status().Code != code || !strings.Contains(status.Status().Message, text) {
		t.Errorf("the error is %v, want %d %q", err, code, text)
	}
}

func binding(name, node string) *corev1.Binding {
	return &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"k": "v"}, Labels: map[string]string{"zone": "z"}},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}
}

// A binding binds, once, at either path.
func TestBinding(t *testing.T) {
	c := newClient(t)
	newPod(t, c, "a")
	newPod(t, c, "b")
	ctx, pods := t.Context(), c.CoreV1().Pods("default")
	if err := pods.Bind(ctx, binding("a", "n1"), metav1.CreateOptions{DryRun: []string{"All"}}); err != nil {
		t.Error(err)
	}
	if err := pods.Bind(ctx, binding("a", "n1"), metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	wantStatus(t, pods.Bind(ctx, binding("a", "n2"), metav1.CreateOptions{}), 409, `pod a is already assigned to node "n1"`)
	wantStatus(t, pods.Bind(ctx, binding("nope", "n2"), metav1.CreateOptions{}), 404, `pods "nope" not found`)
	other := binding("b", "n2")
	other.UID = "not-b"
	wantStatus(t, pods.Bind(ctx, other, metav1.CreateOptions{}), 409, "UID in precondition: not-b")
	body, err := json.Marshal(binding("b", "n2"))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.CoreV1().RESTClient().Post().AbsPath("/api/v1/namespaces/default/bindings").Body(body).SetHeader("Content-Type", "application/json").DoRaw(ctx)
	if err != nil || !strings.Contains(string(answer), `"status":"Success","code":201`) {
		t.Errorf("a binding at the old path: %s, %v", answer, err)
	}
	for name, node := range map[string]string{"a": "n1", "b": "n2"} {
		pod, err := pods.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		scheduled := len(pod.Status.Conditions) == 1 && pod.Status.Conditions[0].Type == corev1.PodScheduled && pod.Status.Conditions[0].Status == corev1.ConditionTrue
		if pod.Spec.NodeName != node || !scheduled || pod.Annotations["k"] != "v" || pod.Labels["zone"] != "z" || pod.Labels["app"] != "x" {
			t.Errorf("the bound pod is %+v", pod)
		}
	}
}

func eviction(name string) *policyv1.Eviction {
	return &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// An eviction honours the budget, takes from it, and marks the Pod before it goes.
func TestEviction(t *testing.T) {
	c := newClient(t)
	ctx, pods, budgets := t.Context(), c.CoreV1().Pods("default"), c.PolicyV1().PodDisruptionBudgets("default")
	newPod(t, c, "pending")
	if err := pods.EvictV1(ctx, eviction("pending")); err != nil {
		t.Error(err)
	}
	if _, err := pods.Get(ctx, "pending", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an evicted pod that is not bound: %v", err)
	}
	wantStatus(t, pods.EvictV1(ctx, eviction("pending")), 404, `pods "pending" not found`)
	pod := newPod(t, c, "a")
	if err := pods.Bind(ctx, binding("a", "n1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	status := fmt.Sprintf(`{"metadata":{"uid":%q},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`, pod.UID)
	if _, err := pods.Patch(ctx, "a", types.StrategicMergePatchType, []byte(status), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	budget, err := budgets.Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "budget"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	refused := func(cause string) {
		t.Helper()
		err := c.CoreV1().RESTClient().Post().AbsPath("/api/v1/namespaces/default/pods/a/eviction").Body(eviction("a")).MaxRetries(0).Do(ctx).Error()
		wantStatus(t, err, http.StatusTooManyRequests, "Cannot evict pod as it would violate the pod's disruption budget.")
		if !apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause) || err.(apierrors.APIStatus).Status().Details.Causes[0].Message != cause {
			t.Errorf("the causes are %+v", err.(apierrors.APIStatus).Status().Details)
		}
	}
	refused("The disruption budget budget is still being processed by the server.")
	budget.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, CurrentHealthy: 1, DesiredHealthy: 1, ExpectedPods: 1}
	if budget, err = budgets.UpdateStatus(ctx, budget, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	refused("The disruption budget budget needs 1 healthy pods and has 1 currently")
	budget.Status.CurrentHealthy, budget.Status.DisruptionsAllowed = 2, 1
	if _, err = budgets.UpdateStatus(ctx, budget, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	dry := eviction("a")
	dry.DeleteOptions = &metav1.DeleteOptions{DryRun: []string{"All"}}
	if err := pods.EvictV1(ctx, dry); err != nil {
		t.Error(err)
	}
	w, err := pods.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if err := pods.EvictV1(ctx, eviction("a")); err != nil {
		t.Fatal(err)
	}
	if budget, err = budgets.Get(ctx, "budget", metav1.GetOptions{}); err != nil || budget.Status.DisruptionsAllowed != 0 || len(budget.Status.DisruptedPods) != 1 {
		t.Errorf("the budget is %+v, %v", budget, err)
	}
	if !slices.ContainsFunc(budget.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == "kube-apiserver" && e.Subresource == "status"
	}) {
		t.Errorf("the budget was changed by %+v", budget.ManagedFields)
	}
	wantTypes(t, w, "ADDED a", "MODIFIED a", "MODIFIED a") // the condition, then the deletion
	if pod, err = pods.Get(ctx, "a", metav1.GetOptions{}); err != nil || pod.DeletionTimestamp == nil || *pod.DeletionGracePeriodSeconds != 30 {
		t.Fatalf("the evicted pod is %+v, %v", pod, err)
	}
	if last := pod.Status.Conditions[len(pod.Status.Conditions)-1]; last.Type != corev1.DisruptionTarget || last.Reason != "EvictionByEvictionAPI" {
		t.Errorf("the evicted pod has the conditions %+v", pod.Status.Conditions)
	}
}

// A budget that still lists a pod of that name, since its controller has not seen the first one go, has the server's time of the second eviction, too.
func TestEvictedAgain(t *testing.T) {
	c := newClient(t)
	ctx, pods, budgets := t.Context(), c.CoreV1().Pods("default"), c.PolicyV1().PodDisruptionBudgets("default")
	budget, err := budgets.Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "budget"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	budget.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, CurrentHealthy: 3, DesiredHealthy: 1, ExpectedPods: 3, DisruptionsAllowed: 2}
	if _, err := budgets.UpdateStatus(ctx, budget, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		pod := newPod(t, c, "a")
		status := fmt.Sprintf(`{"metadata":{"uid":%q},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`, pod.UID)
		if _, err := pods.Patch(ctx, "a", types.StrategicMergePatchType, []byte(status), metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
		if err := pods.EvictV1(ctx, eviction("a")); err != nil {
			t.Fatal(err)
		}
		if budget, err = budgets.Get(ctx, "budget", metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		if at := budget.Status.DisruptedPods["a"]; at.Sub(pod.CreationTimestamp.Time).Abs() > time.Hour {
			t.Errorf("eviction %d is at %v, and the pod was created at %v", n+1, at, pod.CreationTimestamp)
		}
	}
}

// The token of a ServiceAccount is signed, expires, and is known.
func TestServiceAccountToken(t *testing.T) {
	c := newClient(t)
	ctx, accounts := t.Context(), c.CoreV1().ServiceAccounts("default")
	account, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "sa"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seconds := int64(1200)
	answer, err := accounts.CreateToken(ctx, "sa", &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(answer.Status.Token, ".")
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || len(parts) != 3 {
		t.Fatalf("the token is %s: %v", answer.Status.Token, err)
	}
	var claims struct {
		Sub      string
		Exp, Iat int64
	}
	if err := json.Unmarshal(payload, &claims); err != nil || claims.Sub != "system:serviceaccount:default:sa" || claims.Exp-claims.Iat != seconds {
		t.Errorf("the claims are %s", payload)
	}
	if !answer.Status.ExpirationTimestamp.Time.Equal(answer.CreationTimestamp.Add(1200*time.Second)) || answer.UID != account.UID {
		t.Errorf("the answer is %+v", answer)
	}
	review := func(token string) authenticationv1.TokenReviewStatus {
		t.Helper()
		r, err := c.AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Status
	}
	if s := review(answer.Status.Token); !s.Authenticated || s.User.Username != claims.Sub || s.User.UID != string(account.UID) {
		t.Errorf("the review of the token: %+v", s)
	}
	forged := parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(payload), "sa", "as", 1))) + "." + parts[2]
	if s := review(forged); s.Authenticated || s.Error != "invalid bearer token" {
		t.Errorf("the review of a forged token: %+v", s)
	}
	if err := accounts.Delete(ctx, "sa", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if s := review(answer.Status.Token); s.Authenticated {
		t.Errorf("the review of a token whose account is gone: %+v", s)
	}
	seconds = 10
	_, err = accounts.CreateToken(ctx, "sa", &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	wantStatus(t, err, 404, `serviceaccounts "sa" not found`)
}

// Reviews are answered, and never stored.
func TestReviews(t *testing.T) {
	c := newClient(t)
	ctx := t.Context()
	attributes := &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"}
	for _, o := range []metav1.CreateOptions{{}, {DryRun: []string{"All"}}} {
		access, err := c.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes}}, o)
		if err != nil || !access.Status.Allowed || access.UID != "" || access.ResourceVersion != "" {
			t.Errorf("%+v, %v", access, err)
		}
	}
	subject, err := c.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: "u", ResourceAttributes: attributes}}, metav1.CreateOptions{})
	if err != nil || !subject.Status.Allowed {
		t.Errorf("%+v, %v", subject, err)
	}
	_, err = c.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{ResourceAttributes: attributes}}, metav1.CreateOptions{})
	wantStatus(t, err, 422, "at least one of user or group must be specified")
	_, err = c.AuthorizationV1().LocalSubjectAccessReviews("default").Create(ctx, &authorizationv1.LocalSubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: "u", ResourceAttributes: attributes}}, metav1.CreateOptions{})
	wantStatus(t, err, 422, "must match metadata.namespace")
	rules, err := c.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"}}, metav1.CreateOptions{})
	if err != nil || len(rules.Status.ResourceRules) == 0 || rules.Status.Incomplete {
		t.Errorf("%+v, %v", rules, err)
	}
	self, err := c.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil || self.Status.UserInfo.Username == "" || self.CreationTimestamp.IsZero() {
		t.Errorf("%+v, %v", self, err)
	}
}

// Events of core/v1 and of events.k8s.io/v1 are the same objects.
func TestEventsAreOne(t *testing.T) {
	c := newClient(t)
	ctx, old, events := t.Context(), c.CoreV1().Events("default"), c.EventsV1().Events("default")
	w, err := events.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	pod := corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "a"}
	if _, err := old.Create(ctx, &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e1"}, InvolvedObject: pod, Message: "m", Type: "Normal", Source: corev1.EventSource{Component: "c"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := events.Create(ctx, &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "e2"}, EventTime: metav1.NowMicro(), Regarding: pod, Reason: "R", Note: "n", Type: "Normal",
		ReportingController: "a.b/c", ReportingInstance: "i", Action: "A",
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	wantTypes(t, w, "ADDED e1", "ADDED e2")
	first, err := events.Get(ctx, "e1", metav1.GetOptions{})
	if err != nil || first.Note != "m" || first.Regarding != pod || first.DeprecatedSource.Component != "c" {
		t.Errorf("an old event read as a new one: %+v, %v", first, err)
	}
	second, err := old.Get(ctx, "e2", metav1.GetOptions{})
	if err != nil || second.Message != "n" || second.InvolvedObject != pod || second.ReportingController != "a.b/c" {
		t.Errorf("a new event read as an old one: %+v, %v", second, err)
	}
	if list, err := events.List(ctx, metav1.ListOptions{FieldSelector: "regarding.name=a"}); err != nil || len(list.Items) != 2 {
		t.Errorf("new events by name: %+v, %v", list, err)
	}
	if list, err := old.List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=b"}); err != nil || len(list.Items) != 0 {
		t.Errorf("old events by another name: %+v, %v", list, err)
	}
	first.Note = "changed"
	if _, err := events.Update(ctx, first, metav1.UpdateOptions{}); err == nil {
		t.Error("a new event needs an eventTime")
	}
	if err := events.Delete(ctx, "e1", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := old.Get(ctx, "e1", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an event that was deleted as a new one: %v", err)
	}
}

// What a kubelet would answer says that there is none (S42).
func TestS42NoKubelet(t *testing.T) {
	c := newClient(t)
	ctx, pods := t.Context(), c.CoreV1().Pods("default")
	newPod(t, c, "free")
	newPod(t, c, "bound")
	if err := pods.Bind(ctx, binding("bound", "n1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	do := func(method, path string) error {
		return c.CoreV1().RESTClient().Verb(method).RequestURI("/api/v1/" + path).Do(ctx).Error()
	}
	if err := do("GET", "namespaces/default/pods/free/log"); err != nil {
		t.Error(err)
	}
	wantStatus(t, do("GET", "namespaces/default/pods/nope/log"), 404, `pods "nope" not found`)
	wantStatus(t, do("GET", "namespaces/default/pods/bound/log"), 501, `there is no kubelet here and nothing runs: pods "bound" has no log`)
	wantStatus(t, do("GET", "namespaces/default/pods/bound/log?container=d"), 400, "container d is not valid for pod bound")
	wantStatus(t, do("POST", "namespaces/default/pods/free/exec?command=ls"), 400, "pod free does not have a host assigned")
	wantStatus(t, do("POST", "namespaces/default/pods/bound/exec?command=ls"), 501, "there is no kubelet here")
	wantStatus(t, do("POST", "namespaces/default/pods/bound/portforward"), 501, "there is no kubelet here")
	wantStatus(t, do("GET", "namespaces/default/pods/bound/proxy/x/y"), 400, "address not allowed")
	wantStatus(t, do("GET", "namespaces/default/services/s/proxy"), 503, `no endpoints available for service "s"`)
	wantStatus(t, do("GET", "nodes/n1/proxy/"), 404, `nodes "n1" not found`)
}
