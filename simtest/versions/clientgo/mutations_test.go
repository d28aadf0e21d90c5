package clientgo

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// mutatesEnv is set in a process whose controller changes what is in its cache.
const mutatesEnv = "VERSIONS_MUTATES"

// Each release of client-go has its mutation detector where simtest turns it on, and says in the same words what it has found.
func TestMutatedCachesAreFound(t *testing.T) {
	if os.Getenv(mutatesEnv) != "" {
		simtest.Run(t, simtest.Options{Seeds: 3}, func(env *simtest.Env) {
			env.Go("careless", func(ctx context.Context) error {
				factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(env.RESTConfig("careless")), 0)
				_, err := factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
					AddFunc: func(obj any) { obj.(*corev1.ConfigMap).Data = nil },
				})
				if err != nil {
					return err
				}
				factory.Start(ctx.Done())
				defer factory.Shutdown()
				<-ctx.Done()
				return nil
			})
			env.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m"}, Data: map[string]string{"v": "1"}})
			env.StopFaults()
			env.Advance(time.Minute)
			env.Settle()
			env.Advance(time.Minute)
		})
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run", "^"+t.Name()+"$")
	cmd.Env, cmd.Dir = append(os.Environ(), mutatesEnv+"=1"), t.TempDir()
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"panic: cache *v1.ConfigMap modified", "the process died during a run: TestMutatedCachesAreFound, seed 3", "change a copy (DeepCopy)"} {
		if err == nil || !strings.Contains(string(out), want) {
			t.Fatalf("no %q: %v\n%s", want, err, out)
		}
	}
}
