//go:build !unix

package cli

// SurviveFileLimit does nothing on systems without such a limit.
func SurviveFileLimit() {}
