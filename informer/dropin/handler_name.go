package dropin

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// nameForHandler returns a handler's name for messages: where its functions are defined, or its type.
func nameForHandler(handler ResourceEventHandler) string {
	switch h := handler.(type) {
	case nil:
		return "<nil>"
	case ResourceEventHandlerFuncs:
		if name := nameForFuncs(h); name != "" {
			return name
		}
	case *ResourceEventHandlerFuncs:
		if h == nil {
			break
		}
		if name := nameForFuncs(*h); name != "" {
			return name
		}
	default:
		if name := nameForType(reflect.TypeOf(handler)); name != "" {
			return name
		}
	}
	return fmt.Sprintf("%T", handler)
}

func nameForType(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.PkgPath() == "" {
		return t.Name()
	}
	return t.PkgPath() + "." + t.Name()
}

// nameForFuncs returns the place where all functions are defined if it is the same, else all their names.
func nameForFuncs(h ResourceEventHandlerFuncs) string {
	var names, places []string
	for _, fn := range []any{h.AddFunc, h.UpdateFunc, h.DeleteFunc} {
		code := runtime.FuncForPC(reflect.ValueOf(fn).Pointer())
		if code == nil {
			continue
		}
		name := code.Name()
		names = append(names, name)
		if dot := strings.LastIndexByte(name, '.'); dot > 0 {
			name = name[:dot]
		}
		if len(places) == 0 || places[0] != name {
			places = append(places, name)
		}
	}
	if len(places) == 1 {
		return places[0]
	}
	return strings.Join(names, "+")
}
