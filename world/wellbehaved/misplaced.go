package wellbehaved

import (
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strconv"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// remembered is how many versions of an object are kept, to know what an index meant in one of them.
const remembered = 16

// version is how an object was.
type version struct {
	rv  int64
	by  string // the client's name
	obj any
}

// keeps notes how an object is now.
func (a *authors) keeps(r *sim.Record, x *write) {
	if a.versions = append(a.versions, version{r.RV, x.name, r.Obj}); len(a.versions) > remembered {
		a.versions = slices.Delete(a.versions, 0, len(a.versions)-remembered)
	}
}

// misplaced judges a JSON patch that has no test, and returns the element of a list that it removes or replaces by an index which meant another one in what its sender had been told of last. Who has
// written the object itself since then may know more. Nor is a patch with several operations on one list judged: each moves the elements that the next one means.
func (a *authors) misplaced(r *sim.Record, x *write, by author, known int64) *reports.Violation {
	at := slices.IndexFunc(a.versions, func(v version) bool { return v.rv > known })
	if at <= 0 || slices.ContainsFunc(a.versions[at:], func(v version) bool { return v.by == x.name }) {
		return nil // it had been told of all, or of what is kept no more; or its process has written since then, and knows that
	}
	then, now := content(a.versions[at-1].obj), content(r.Old)
	for _, e := range byIndex(x) {
		meant, was := elementAt(then, e)
		hit, is := elementAt(now, e)
		if !was || !is || same(meant, hit) || !slices.Contains(without(listAt(now, e), listAt(content(r.Obj), e)), text(hit)) {
			continue
		}
		field := strings.Join(e.list, ".")
		v := &reports.Violation{Key: strings.Clone(r.Key), Message: fmt.Sprintf("%s takes %s out of the list %s of %s. It means element %d of the list, which was %s in what it had been told of, and is another one since. "+
			"The patch of %s has neither a resourceVersion nor a test, with which the server would have refused it", x.who(), shown(text(hit)), field, r.Key, e.index, shown(text(meant)), x.who())}
		for _, c := range a.lists[field] {
			if c.rv > known && !c.by.is(by) {
				v.Because = append(v.Because, c.told(field, r.Key, by))
			}
		}
		if len(v.Because) == 0 {
			continue // the order of its elements has changed, or what is in one
		}
		v.Because = append(v.Because, reports.Evidence{Step: x.request.Step, At: x.request.At, Text: fmt.Sprintf("%s, which %s, sends %s %s: %s", x.who(), knew(r.Key, known), x.request.Method, x.request.Path, shown(x.request.Body))},
			reports.Because(r, "%s is not there any more (RV %d)", shown(text(hit)), r.RV))
		return v
	}
	return nil
}

// indexed is an element of a list, by its index.
type indexed struct {
	path  string   // the list's
	list  []string // the fields that lead to the list
	index int
}

// byIndex returns the elements that a JSON patch removes or replaces by their indices, one of each list at most.
func byIndex(x *write) (all []indexed) {
	kind, _, err := mime.ParseMediaType(x.request.ContentType)
	var ops []struct{ Op, Path string }
	if err != nil || kind != "application/json-patch+json" || json.Unmarshal([]byte(x.request.Body), &ops) != nil {
		return nil
	}
	times := map[string]int{}
	for _, op := range ops {
		list, last := op.Path, ""
		if at := strings.LastIndex(op.Path, "/"); at >= 0 {
			list, last = op.Path[:at], op.Path[at+1:]
		}
		times[list]++
		n, err := strconv.Atoi(last)
		if err != nil || n < 0 || op.Op != "remove" && op.Op != "replace" {
			continue
		}
		var fields []string
		for _, f := range strings.Split(strings.TrimPrefix(list, "/"), "/") {
			fields = append(fields, strings.NewReplacer("~1", "/", "~0", "~").Replace(f))
		}
		all = append(all, indexed{list, fields, n})
	}
	return slices.DeleteFunc(all, func(e indexed) bool { return times[e.path] > 1 })
}

// listAt returns a list of an object; nil if there is none. One within another list is not looked for.
func listAt(obj map[string]any, e indexed) []any {
	var v any = obj
	for _, f := range e.list {
		m, is := v.(map[string]any)
		if !is {
			return nil
		}
		v = m[f]
	}
	list, _ := v.([]any)
	return list
}

// elementAt returns an element of a list of an object.
func elementAt(obj map[string]any, e indexed) (any, bool) {
	list := listAt(obj, e)
	if e.index >= len(list) {
		return nil, false
	}
	return list[e.index], true
}

// same reports whether two elements are one, of which something may have changed meanwhile.
func same(a, b any) bool {
	x, isMap := a.(map[string]any)
	y, isAlso := b.(map[string]any)
	if !isMap || !isAlso {
		return text(a) == text(b)
	}
	for _, key := range []string{"name", "type", "key", "uid", "ip", "path"} {
		if v, is := x[key]; is && text(v) == text(y[key]) {
			return true
		}
	}
	return text(a) == text(b)
}
