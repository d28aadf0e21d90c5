package prometheusoperator_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	prometheusoperator "github.com/informersim/informersim/wild/prometheus-operator"
)

const asWanted = "a ThanosRuler has the rules of all namespaces, and a StatefulSet that is as it asks for"

// options have the CustomResourceDefinitions that the project releases.
func options(t *testing.T) simtest.Options {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/prometheus-operator/prometheus-operator").Output()
	if err != nil {
		t.Fatal(err)
	}
	s := runtime.NewScheme()
	if err := scheme.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	if err := monitoringv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	o := simtest.Options{GarbageCollection: true, AllowLeaks: true, Scheme: s} // the operator's goroutines end with the process
	for _, name := range []string{"thanosrulers", "prometheusrules"} {
		o.CRDs = append(o.CRDs, filepath.Join(strings.TrimSpace(string(dir)), "example", "prometheus-operator-crd", "monitoring.coreos.com_"+name+".yaml"))
	}
	return o
}

// In the end a ThanosRuler has the rules of all PrometheusRules of the namespaces that are there from the start, and its StatefulSet what it asks for, whatever is changed, deleted
// and created again.
func TestThanosRuler(t *testing.T) {
	o := options(t)
	o.Properties = simtest.WellBehaved(missedDeletion, simtest.Exception{Property: simtest.NoLostReplacement, Why: "its filter compares generations, as TestReplacedRuleIsForgotten shows"})
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Create(newNamespace("default"), newNamespace("team"), newRuler(2))
		start(env)
		for range 15 {
			change(env)
			env.Advance(time.Duration(env.Rand().IntN(30)) * time.Second)
		}
		env.StopFaults()
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
	})
}

