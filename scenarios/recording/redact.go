package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The replacements for the values of a Secret. Its keys are preserved.
const (
	redacted       = `"redacted"`
	redactedBase64 = `"cmVkYWN0ZWQ="`

	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

func isSecret(kind schema.GroupVersionKind) bool { return kind.Group == "" && kind.Kind == "Secret" }

// redactSecret replaces the values of a Secret's data and stringData, and the annotation in which kubectl apply keeps a copy
// of them. Everything else is preserved byte for byte. Field names are compared case-insensitively, as lenient readers do.
func redactSecret(raw []byte) ([]byte, error) {
	return editMembers(raw, func(key string, value []byte) ([]byte, error) {
		switch strings.ToLower(key) {
		case "data":
			return redactValues(value, redactedBase64)
		case "stringdata":
			return redactValues(value, redacted)
		case "metadata":
			return editMembers(value, redactAnnotations)
		}
		return value, nil
	})
}

func redactAnnotations(key string, value []byte) ([]byte, error) {
	if !strings.EqualFold(key, "annotations") {
		return value, nil
	}
	return editMembers(value, func(key string, value []byte) ([]byte, error) {
		if key == lastApplied {
			return []byte(redacted), nil
		}
		return value, nil
	})
}

// redactValues replaces the values of an object's members and drops anything that is not an object.
func redactValues(raw []byte, with string) ([]byte, error) {
	if string(raw) == "null" {
		return raw, nil
	}
	if len(raw) == 0 || raw[0] != '{' {
		return []byte("{}"), nil
	}
	return editMembers(raw, func(string, []byte) ([]byte, error) { return []byte(with), nil })
}

// setRevision replaces metadata.resourceVersion.
func setRevision(raw []byte, rv int64) ([]byte, error) {
	return editMembers(raw, func(key string, value []byte) ([]byte, error) {
		if key != "metadata" {
			return value, nil
		}
		return editMembers(value, func(key string, value []byte) ([]byte, error) {
			if key == "resourceVersion" {
				return fmt.Appendf(nil, `"%d"`, rv), nil
			}
			return value, nil
		})
	})
}

// editMembers replaces the value of each member of a compact JSON object, in order, with the result of edit; nil removes
// the member. Keys and unedited values are preserved byte for byte. Anything but an object is returned unchanged.
func editMembers(raw []byte, edit func(key string, value []byte) ([]byte, error)) ([]byte, error) {
	if len(raw) == 0 || raw[0] != '{' {
		return raw, nil
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	if _, err := in.Token(); err != nil {
		return nil, err
	}
	var out []byte
	copied, none := 0, true // none of the members so far was kept
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, fmt.Errorf("the key %v is not a string", key)
		}
		edited, err := edit(name, value)
		if err != nil {
			return nil, err
		}
		end := int(in.InputOffset())
		if edited != nil {
			member := raw[copied : end-len(value)]
			if none {
				member = bytes.TrimPrefix(member, []byte(","))
			}
			out = append(append(out, member...), edited...)
			none = false
		} else if copied == 0 {
			out = append(out, '{')
		}
		copied = end
	}
	return append(out, raw[copied:]...), nil
}
