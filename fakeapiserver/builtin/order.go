package builtin

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
)

// Kubernetes' code walks maps where it validates, warns and deletes. What it says in any order is put in one here; all else stays in the
// order of the code.

// inOrder orders what an error says about the entries of a map. claims is how many volumes a StatefulSet has for its claim templates.
func inOrder(err error, claims int) error {
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) == 0 {
		return err
	}
	was := status.ErrStatus.Details.Causes
	now := slices.Clone(was)
	numberVolumes(now, claims)
	orderEntries(now, func(c metav1.StatusCause) entry { return entryOf(c.Field, c.Message) })
	// The message lists the causes once more.
	status.ErrStatus.Message = strings.Replace(status.ErrStatus.Message, listed(was), listed(now), 1)
	status.ErrStatus.Details.Causes = now
	return err
}

// claimVolumes returns how many volumes of an object are there for claim templates, each of which has a name of its own.
func claimVolumes(obj runtime.Object) int {
	names := map[string]bool{}
	if set, ok := obj.(*appsv1.StatefulSet); ok {
		for i := range set.Spec.VolumeClaimTemplates {
			names[set.Spec.VolumeClaimTemplates[i].Name] = true
		}
	}
	return len(names)
}

// numberVolumes gives the first volumes of a StatefulSet, in place, numbers in the order of what is wrong with them. Validation adds them in any order.
func numberVolumes(causes []metav1.StatusCause, first int) {
	if first < 2 {
		return // there is one order
	}
	const volumes = "spec.template.spec.volumes["
	numbered := func(c metav1.StatusCause) (n int, rest string, is bool) {
		rest, is = strings.CutPrefix(c.Field, volumes)
		number, rest, _ := strings.Cut(rest, "]")
		n, err := strconv.Atoi(number)
		return n, rest, is && err == nil && n < first
	}
	wrong := make([]string, first)
	for _, c := range causes {
		if n, rest, is := numbered(c); is {
			wrong[n] += rest + c.Message
		}
	}
	order := make([]int, first)
	for n := range order {
		order[n] = n
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(wrong[a], wrong[b]) })
	for i, c := range causes {
		if n, rest, is := numbered(c); is {
			causes[i].Field = fmt.Sprintf("%s%d]%s", volumes, slices.Index(order, n), rest)
		}
	}
	orderEntries(causes, func(c metav1.StatusCause) entry {
		if n, _, is := numbered(c); is {
			return entry{volumes, fmt.Sprintf("%9d", n)}
		}
		return entry{}
	})
}

func listed(causes []metav1.StatusCause) string {
	var all []string
	for _, c := range causes {
		if text := c.Field + ": " + c.Message; !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}

// orderWarnings orders, in place, what is warned of about the entries of a map.
func orderWarnings(warnings []string) {
	orderEntries(warnings, func(text string) entry {
		field, message, _ := strings.Cut(text, ": ")
		if selector, label, found := strings.Cut(field, ".matchLabels."); found {
			return entry{selector, label}
		}
		return entryOf(field, message)
	})
}

// entry says where a message belongs: to an entry of a map, or of what is made from one. The zero value belongs nowhere.
type entry struct{ of, name string }

// orderEntries orders, in place and stably, neighbours that are about the same map.
func orderEntries[T any](all []T, where func(T) entry) {
	for i := 0; i < len(all); {
		j := i + 1
		for of := where(all[i]).of; of != "" && j < len(all) && where(all[j]).of == of; {
			j++
		}
		slices.SortStableFunc(all[i:j], func(a, b T) int { return cmp.Compare(where(a).name, where(b).name) })
		i = j
	}
}

// entryOf returns the entry that a message about a field is about.
func entryOf(field, message string) entry {
	of, name := mapOf(field)
	switch {
	case strings.Contains(message, "but found new scheduling gate"):
		return entry{"schedulingGates", message}
	case strings.HasSuffix(message, "must populate the given metric source only"):
		return entry{parent(field), field}
	case strings.HasSuffix(message, "Limit must be set for non overcommitable resources"): // comes between what is wrong with requests
		return entry{parent(field) + ".requests", message}
	case strings.HasPrefix(of, "spec.limits[") && compares.MatchString(message):
		return entry{parent(of), name}
	case of == field:
		return entry{of, message}
	}
	return entry{of, name}
}

// compares matches what is wrong where a LimitRange has several values for a resource; these errors come one resource after the other.
var compares = regexp.MustCompile(` (is greater than|is less than|must equal to) `)

// parent returns the path without its last name.
func parent(path string) string { return path[:max(strings.LastIndex(path, "."), 0)] }

// mapOf returns the path of the map that a field is an entry of, and the entry's key. Without a key it is the map itself; without a map there is none.
func mapOf(field string) (of, key string) {
	for i := 0; i < len(field); i++ {
		if field[i] != '[' {
			continue
		}
		key, _, closed := strings.Cut(field[i+1:], "]")
		number := key != "" && strings.Trim(key, "0123456789") == ""
		if closed && (!number || isUnkeyed(field[:i])) {
			return field[:i], key
		}
	}
	for _, name := range []string{"status.allocatable", "status.capacity"} {
		if key, is := strings.CutPrefix(field, name+"."); is {
			return name, key
		}
	}
	if isUnkeyed(field) {
		return field, ""
	}
	return "", ""
}

func isUnkeyed(field string) bool {
	return slices.ContainsFunc(unkeyed, func(name string) bool { return strings.HasSuffix(field, "."+name) })
}

// unkeyed are the maps of whose entries some messages name the map only. Lists have other names: those of a claim of devices are its requests.
var unkeyed = []string{
	"labels", "annotations", "matchLabels", "nodeSelector", "unverifiedUserAnnotations", "allocatedResourceStatuses", "allocatedResources",
	"attributes", "capacity", "counters", "resources.requests", "capacity.requests", "trustBundle",
}

// limits are the limits of LimitRanges, with what they refuse in the order of the resources.
type limits struct {
	limitranger.DefaultLimitRangerActions
}

// ValidateLimit implements limitranger.LimitRangerActions.
func (l *limits) ValidateLimit(limit *corev1.LimitRange, kind string, obj runtime.Object) error {
	err := l.DefaultLimitRangerActions.ValidateLimit(limit, kind, obj)
	var all utilerrors.Aggregate
	if !errors.As(err, &all) {
		return err
	}
	refused := slices.Clone(all.Errors())
	slices.SortStableFunc(refused, func(a, b error) int { return cmp.Compare(resourceOf(a), resourceOf(b)) })
	return utilerrors.NewAggregate(refused)
}

// resourceOf returns the name of the resource that a limit is about: "minimum cpu usage per …" or "cpu max limit to request ratio per …".
func resourceOf(err error) string {
	words := strings.Fields(err.Error())
	if len(words) > 1 && (words[0] == "minimum" || words[0] == "maximum") {
		return words[1]
	}
	return words[0]
}

// orderFinalizers puts, in place, an object's finalizers in the order of before, followed by those of garbage collection. The storage of
// namespaces keeps them in a map while it deletes.
func orderFinalizers(m, before metav1.Object) {
	order := append(slices.Clone(before.GetFinalizers()), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents)
	now := slices.Clone(m.GetFinalizers())
	slices.SortStableFunc(now, func(a, b string) int { return cmp.Compare(slices.Index(order, a), slices.Index(order, b)) })
	m.SetFinalizers(now)
}
