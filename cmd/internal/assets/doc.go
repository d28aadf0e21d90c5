// Package assets writes the programs that envtest starts into a folder: kube-apiserver, etcd and kubectl. Each is informersim-apiserver
// under another name.
//
// They are hard links to it where the file system can, and copies elsewhere: nothing depends on the PATH, on a shell, or on the file
// that they were made from, which an upgrade replaces or removes. What is there already is left alone, and what changes is renamed
// into its place, so commands that run at the same time do not meet half of a file.
//
// It may not overwrite a program that is not ours.
package assets
