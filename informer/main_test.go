package informer

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if anything left a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
