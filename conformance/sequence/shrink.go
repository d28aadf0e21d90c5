package sequence

import "github.com/informersim/informersim/conformance/probe"

// Shrink removes steps from a probe as long as differs still holds, at most tries times: halves first, then ever smaller
// runs, then single steps.
func Shrink(p probe.Probe, tries int, differs func(probe.Probe) bool) probe.Probe {
	for size := max(len(p.Steps)/2, 1); size >= 1; {
		removed := false
		for at := 0; at < len(p.Steps) && tries > 0; {
			shorter := without(p, at, size)
			tries--
			if len(shorter.Steps) > 0 && differs(shorter) {
				p, removed = shorter, true
				continue
			}
			at += size
		}
		if tries <= 0 || size == 1 && !removed {
			return p
		}
		if !removed {
			size /= 2
		}
		size = min(size, max(len(p.Steps)/2, 1))
	}
	return p
}

// without is p with n steps left out from the given one on.
func without(p probe.Probe, at, n int) probe.Probe {
	steps := make([]probe.Step, 0, len(p.Steps))
	steps = append(steps, p.Steps[:at]...)
	steps = append(steps, p.Steps[min(at+n, len(p.Steps)):]...)
	p.Steps = steps
	return p
}
