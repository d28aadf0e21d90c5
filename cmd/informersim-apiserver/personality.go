package main

import (
	"embed"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/informersim/informersim/cmd/internal/launcher"
)

// `informersim assets` writes this program three times, under the names of the programs that envtest starts. It then is what it is
// called: kube-apiserver, etcd or kubectl.

// personality returns the command of a program's name, nil for our own name.
func personality(program string) *cobra.Command {
	switch strings.TrimSuffix(filepath.Base(program), ".exe") {
	case kubeAPIServerName:
		return newKubeAPIServerCommand()
	case etcdName:
		return newEtcdCommand()
	case "kubectl":
		return newKubectlCommand()
	}
	return nil
}

// newKubectlCommand returns a command that becomes kubectl, which is a program of its own: only who uses it waits for it to be built.
func newKubectlCommand() *cobra.Command {
	return &cobra.Command{
		Use: "kubectl", Short: "Kubernetes' own kubectl, which the first start builds", DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			return launcher.RunKubectl(c.Context(), args, c.ErrOrStderr())
		},
	}
}

//go:embed flags/*.txt
var flagTables embed.FS

// ignored adds the flags that a real program has and ours has no use for: NAME bool or NAME value per line.
func ignored(flags *pflag.FlagSet, program string) {
	table, err := flagTables.ReadFile("flags/" + program + ".txt")
	if err != nil {
		panic(err) // it is embedded
	}
	for line := range strings.Lines(string(table)) {
		name, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
		if flags.Lookup(name) != nil {
			continue
		}
		flag := flags.VarPF(anything(kind), name, "", "accepted, and ignored")
		if kind == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
}

// anything is the value of a flag that is ignored: "bool" or "value".
type anything string

func (anything) Set(string) error { return nil }
func (anything) String() string   { return "" }

// Type implements pflag.Value.
func (a anything) Type() string {
	if a == "bool" {
		return ""
	}
	return "string"
}

// help prints a usage text in which every flag has a line of its own that begins with its name: envtest looks for flags there.
func help(c *cobra.Command) error {
	_, err := io.WriteString(c.OutOrStdout(), c.Long+"\n\nUsage:\n  "+c.UseLine()+"\n\nFlags:\n\n"+c.Flags().FlagUsages())
	return err
}
