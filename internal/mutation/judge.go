package mutation

// judge has the invariants that a test states itself not judged in the runs of which the environment says so. What somebody's controller is
// found to do wrong is then found by what needs no knowledge of it. Nor do the tests start a controller anew or wake it before the end, as they do because of known bugs of the
// released ones: nobody would who knows of none, and what has been forgotten would be made good.
//
// It is no part of simtest: nobody can want his own invariants ignored, except to measure what is left. Nor does it end the body, which goes on
// after an Eventually that has waited in vain.
var judge = &Mutant{
	Name: "the judge of mutants of controllers",
	Edits: []Edit{
		{
			File: checksFile,
			Old: `	e.alive()
	e.w.checks.all = append(e.w.checks.all, &check{name: name, hold: hold})
`,
			New: "\te.alive()\n" + leave + `	e.w.checks.all = append(e.w.checks.all, &check{name: name, hold: hold})
`,
		},
		{
			File: checksFile,
			Old: `			e.w.tellWaiting()
			e.fail(name, fmt.Sprintf(`,
			New: leave + `			e.w.tellWaiting()
			e.fail(name, fmt.Sprintf(`,
		},
		{File: checksFile, Old: "\t\"fmt\"\n", New: "\t\"fmt\"\n\t\"os\"\n"},
		{
			File: fixturesFile,
			Old: `	for _, name := range names {
		env.Restart(name)
	}
`,
			New: leave + `	for _, name := range names {
		env.Restart(name)
	}
`,
		},
		{
			File: fixturesFile,
			Old: `	env.Advance(6 * time.Minute)
	env.Mutate(obj, func() {
`,
			New: leave + `	env.Advance(6 * time.Minute)
	env.Mutate(obj, func() {
`,
		},
		{File: fixturesFile, Old: "\t\"net/http\"\n", New: "\t\"net/http\"\n\t\"os\"\n"},
		{
			File: "wild/kubernetes/deployment_test.go",
			Old: `	var sets appsv1.ReplicaSetList
	if err := env.List(&sets, ""); err != nil {
		return
	}
`,
			New: `	var sets appsv1.ReplicaSetList
` + leave + `	if err := env.List(&sets, ""); err != nil {
		return
	}
`,
		},
		{File: "wild/kubernetes/deployment_test.go", Old: "\t\"fmt\"\n", New: "\t\"fmt\"\n\t\"os\"\n"},
	},
}

const (
	checksFile   = "simtest/checks.go"
	fixturesFile = "wild/kubernetes/fixtures_test.go"

	invariantsEnv     = "INFORMERSIM_INVARIANTS"
	invariantsIgnored = "ignored"

	// leave ends a function of which the environment says that it is not wanted.
	leave = `if os.Getenv("` + invariantsEnv + `") == "` + invariantsIgnored + `" {
	return
}
`
)
