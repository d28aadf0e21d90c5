package main

import (
	"fmt"
	"os"
	"slices"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"

	"github.com/informersim/informersim/cmd/internal/launcher"
	"github.com/informersim/informersim/cmd/internal/version"
)

func main() {
	if slices.Equal(os.Args[1:], []string{launcher.AskKubectl}) {
		fmt.Print(version.Own().As("informersim-kubectl"))
		return
	}
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
