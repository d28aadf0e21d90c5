package render

import (
	"bytes"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// Frame encodes one event of a watch for the wire: JSON in a line, protobuf behind its length.
func (v *View) Frame(event watch.EventType, obj runtime.Object, now time.Time) ([]byte, error) {
	shown, err := v.Of(obj, now)
	if err != nil {
		// Like a real server: an object that cannot be shown as requested is shown unchanged.
		shown = WithKind(obj, v.resource, v.subresource)
	}
	if v.format.As.Kind == "Table" && err == nil {
		v.table.NoHeaders = true
	}
	plain := v.format
	plain.Pretty = false
	data, err := plain.Encode(shown)
	if err != nil {
		return nil, err
	}
	return WrapFrame(plain, event, data)
}

// jsonHead and jsonTail enclose the object of a JSON frame. Event types need no escaping.
func jsonHead(event watch.EventType) string { return `{"type":"` + string(event) + `","object":` }

const jsonTail = "}\n"

// WrapFrame makes a frame around an encoded object.
func WrapFrame(f Format, event watch.EventType, object []byte) ([]byte, error) {
	switch f.MediaType {
	case types.JSON:
		object = bytes.TrimSuffix(object, []byte("\n"))
		head := jsonHead(event)
		frame := make([]byte, 0, len(head)+len(object)+len(jsonTail))
		return append(append(append(frame, head...), object...), jsonTail...), nil
	case types.Protobuf:
		var b bytes.Buffer
		out := protobuf.LengthDelimitedFramer.NewFrameWriter(&b)
		var raw bytes.Buffer
		if err := rawProto.Encode(&metav1.WatchEvent{Type: string(event), Object: runtime.RawExtension{Raw: object}}, &raw); err != nil {
			return nil, fmt.Errorf("render: watch event: %w", err)
		}
		if _, err := out.Write(raw.Bytes()); err != nil {
			return nil, fmt.Errorf("render: watch event: %w", err)
		}
		return b.Bytes(), nil
	}
	return nil, f.Streams()
}
