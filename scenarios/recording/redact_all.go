package recording

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// neededByAll are the strings that RedactAll keeps in objects of every kind: what identifies an object, and what selects it. A
// path covers all below it.
var neededByAll = []string{
	"apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.generateName", "metadata.uid", "metadata.resourceVersion",
	"metadata.labels", "metadata.ownerReferences", "metadata.finalizers",
}

// neededBy are the fields that field selectors of built-in kinds may use, as fakeapiserver/types has them.
var neededBy = map[schema.GroupKind][]string{
	{Kind: "Pod"}: {
		"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase", "status.podIP", "status.podIPs",
		"status.nominatedNodeName",
	},
	{Kind: "Event"}:                         {"involvedObject", "reason", "reportingComponent", "reportingController", "source.component", "type"},
	{Group: "events.k8s.io", Kind: "Event"}: {"regarding", "reason", "reportingController", "deprecatedSource.component", "type"},
	{Kind: "Namespace"}:                     {"status.phase"},
	{Kind: "Secret"}:                        {"type", "data", "stringData"}, // whose values are gone already
	{Kind: "Service"}:                       {"spec.clusterIP", "spec.type"},
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: {"spec.signerName"},
}

// selectors are names of fields that hold labels or select by them, at any depth.
var selectors = map[string]bool{"labels": true, "matchLabels": true, "matchExpressions": true, "selector": true}

// allRedactor replaces the strings of an object.
type allRedactor struct{ keep []string }

// redactAll replaces every string value that no selector needs by a hash of it, so that equal values stay equal and different
// ones different. Keys, numbers, booleans and times stay. Values of Secrets must be redacted already: a hash of a short value
// can be guessed.
func redactAll(raw []byte, kind schema.GroupVersionKind, more []string) ([]byte, error) {
	r := allRedactor{keep: append(append(append([]string(nil), neededByAll...), neededBy[kind.GroupKind()]...), more...)}
	return r.value(raw, "")
}

func (r allRedactor) keeps(path string) bool {
	for _, k := range r.keep {
		if path == k || strings.HasPrefix(path, k+".") {
			return true
		}
	}
	return false
}

// value redacts a compact JSON value at a path, which leaves out indexes.
func (r allRedactor) value(raw []byte, path string) ([]byte, error) {
	if len(raw) == 0 || path != "" && r.keeps(path) {
		return raw, nil
	}
	switch raw[0] {
	case '{':
		return editMembers(raw, func(key string, value []byte) ([]byte, error) {
			at := key
			if path != "" {
				at = path + "." + key
			}
			if selectors[key] && path != "metadata.annotations" && value[0] != '"' {
				return value, nil
			}
			return r.value(value, at)
		})
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, err
		}
		out := []byte{'['}
		for i, item := range items {
			if i > 0 {
				out = append(out, ',')
			}
			redacted, err := r.value(item, path)
			if err != nil {
				return nil, err
			}
			out = append(out, redacted...)
		}
		return append(out, ']'), nil
	case '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, err
		}
		return []byte(quoteJSON(hashed(text))), nil
	}
	return raw, nil
}

var durationText = regexp.MustCompile(`^([0-9.]+(ns|us|µs|ms|s|m|h))+$`)

// hashed replaces a text by one that decodes into the same types: a time stays, a quantity becomes a number, a duration seconds,
// and all else 24 letters and digits, which are base64, too.
func hashed(text string) string {
	if text == "" {
		return ""
	}
	if _, err := time.Parse(time.RFC3339, text); err == nil {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	number := 1 + binary.BigEndian.Uint32(sum[:])%999_999
	if len(text) < 64 {
		if _, err := resource.ParseQuantity(text); err == nil {
			return fmt.Sprint(number)
		}
	}
	if durationText.MatchString(text) {
		return fmt.Sprintf("%ds", number)
	}
	return fmt.Sprintf("redacted%x", sum[:8])
}

// dropManagedFields removes metadata.managedFields.
func dropManagedFields(raw []byte) ([]byte, error) {
	return editMembers(raw, func(key string, value []byte) ([]byte, error) {
		if key != "metadata" {
			return value, nil
		}
		return editMembers(value, func(key string, value []byte) ([]byte, error) {
			if key == "managedFields" {
				return nil, nil
			}
			return value, nil
		})
	})
}
