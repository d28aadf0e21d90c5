package fault

import (
	"bytes"
	"errors"
	"io"

	goyaml "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"
)

// readDocument reads the one document of YAML or JSON. It refuses unknown and repeated fields, and a second document, which would
// otherwise be ignored.
func readDocument(data []byte, into any) error {
	if err := yaml.UnmarshalStrict(data, into); err != nil {
		return err
	}
	d := goyaml.NewDecoder(bytes.NewReader(data))
	for n := 1; ; n++ {
		var content any
		err := d.Decode(&content)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case n > 1 && (err != nil || content != nil): // an empty one, as after the last ---, says nothing
			return errors.New("something follows the first document: write one document")
		}
	}
}
