package cli

import (
	"fmt"
	"regexp"
	"strings"
)

// Plain makes an error's text fit for a user: what package json says of Go's types becomes what is wrong in the file, and no
// line is longer than a screen.
func Plain(text string) string {
	return clipped(withoutGoTypes(unknownField.ReplaceAllString(text, "unknown field ")))
}

// unknownField is how package json, and the copies of it, begin the message about a field that is not there.
var unknownField = regexp.MustCompile(`(?:error unmarshaling JSON: )?(?:while decoding JSON: )?json: unknown field `)

// wrongType is how package json, and the copies of it that the API's and YAML's packages have, begin the message about a value of the
// wrong type. What follows is a Go type.
var wrongType = regexp.MustCompile(`(?:error unmarshaling JSON: )?(?:while decoding JSON: )?json: cannot unmarshal (\w+)( [-+.\w]+)? into Go (?:struct field ([^ ]+)|value) of type `)

func withoutGoTypes(text string) string {
	for {
		at := wrongType.FindStringSubmatchIndex(text)
		if at == nil {
			return text
		}
		part := func(i int) string {
			if at[2*i] < 0 {
				return ""
			}
			return text[at[2*i]:at[2*i+1]]
		}
		goType, rest := cutType(text[at[1]:])
		field := "it"
		if _, path, nested := strings.Cut(part(3), "."); nested { // what comes first is the name of a Go type
			field = path
		}
		text = fmt.Sprintf("%s%s is %s%s, and should be %s%s", text[:at[0]], field, jsonKind(part(1)), part(2), jsonKind(goType), rest)
	}
}

// cutType splits text after the Go type at its start. A type may be a struct with all its fields.
func cutType(text string) (goType, rest string) {
	depth := 0
	for i, r := range text {
		switch {
		case r == '{':
			depth++
		case r == '}':
			depth--
		case depth == 0 && (r == ';' || r == ':' || r == ',' || r == '\n' || r == ')'):
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// jsonKind names the JSON value that a Go type is read from. Package json's own names of values are among them.
func jsonKind(goType string) string {
	goType = strings.TrimLeft(goType, "*")
	switch {
	case goType == "[]uint8":
		return "a base64 string"
	case strings.HasPrefix(goType, "[") || goType == "array":
		return "a list"
	case strings.HasPrefix(goType, "int") || strings.HasPrefix(goType, "uint"):
		return "a whole number"
	case strings.HasPrefix(goType, "float") || goType == "number" || goType == "json.Number":
		return "a number"
	case goType == "bool":
		return "true or false"
	case goType == "string":
		return "a string"
	}
	return "an object"
}

// longestLine bounds the lines of an error, in bytes: a mistake in a payload of megabytes should not fill the screen.
const longestLine = 1000

func clipped(text string) string {
	if len(text) <= longestLine {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if len(l) > longestLine {
			lines[i] = fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(l[:longestLine], ""), len(l))
		}
	}
	return strings.Join(lines, "\n")
}
