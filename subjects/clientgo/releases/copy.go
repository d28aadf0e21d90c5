package releases

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
)

// signs are texts that came to client-go's files with its minor releases, the newest first. A release without one can be told from the one before it by
// nothing that a guest depends on. An empty text stands for the file.
var signs = []struct {
	minor      int
	file, text string
}{
	{37, "tools/cache/controller.go", "TypedResourceEventHandler"},
	{36, "features/known_features.go", "AtomicFIFO"},
	{35, "tools/cache/thread_safe_store.go", "ThreadSafeStoreTransaction"},
	{34, "tools/cache/controller.go", "case <-ctx.Done():"},
	{33, "tools/cache/the_real_fifo.go", ""},
	{32, "rest/request.go", "IsHTTP2ConnectionLost"},
	{31, "util/workqueue/queue.go", "TypedInterface"},
	{30, "features/features.go", ""},
	{28, "tools/cache/object-names.go", ""},
	{27, "tools/cache/shared_informer.go", "isInInitialList"},
	{OldestCopy, "tools/cache/shared_informer.go", "RemoveEventHandler("},
}

// OldestCopy is the oldest minor release of which a working copy is recognized.
const OldestCopy = 26

// Copy returns the release of a working copy of client-go, a folder with its files. There is no version to go by, neither in a clone of Kubernetes nor in one of
// client-go, so it is the newest minor release of which it has what a guest depends on. Its Version is the folder.
func Copy(folder string, files fs.FS) (Release, error) {
	for _, s := range signs {
		data, err := fs.ReadFile(files, s.file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return Release{}, err
		case bytes.Contains(data, []byte(s.text)):
			return Release{Version: folder, Minor: s.minor, Folder: folder}, nil
		}
	}
	return Release{}, fmt.Errorf("client-go in %s has less than v0.%d has: no guest can be built with a working copy that old", folder, OldestCopy)
}
