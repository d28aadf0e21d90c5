package simtest

import (
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"

	"k8s.io/client-go/rest"
)

// clientVersion is that of the test's client-go, "" if its name does not tell: it is that of a folder. The go command records no modules in a test, but the
// name of a source file has the version, also with -trimpath.
func clientVersion() string {
	code := runtime.FuncForPC(reflect.ValueOf(rest.HTTPClientFor).Pointer())
	file, _ := code.FileLine(code.Entry())
	return versionIn(file)
}

// versionIn returns the version in the name of a file of a module's package "rest".
func versionIn(file string) string {
	module := path.Dir(path.Dir(filepath.ToSlash(file)))
	name, version, _ := strings.Cut(path.Base(module), "@")
	if version != "" && (name != "client-go" || path.Base(path.Dir(module)) != "k8s.io") {
		version += " of " + name // what go.mod replaces it by
	}
	return version
}
