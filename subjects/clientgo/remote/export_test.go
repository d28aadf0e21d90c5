package remote

// Kill kills the process of the run that is being made.
func (g *Guest) Kill() error { return g.p.cmd.Process.Kill() }
