package blackbox

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// progress says how far a run got.
func progress(complete []byte, pending string) string {
	last := lastStep(string(complete))
	s := fmt.Sprintf("  it had taken %s (%v of virtual time)\n", steps(last.Step), time.Duration(last.At))
	if pending != "" {
		s += fmt.Sprintf("  step %d had begun: %s\n", last.Step+1, pending)
	}
	return s
}

// lastStep returns the last step of complete lines, whose time is when it began.
func lastStep(text string) (last entry) {
	for end := len(text); end > 0; {
		begin := strings.LastIndexByte(text[:end-1], '\n') + 1
		if strings.HasPrefix(text[begin:end], `{"s":`) && json.Unmarshal([]byte(text[begin:end]), &last) == nil {
			return last
		}
		end = begin
	}
	return last
}

func steps(n uint64) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}