// The operator hears of a rule, and asks its cache of namespaces which ThanosRulers select it. If that does not have the namespace yet, it drops the event. It does not
// listen to namespaces that are added: its comment says that the events of rules are enough. So the rules of a new namespace are not there until one of them changes.
func TestRulesOfNewNamespaceAreForgotten(t *testing.T) {
	o := options(t)
	o.Mix, o.Seeds = "none", 20
	found := simtest.Find(t, o, func(env *simtest.Env) {
		env.Create(newNamespace("default"), newRuler(2))
		start(env)
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
		env.Inject(fault.Fault{Kind: fault.WatchStall, Target: "operator", Resource: "namespaces", Duration: time.Minute})
		env.Create(newNamespace("team"), newRule("team", "a", 1))
		env.Advance(2 * time.Minute)
		env.StopFaults()
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
	})
	if found == nil {
		t.Fatal("not found: has the operator been mended?")
	}
	if found.Property != asWanted || !strings.Contains(found.Message, "there are 1 rules, of which it has 0") {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

var missedDeletion = simtest.Exception{Property: simtest.NoLostDeletion, Object: "statefulsets", Why: "its handler takes no tombstone, as TestMissedDeletionLeavesNoStatefulSet shows"}

// A StatefulSet that somebody deletes is made again at once, since the operator watches them. If its watch has missed the deletion, the informer hands the handler what it has of the StatefulSet, as a
// DeletedFinalStateUnknown: OnDelete looks for a StatefulSet, and takes anything else for a ThanosRuler. The ready-made properties find that, in a test that deletes nothing.
func TestMissedDeletionLeavesNoStatefulSet(t *testing.T) {
	findReady(t, simtest.NoLostDeletion, "operator creates statefulsets default/thanos-ruler-main only when")
}

// A PrometheusRule that is deleted and made anew while no watch is open is an update to the informer, from generation 1 to generation 1. The operator's filter compares generations and
// labels, so the ThanosRuler goes on with the rules of the one before.
func TestReplacedRuleIsForgotten(t *testing.T) {
	findReady(t, simtest.NoLostReplacement, "somebody had deleted prometheusrules team/a and made it anew", missedDeletion)
}

// findReady wants a ready-made property to find something in a test that only creates a ThanosRuler and a rule.
func findReady(t *testing.T, property, says string, but ...simtest.Exception) {
	t.Helper()
	o := options(t)
	o.Mix, o.CrashProbability, o.Seeds, o.Properties = "none", 1e-9, 20, simtest.WellBehaved(but...)
	found := simtest.Find(t, o, func(env *simtest.Env) {
		env.Create(newNamespace("default"), newNamespace("team"), newRuler(2), newRule("team", "a", 1))
		start(env)
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
	})
	if found == nil {
		t.Fatal("not found: has the operator been mended?")
	}
	if found.Property != property || !strings.Contains(found.Message, says) {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

func start(env *simtest.Env) {
	env.Go("operator", func(ctx context.Context) error { return prometheusoperator.Run(ctx, env.RESTConfig("operator")) })
}

// newRuler selects all rules of all namespaces.
func newRuler(replicas int32) *monitoringv1.ThanosRuler {
	return &monitoringv1.ThanosRuler{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "main"}, Spec: monitoringv1.ThanosRulerSpec{
		Replicas: &replicas, RuleSelector: &metav1.LabelSelector{}, RuleNamespaceSelector: &metav1.LabelSelector{}, QueryEndpoints: []string{"dnssrv+example.com"},
	}}
}

// newNamespace is one that the operator can find: the cluster of a Go test begins without any object.
func newNamespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func newRule(namespace, name string, value int) *monitoringv1.PrometheusRule {
	return &monitoringv1.PrometheusRule{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: monitoringv1.PrometheusRuleSpec{Groups: groups(value)}}
}

func groups(value int) []monitoringv1.RuleGroup {
	return []monitoringv1.RuleGroup{{Name: "group", Rules: []monitoringv1.Rule{{Record: "record", Expr: intstr.FromString(fmt.Sprintf("vector(%d)", value))}}}}
}

// change creates, changes or deletes a rule, scales the ThanosRuler, or deletes and creates it.
func change(env *simtest.Env) {
	rule := newRule([]string{"default", "team"}[env.Rand().IntN(2)], []string{"a", "b"}[env.Rand().IntN(2)], env.Rand().IntN(100))
	ruler := newRuler(0)
	switch n := env.Rand().IntN(6); {
	case n < 4:
		spec := rule.Spec
		switch {
		case env.Get(rule) != nil:
			env.Create(newRule(rule.Namespace, rule.Name, env.Rand().IntN(100)))
		case n == 0:
			env.Delete(rule)
		default:
			env.Mutate(rule, func() { rule.Spec = spec })
		}
	case env.Get(ruler) != nil:
		env.Create(newRuler(1 + env.Rand().Int32N(3)))
	case n == 4:
		env.Mutate(ruler, func() { ruler.Spec.Replicas = ptr.To(1 + env.Rand().Int32N(3)) })
	default:
		env.Delete(ruler)
	}
}

func agree(env *simtest.Env) error {
	ruler := newRuler(0)
	if env.Get(ruler) != nil {
		return nil // the garbage collector does the rest
	}
	var rules monitoringv1.PrometheusRuleList
	var files corev1.ConfigMapList
	for _, err := range []error{env.List(&rules, ""), env.List(&files, "default", metav1.ListOptions{LabelSelector: "thanos-ruler-name=main"})} {
		if err != nil {
			return err
		}
	}
	there, has, data := 0, 0, map[string]string{}
	for _, f := range files.Items {
		for name, text := range f.Data { // the order does not matter: each is counted
			data[name], there = text, there+1
		}
	}
	for _, r := range rules.Items {
		if strings.Contains(data[fmt.Sprintf("%s-%s-%s.yaml", r.Namespace, r.Name, r.UID)], r.Spec.Groups[0].Rules[0].Expr.StrVal) {
			has++
		}
	}
	if has != len(rules.Items) || there != has {
		return fmt.Errorf("there are %d rules, of which it has %d, and %d in all", len(rules.Items), has, there)
	}
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "thanos-ruler-main"}}
	if err := env.Get(set); err != nil {
		return err
	}
	if owner := metav1.GetControllerOf(set); owner == nil || owner.UID != ruler.UID || ptr.Deref(set.Spec.Replicas, 0) != *ruler.Spec.Replicas {
		return fmt.Errorf("the StatefulSet has %d replicas of %d, and is owned by %v; the ThanosRuler is %s", ptr.Deref(set.Spec.Replicas, 0), *ruler.Spec.Replicas, owner, ruler.UID)
	}
	return nil
}
