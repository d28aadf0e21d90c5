package catalogue

import (
	"fmt"
	"strings"
)

// parameter is one setting of a query parameter: its name in a probe and its text.
type parameter struct {
	name, query string
	// slow values make the server wait.
	slow bool
}

// The resourceVersions of a request, as points in the history that prepare creates.
var revisions = []parameter{
	{name: "unset"},
	{name: "empty", query: "resourceVersion="},
	{name: "zero", query: "resourceVersion=0"},
	{name: "one", query: "resourceVersion=1"},
	{name: "old", query: "resourceVersion=${old.rv}"},
	{name: "current", query: "resourceVersion=${last.rv}"},
	{name: "future", query: "resourceVersion=${last.rv+1000}", slow: true},
	{name: "garbage", query: "resourceVersion=abc"},
	{name: "negative", query: "resourceVersion=-1"},
}

var matches = []parameter{
	{name: "nomatch"},
	{name: "exact", query: "resourceVersionMatch=Exact"},
	{name: "notolder", query: "resourceVersionMatch=NotOlderThan"},
	{name: "badmatch", query: "resourceVersionMatch=Sometimes"},
}

// prepare creates five gizmos a–e in two namespaces with different labels and colours, changes one and deletes one.
// "old" is a version in between, "last" the latest.
const prepare = `
~ create gizmos/a {metadata: {labels: {app: x}}, spec: {color: red}}
~ create gizmos/b {metadata: {labels: {app: y}}, spec: {color: blue}}
~ old = create gizmos/c {metadata: {labels: {app: x, tier: t}}, spec: {color: red}}
~ create gizmos@ns2/d {metadata: {labels: {app: x}}, spec: {color: green}}
~ create gizmos/e {}
~ merge gizmos/a {metadata: {labels: {app: y}}}
~ delete gizmos/b
~ last = merge gizmos/c {spec: {color: blue}}
`

func join(parameters ...parameter) (name, query string, slow bool) {
	var names, queries []string
	for _, p := range parameters {
		if p.name != "" {
			names = append(names, p.name)
		}
		if p.query != "" {
			queries = append(queries, p.query)
		}
		slow = slow || p.slow
	}
	return strings.Join(names, ","), strings.Join(queries, "&"), slow
}

func options(slow bool) string {
	if slow {
		return "!brief !slow"
	}
	return "!brief"
}

// matrix returns the text of the generated probes.
func matrix() string {
	var b strings.Builder
	listMatrix(&b)
	continueMatrix(&b)
	getMatrix(&b)
	watchMatrix(&b)
	selectorMatrix(&b)
	deleteCollectionMatrix(&b)
	return b.String()
}

func listMatrix(b *strings.Builder) {
	limits := []parameter{{name: "nolimit"}, {name: "limit", query: "limit=2"}}
	for _, rv := range revisions {
		for _, match := range matches {
			for _, limit := range limits {
				name, query, slow := join(rv, match, limit)
				slow = slow && match.name != "badmatch"
				fmt.Fprintf(b, "probe list-matrix/%s I108 S5 %s\n%slist gizmos?%s\n", name, options(slow), prepare, query)
				if !slow {
					fmt.Fprintf(b, "list *gizmos?%s\n", query)
				}
			}
		}
	}
}

func continueMatrix(b *strings.Builder) {
	for _, rv := range revisions {
		for _, match := range matches {
			name, query, _ := join(rv, match)
			fmt.Fprintf(b, "probe continue-matrix/%s I109 S9 !brief\n%s~ page = list gizmos?limit=1\nlist gizmos?limit=1&continue=${page.continue}&%s\n",
				name, prepare, query)
		}
	}
}

func getMatrix(b *strings.Builder) {
	for _, rv := range revisions {
		name, query, slow := join(rv)
		fmt.Fprintf(b, "probe get-matrix/%s S2 S5 %s\n%sget gizmos/c?%s\nget gizmos/absent?%s\n", name, options(slow), prepare, query, query)
	}
}

