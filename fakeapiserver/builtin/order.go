package builtin

import (
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// inOrder gives errors about the entries of a map, which validation walks in any order, the order of their keys. All other errors of a write
// stay in the order of the code.
func inOrder(err error) error {
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) < 2 {
		return err
	}
	was := status.ErrStatus.Details.Causes
	now := slices.Clone(was)
	for i := 0; i < len(now); {
		j := i + 1
		for j < len(now) && mapOf(now[i].Field) != "" && mapOf(now[j].Field) == mapOf(now[i].Field) {
			j++
		}
		slices.SortStableFunc(now[i:j], func(a, b metav1.StatusCause) int {
			if a.Field != b.Field || !ownMap(a.Field) {
				return strings.Compare(a.Field, b.Field)
			}
			return strings.Compare(a.Message, b.Message)
		})
		i = j
	}
	// The message lists the causes once more.
	status.ErrStatus.Message = strings.Replace(status.ErrStatus.Message, listed(was), listed(now), 1)
	status.ErrStatus.Details.Causes = now
	return err
}

// mapOf returns the path of the map that a field is an entry of, "" if it is none.
func mapOf(field string) string {
	if ownMap(field) {
		return field
	}
	open := strings.LastIndex(field, "[")
	if open < 0 || !strings.HasSuffix(field, "]") || strings.Trim(field[open+1:len(field)-1], "0123456789") == "" {
		return ""
	}
	return field[:open]
}

// ownMap reports whether errors about a map's entries name the map only.
func ownMap(field string) bool {
	for _, name := range []string{"labels", "annotations", "matchLabels", "nodeSelector"} {
		if strings.HasSuffix(field, "."+name) {
			return true
		}
	}
	return false
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
