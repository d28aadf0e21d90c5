package bubble

import (
	"reflect"
	"testing"
)

// A manager that starts is told with the goroutines that have started it, as long as they are there. One that has started its own is not one that starts, nor is another bubble's.
func TestStartingManagers(t *testing.T) {
	const dump = `goroutine 7 [chan receive (durable), synctest bubble 3]:
example.com/mine.main()
	/src/mine/main.go:9 +0x1
created by github.com/informersim/informersim/simtest.(*world).startProcess in goroutine 2
	/src/simtest/world.go:272 +0x2

goroutine 8 [select (durable), synctest bubble 3]:
sigs.k8s.io/controller-runtime/pkg/manager.(*runnableGroup).Start.func1()
	/mod/sigs.k8s.io/controller-runtime@v0.25.2/pkg/manager/runnable_group.go:194 +0x3
created by example.com/mine.main in goroutine 7
	/src/mine/main.go:8 +0x4

goroutine 9 [chan receive (durable), synctest bubble 3]:
sigs.k8s.io/controller-runtime/pkg/manager.(*runnableGroup).reconcile(0x1)
	/mod/sigs.k8s.io/controller-runtime@v0.25.2/pkg/manager/runnable_group.go:236 +0x5
created by sigs.k8s.io/controller-runtime/pkg/manager.(*runnableGroup).Start.func1 in goroutine 8
	/mod/sigs.k8s.io/controller-runtime@v0.25.2/pkg/manager/runnable_group.go:189 +0x6

goroutine 10 [select (durable), synctest bubble 2]:
sigs.k8s.io/controller-runtime/pkg/manager.(*runnableGroup).Start.func1()
	/mod/sigs.k8s.io/controller-runtime@v0.25.2/pkg/manager/runnable_group.go:194 +0x3
created by example.com/mine.main in goroutine 7
	/src/mine/main.go:8 +0x4
`
	if got, want := startingManagers([]byte(dump), "synctest bubble 3"), [][]string{{"goroutine 8 ", "goroutine 7 "}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := startingManagers([]byte(dump), "synctest bubble 4"); len(got) > 0 {
		t.Errorf("in a bubble without a manager, got %q", got)
	}
}
