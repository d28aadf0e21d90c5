package workqueue

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if a queue left a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