func watchMatrix(b *strings.Builder) {
	initials := []parameter{{name: "noinitial"}, {name: "initial", query: "sendInitialEvents=true"}, {name: "initialfalse", query: "sendInitialEvents=false"}}
	bookmarks := []parameter{{name: "nobookmarks"}, {name: "bookmarks", query: "allowWatchBookmarks=true"}}
	for _, rv := range revisions {
		for _, match := range matches[:3] {
			for _, initial := range initials {
				for _, bookmark := range bookmarks {
					name, query, slow := join(rv, match, initial, bookmark)
					fmt.Fprintf(b, "probe watch-matrix/%s I100 I101 I102 I103 S14 S15 S16 %s\n%swatch w gizmos?%s\n", name, options(slow), prepare, query)
					switch {
					case slow:
						fmt.Fprintf(b, "merge gizmos/a {metadata: {labels: {app: z}}}\nevents w 1\nevents w quiet\n")
					default:
						fmt.Fprintf(b, "merge gizmos/a {metadata: {labels: {app: z}}}\nevents w end\n")
					}
				}
			}
		}
	}
}

func selectorMatrix(b *strings.Builder) {
	selectors := []parameter{
		{name: "label-equals", query: "labelSelector=app%3Dx"},
		{name: "label-double-equals", query: "labelSelector=app==x"},
		{name: "label-not-equals", query: "labelSelector=app!%3Dx"},
		{name: "label-in", query: "labelSelector=app+in+(x,y)"},
		{name: "label-notin", query: "labelSelector=app+notin+(x)"},
		{name: "label-exists", query: "labelSelector=tier"},
		{name: "label-not-exists", query: "labelSelector=!tier"},
		{name: "label-greater", query: "labelSelector=app%3E1"},
		{name: "label-empty", query: "labelSelector="},
		{name: "label-bad", query: "labelSelector=app%3D%3D%3D"},
		{name: "label-bad-key", query: "labelSelector=-bad-"},
		{name: "label-two", query: "labelSelector=app%3Dx,tier%3Dt"},
		{name: "field-name", query: "fieldSelector=metadata.name%3Dc"},
		{name: "field-name-not", query: "fieldSelector=metadata.name!%3Dc"},
		{name: "field-namespace", query: "fieldSelector=metadata.namespace%3Dns1"},
		{name: "field-other-namespace", query: "fieldSelector=metadata.namespace%3Dns2"},
		{name: "field-color", query: "fieldSelector=spec.color%3Dblue"},
		{name: "field-color-not", query: "fieldSelector=spec.color!%3Dblue"},
		{name: "field-color-empty", query: "fieldSelector=spec.color%3D"},
		{name: "field-unknown", query: "fieldSelector=spec.size%3D1"},
		{name: "field-bad", query: "fieldSelector=%3D"},
		{name: "field-no-operator", query: "fieldSelector=metadata.name"},
		{name: "field-empty", query: "fieldSelector="},
		{name: "field-two", query: "fieldSelector=metadata.name%3Dc,spec.color%3Dblue"},
		{name: "both", query: "labelSelector=app%3Dx&fieldSelector=spec.color%3Dblue"},
	}
	for _, s := range selectors {
		fmt.Fprintf(b, "probe selector-matrix/%s S8 S12 !brief\n%s", s.name, prepare)
		for _, extra := range []string{"", "&resourceVersion=0", "&limit=1", "&resourceVersion=${old.rv}&resourceVersionMatch=Exact"} {
			fmt.Fprintf(b, "list *gizmos?%s%s\n", s.query, extra)
		}
		fmt.Fprintf(b, "watch w *gizmos?%s&resourceVersion=0\nevents w quiet\nwatch v *gizmos?%s&resourceVersion=${old.rv}\nevents v quiet\n", s.query, s.query)
	}
}

func deleteCollectionMatrix(b *strings.Builder) {
	for _, rv := range revisions {
		for _, match := range matches[:3] {
			name, query, slow := join(rv, match)
			fmt.Fprintf(b, "probe deletecollection-matrix/%s S25 %s\n%sDELETE gizmos?%s\nlist *gizmos\n", name, options(slow), prepare, query)
		}
	}
}
