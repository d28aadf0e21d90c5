//go:build !unix

package outfile

import (
	"io/fs"
	"os"
)

func keepOwner(*os.File, fs.FileInfo) {}
