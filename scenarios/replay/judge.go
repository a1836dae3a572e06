package replay

import (
	"errors"
	"os"

	"nictwin/golden"
	"nictwin/golden/verdict"
	"nictwin/models/nic/nicspec"
	judging "nictwin/scenarios/bed/judge"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/files"
)

// judge connects the referee and the artifacts to the run.
type judge struct {
	*judging.Judge
	log    *judging.Log // nil: the run writes no artifacts
	dir    *files.Folder
	closes bool // dir was opened by openLog and must be closed

	origins map[*verdict.Mismatch]*result.Frame // origin of mismatching frames, recorded while the run knows it
	offered Offered                             // frames offered up to the first mismatch; zero without a mismatch
}

func newJudge(r *Run) (_ *judge, err error) {
	sizes := nicspec.DefaultBuild()
	sizes.Ports, sizes.EthBits = r.opts.Ports, r.dev.EthBits()
	j := &judge{origins: map[*verdict.Mismatch]*result.Frame{}}
	if r.opts.Events && r.opts.Out != "" {
		if err := j.openLog(&r.opts); err != nil {
			return nil, errors.Join(err, j.Close())
		}
	}
	j.Judge, err = judging.Attach(r.dev, judging.Options{
		Build: sizes, Log: j.log, Period: r.dev.Period(),
		OnMismatch: func(m *verdict.Mismatch) {
			if j.offered.Sent == nil {
				j.offered = r.soFar()
			}
			if m.Frame != nil {
				j.origins[m] = r.origin(*m.Frame)
			}
		},
		Comment: func(m *verdict.Mismatch) string {
			f := r.finding(m)
			return f.Head()
		},
	})
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// openLog opens the artifacts, which record every crossing and every compared frame.
func (j *judge) openLog(o *Options) (err error) {
	if j.dir = o.Files; j.dir == nil {
		if err := os.MkdirAll(o.Out, 0o755); err != nil {
			return err
		}
		if j.dir, err = files.OpenFolder(o.Out); err != nil {
			return err
		}
		j.closes = true
	}
	j.log, err = judging.NewLog(j.dir, o.ArtifactBytes)
	return err
}

// finish ends the referee and returns its report. The report of an aborted run has only the mismatches found before the
// abort. A run that got stuck counts as finished: that is a finding of its own.
func (j *judge) finish(playErr error) *golden.Report {
	var stuck *StuckError
	switch {
	case playErr == nil:
		return j.Finish(judging.Whole)
	case errors.As(playErr, &stuck):
		return j.Finish(judging.Stopped)
	}
	return j.Finish(judging.Broken)
}

// Close closes the artifacts.
func (j *judge) Close() error {
	var errs []error
	if j.log != nil {
		errs = append(errs, j.log.Close())
	}
	if j.closes {
		j.closes = false
		errs = append(errs, j.dir.Close())
	}
	return errors.Join(errs...)
}
