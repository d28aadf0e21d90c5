package workqueue

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if a queue leaked a goroutine.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
