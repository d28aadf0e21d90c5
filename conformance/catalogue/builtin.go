package catalogue

import (
	"fmt"
	"slices"
	"strings"
)

// anyRevision are kinds whose writes make a server write more: addresses and ports that it allocates.
var anyRevision = map[string]string{"services": " !anyRevision", "servicecidrs": " !anyRevision", "ipaddresses": " !anyRevision"}

// asTable asks for a table.
const asTable = `[Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json]`

// kindProbe is a probe that every kind has: steps in which $TARGET, $RESOURCE, $NAME, $BODY and $CHANGE stand for the
// kind's, and $FIELDS for those of its body. Those of a kind that the server itself writes to end with the first answer.
type kindProbe struct{ area, options, steps string }

// perKind are those about what a kind's own code decides.
var perKind = []kindProbe{
	{"default", "", "create $TARGET $BODY"},
	{"managed", " !managedFields", "create $TARGET [Pick: /metadata/managedFields] $BODY\n" +
		"apply $TARGET?fieldManager=one&force=true [Pick: /metadata/managedFields] $BODY\n" +
		"apply $TARGET?fieldManager=one [Pick: /metadata/managedFields] {metadata: {labels: {mine: \"1\"}}}"},
	{"kind-table", "", "~ create $TARGET $BODY\nget $RESOURCE?fieldSelector=metadata.name=$NAME&includeObject=None " + asTable + "\nget $TARGET " + asTable + " [Pick: /rows]"},
	{"life", " !brief", "create $TARGET $BODY\ncreate $TARGET $BODY\nmerge $TARGET $CHANGE\nmerge $TARGET $CHANGE\nget $TARGET\ndelete $TARGET\nget $TARGET\ndelete $TARGET\nrevision"},
	{"kind-apply", " !brief", "apply $TARGET $BODY\napply $TARGET $BODY\nmerge $TARGET $CHANGE\napply $TARGET?fieldManager=other $CHANGE\nrevision"},
	{"kind-watch", " !brief", "watch w $RESOURCE?fieldSelector=metadata.name=$NAME\n~ create $TARGET $BODY\n~ merge $TARGET " + labelled + "\n~ delete $TARGET\nevents w quiet"},
	{"kind-bookmark", "", "watch w $RESOURCE?fieldSelector=metadata.name=none&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan\nevents w 1"},
	{"kind-selector", " !brief", "~ create $TARGET $BODY\nlist $RESOURCE?fieldSelector=metadata.name=$NAME\nlist $RESOURCE?fieldSelector=metadata.name!=$NAME,metadata.name=none\n" +
		"list $RESOURCE?fieldSelector=spec.absent=x\nlist $RESOURCE?labelSelector=app%20in%20(none)\ndelete $RESOURCE?fieldSelector=metadata.name=$NAME"},
	{"kind-dry-run", " !brief", "create $TARGET?dryRun=All $BODY\nget $TARGET\n~ create $TARGET $BODY\nmerge $TARGET?dryRun=All $CHANGE\ndelete $TARGET?dryRun=All\nrevision"},
	{"kind-strategic", " !brief", "~ create $TARGET $BODY\nstrategic $TARGET {metadata: {labels: {x: \"1\"}, annotations: {y: \"2\"}}}\n" +
		"strategic $TARGET {metadata: {labels: {z: \"9\", $patch: replace}}}\njson $TARGET [{op: test, path: /metadata/annotations/y, value: \"2\"}, {op: remove, path: /metadata/annotations}]\n" +
		"json $TARGET [{op: test, path: /metadata/name, value: other}]"},
}

// kindTables returns the probes that every kind has.
func kindTables() string {
	var b strings.Builder
	for _, k := range kinds {
		fields := strings.TrimSuffix(strings.TrimPrefix(k.body, "{"), "}")
		values := strings.NewReplacer("$TARGET", k.resource+"/"+k.name, "$RESOURCE", k.resource, "$NAME", k.name, "$BODY", k.body, "$FIELDS", fields, "$CHANGE", k.change)
		for _, p := range slices.Concat(perKind, morePerKind) {
			steps := p.steps
			if k.watched {
				steps, _, _ = strings.Cut(steps, "\n")
			}
			if strings.HasPrefix(steps, "~ ") && k.watched || strings.HasPrefix(steps, "watch ") && k.watched {
				continue
			}
			fmt.Fprintf(&b, "probe %s/%s%s%s\n%s\n", p.area, k.resource, p.options, anyRevision[k.resource], values.Replace(steps))
		}
	}
	return b.String()
}
