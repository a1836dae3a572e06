package replay

// judge joins the referee to the run.
type judge struct{}

func newJudge(r *Run) (*judge, error) { return &judge{}, nil }

// Close ends the artifacts.
func (j *judge) Close() error { return nil }
