package upstream

// Only client-go's tests import the packages below: importing them here keeps them in go.mod.
import (
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/go-cmp/cmp/cmpopts"
	_ "github.com/stretchr/testify/assert"
	_ "github.com/stretchr/testify/require"
	_ "go.uber.org/goleak"
	_ "k8s.io/apimachinery/pkg/util/wait"
	_ "k8s.io/client-go/features/testing"
	_ "k8s.io/client-go/tools/cache"
	_ "k8s.io/client-go/tools/cache/testing"
	_ "k8s.io/client-go/util/workqueue"
	_ "k8s.io/klog/v2/ktesting"
	_ "k8s.io/utils/clock/testing"
	_ "k8s.io/utils/ptr"
	_ "sigs.k8s.io/randfill"

	_ "github.com/informersim/informersim/informer/dropin/workqueue"
	_ "golang.org/x/tools/go/packages"
)
