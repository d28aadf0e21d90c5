package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/recording"
	"github.com/informersim/informersim/scenarios/script"
)

func newImportCommand() *cobra.Command {
	var from, out, redact string
	var force bool
	var o recording.Options
	c := &cobra.Command{
		Use:   "import FILE --from watch-events|list|audit [-o X.sim]",
		Short: "Turn a recording of a real cluster into a scenario",
		Long: `import reads the output of kubectl and writes a scenario with the same history: the same objects, in the same order, at the
same resourceVersions.

  watch-events   kubectl get RESOURCE -A -o json --watch --output-watch-events
  list           kubectl get RESOURCE -A -o json
  audit          the apiserver's audit log (--audit-log-path), lines of JSON; --resource chooses from it. What it does not say, because the
                 policy's level is below RequestResponse for instance, is said with file and line, and left out

The data and stringData of Secrets are redacted, and so is kubectl's last-applied-configuration of them. Other values that could
be secret are kept, with a warning for each: annotations of Secrets made by other tools, env values, arguments and ConfigMaps
that look like credentials. --redact all replaces every string value that no selector needs by a hash of it; names, namespaces,
labels, uids, resourceVersions, owners, finalizers, times, keys of maps, numbers, and the fields that field selectors of built-in
kinds can use stay. Equal values have equal hashes, so short ones can be guessed. --redact none redacts nothing.

metadata.managedFields is left out unless --keep-managed-fields is given.`,
		Example: `  kubectl get pods -A -o json --watch --output-watch-events > pods.jsonl
  informersim import pods.jsonl --from watch-events -o pods.sim
  informersim import pods.jsonl --from watch-events --redact all -o pods.sim
  informersim run pods.sim --seed 1..200 --fault-mix default`,
		Args: cli.Usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			format, err := recording.ParseFormat(from)
			if err != nil {
				return fmt.Errorf("--from: %w", err)
			}
			o.Format = format
			if err := cli.NotEmpty(c, "output"); err != nil {
				return err
			}
			switch redact {
			case "secrets":
			case "all":
				o.RedactAll = true
			case "none":
				o.KeepSecrets = true
			default:
				return fmt.Errorf("--redact %q: write none, secrets or all", redact)
			}
			if o.RedactAll && o.KeepSecrets {
				return errors.New("--redact all and --keep-secrets exclude each other: leave out one of them")
			}
			if len(o.KeepFields) > 0 && !o.RedactAll {
				return errors.New("--keep-field is for --redact all")
			}
			if len(o.Resources) > 0 && format != recording.Audit {
				return errors.New("--resource is for --from audit: kubectl get has chosen")
			}
			return importFile(c, args[0], scenarioTarget("-o", out, force, args...), o)
		},
	}
	c.Flags().StringVar(&from, "from", "", "the `format` of FILE: watch-events, list or audit (required)")
	c.Flags().StringSliceVar(&o.Resources, "resource", nil, "of an audit log, take this `resource` only, as pods or deployments.apps")
	c.Flags().StringVarP(&out, "output", "o", "", "the scenario `file` to write (default standard output)")
	c.Flags().BoolVar(&o.KeepSecrets, "keep-secrets", false, "keep the data of Secrets, like --redact none")
	c.Flags().StringVar(&redact, "redact", "secrets", "whose values are replaced: `none`, secrets or all")
	c.Flags().StringSliceVar(&o.KeepFields, "keep-field", nil, "a `path` like spec.color whose strings --redact all keeps, for field selectors of a custom resource")
	c.Flags().BoolVar(&o.KeepManagedFields, "keep-managed-fields", false, "keep metadata.managedFields")
	c.Flags().BoolVar(&o.WatchOnly, "watch-only", false, "the recording was made with --watch-only: it has no initial list")
	c.Flags().StringToStringVar(&o.Plurals, "plural", nil, "the resource name of a kind with an irregular plural, as Kind.group=`plural`")
	c.Flags().BoolVar(&force, "force", false, forceHelp)
	_ = c.MarkFlagRequired("from") // fails only for an undefined flag
	return c
}

func importFile(c *cobra.Command, path string, to outfile.Target, o recording.Options) error {
	printed := to.Path == "" || to.Path == "-"
	if !printed {
		if err := to.Check(); err != nil {
			return err
		}
	}
	res, err := cli.Await(c.Context(), func() (*recording.Result, error) { return recording.ImportFile(path, o) })
	if err != nil {
		return err
	}
	if err := makeScenario(res); err != nil {
		return fmt.Errorf("%s cannot be turned into a scenario: %w", path, err)
	}
	for _, w := range res.Warnings {
		fmt.Fprintf(c.ErrOrStderr(), "warning: %s\n", w)
	}
	text := script.Print(res.File)
	if printed {
		_, err := c.OutOrStdout().Write(text)
		return err
	}
	if err := to.Write(c.Context(), text); err != nil {
		return err
	}
	kinds := make([]string, len(res.Kinds))
	for i, k := range res.Kinds {
		kinds[i] = k.Resource
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s: %d documents of %s: %d created, %d updated, %d deleted", filepath.Base(path), res.Documents,
		strings.Join(kinds, ", "), res.Creates, res.Updates, res.Deletes)
	if res.Bookmarks > 0 {
		fmt.Fprintf(c.ErrOrStderr(), ", %d bookmarks", res.Bookmarks)
	}
	switch {
	case o.RedactAll:
		fmt.Fprintf(c.ErrOrStderr(), "; %d versions of objects redacted", res.Redacted)
	case res.Redacted > 0:
		fmt.Fprintf(c.ErrOrStderr(), "; %d versions of Secrets redacted", res.Redacted)
	}
	fmt.Fprintf(c.ErrOrStderr(), "; wrote %s\n", to.Path)
	return nil
}

// makeScenario checks that an import is a scenario. A cluster of another version may have fields that the types here lack: its
// resources are then declared to have any.
func makeScenario(res *recording.Result) error {
	_, first := scenarios.FromScript(res.File)
	if first == nil {
		return nil
	}
	for _, c := range res.File.Commands() {
		if c.Name == "resource" {
			c.Args = append(c.Args, script.Arg{Key: "fields", Value: "any"})
		}
	}
	file, err := script.Parse(res.File.Name, script.Print(res.File))
	if err != nil {
		return err
	}
	if _, err := scenarios.FromScript(file); err != nil {
		return first
	}
	res.File = file
	why := first
	if placed := (*script.Error)(nil); errors.As(first, &placed) {
		why = errors.New(placed.Msg)
	}
	res.Warnings = append(res.Warnings, fmt.Sprintf("Objects have fields that are not known here, and are dropped (%v): the resources are declared with fields=any.", why))
	return nil
}
