package version

import (
	"runtime/debug"
	"slices"
)

// Path is the import path of this module.
const Path = "github.com/informersim/informersim"

// Devel is the version of a program that was built from a working copy without a version.
const Devel = "devel"

// release is set by release builds with -ldflags "-X github.com/informersim/informersim/cmd/internal/version.release=v1.2.3".
var release string

// Module returns the version of this program's module: v1.2.3, a pseudo-version, or Devel.
func Module() string {
	if release != "" {
		return release
	}
	if m := module(); m != nil && m.Version != "" && m.Version != devel {
		return m.Version
	}
	return Devel
}

// Commit returns the commit that this program was built from, with "+dirty" after it if there were local changes; "" if the linker
// recorded none, as under go run and go test.
func Commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != Path { // the commit is that of the main module
		return ""
	}
	return commitOf(info.Settings)
}

func commitOf(settings []debug.BuildSetting) string {
	var commit, dirty string
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + dirty
}

// Released reports whether the go command can install this program's version: it has a version, and no local changes.
func Released() bool {
	if release != "" {
		return true
	}
	m := module()
	return m != nil && m.Replace == nil && m.Sum != ""
}

// Of returns the version of another module linked into this program, and what it is replaced by, "unknown" if it is not linked.
func Of(path string) string {
	m := linked(path)
	if m == nil {
		return "unknown"
	}
	return versionOf(m)
}

// Changed reports whether another module linked into this program is not a release as it was published, as far as the linker tells.
func Changed(path, release string) bool {
	m := linked(path)
	return m != nil && changed(m, release)
}

func changed(m *debug.Module, release string) bool {
	return m.Version != release || m.Replace != nil || !sealed(m)
}

// Sealed reports whether the versions of all modules linked into this program say what is in them. A folder says so of none: one that go.mod replaces a
// module by, one of a workspace, and that of vendored modules.
func Sealed() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && !slices.ContainsFunc(info.Deps, func(m *debug.Module) bool { return !sealed(m) })
}

// sealed reports whether the go command has compared a module with its checksum.
func sealed(m *debug.Module) bool {
	if m.Replace != nil {
		m = m.Replace
	}
	return m.Sum != ""
}

// devel is what the linker calls the version of a module in a folder.
const devel = "(devel)"

func versionOf(m *debug.Module) string {
	v, by := m.Version, m
	if m.Replace != nil {
		by = m.Replace
		v += " replaced by " + by.Path
		if by.Version == "" || by.Version == devel {
			return v
		}
		v += " " + by.Version
	}
	switch {
	case sealed(m):
		return v
	case by.Version == devel:
		return v + " in a go.work"
	}
	return v + " in a vendor folder"
}

func linked(path string) *debug.Module {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return m
			}
		}
	}
	return nil
}

// module returns this module as the linker recorded it: the main module, or a dependency of one that has this program as a tool.
func module() *debug.Module {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	if info.Main.Path == Path {
		return &info.Main
	}
	for _, m := range info.Deps {
		if m.Path == Path {
			return m
		}
	}
	return nil
}
