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

// Frame is one event of a watch as it goes over the wire: JSON in a line, protobuf behind its length.
func (v *View) Frame(event watch.EventType, obj runtime.Object, now time.Time) ([]byte, error) {
	shown, err := v.Of(obj, now)
	if err != nil {
		// As a real server does: what cannot be shown as asked for is shown as it is.
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

// jsonHead and jsonTail are what a frame in JSON has before and after the object. Events are plain words.
func jsonHead(event watch.EventType) string { return `{"type":"` + string(event) + `","object":` }

const jsonTail = "}\n"

// WrapFrame makes a frame of an object that is encoded already.
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
