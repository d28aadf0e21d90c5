package launcher

import (
	"fmt"
	"os"

	"github.com/informersim/informersim/internal/newer"
)

// checkAge returns an error if the source that this program was built from has changed since the program at a path was built. Versions do not tell: those of a
// working copy are all the same.
func (f *finder) checkAge(path string) error {
	if f.source == "" {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if file := newer.Than(info.ModTime(), f.source, f.program); file != "" {
		return fmt.Errorf("%s is older than %s, so what is built from that is", path, file)
	}
	return nil
}
