package replay

import (
	"errors"
	"os"
	"time"

	"nictwin/golden"
	"nictwin/golden/trace"
	"nictwin/models/boundary"
	"nictwin/models/nicspec"
	"nictwin/scenarios/board"
	"nictwin/scenarios/files"
	"nictwin/scenarios/result"
)

// judge joins the referee to the run, and keeps its clock.
type judge struct {
	ref    *golden.Referee
	cycles int64 // until the last crossing
	clock  func() time.Duration
	timed  time.Duration // that judging took; some 50 ns of it a crossing are the clock's
	closer []func() error
	cuts   func() []Cut // of the artifacts; nil without
	frames *frameLog    // likewise

	origins map[*golden.Mismatch]*result.Frame // of mismatches about a frame, noted while it is known
}

// Cut is an artifact that has reached Options.ArtifactBytes.
type Cut struct {
	File string `json:"file"`
	trace.Cut
}

func cutFile(name string, c trace.Cut) []Cut {
	if c.LeftOut == 0 {
		return nil
	}
	return []Cut{{name, c}}
}

// Names of the artifacts in Options.Out.
const (
	EventsFile = "events.jsonl"
	PcapngFile = "frames.pcapng"
)

func newJudge(r *Run) (*judge, error) {
	sizes := nicspec.DefaultBuild()
	sizes.Ports, sizes.EthBits = r.opts.Ports, r.dev.EthBits()
	cfg := golden.DefaultConfig(sizes)
	cfg.EthHeldBack = board.HeldBack(r.opts.Stall)
	cfg.TLPStall = r.opts.Stall
	j := &judge{clock: stopwatch(), origins: map[*golden.Mismatch]*result.Frame{}}
	cfg.OnMismatch = func(m *golden.Mismatch) {
		if m.Frame != nil {
			j.origins[m] = r.origin(*m.Frame)
		}
	}
	if r.opts.Events && r.opts.Out != "" {
		if err := j.record(r, &cfg); err != nil {
			return nil, errors.Join(err, j.Close())
		}
	}
	var err error
	if j.ref, err = golden.New(cfg); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	r.dev.Observe(j.observe)
	r.dev.ObserveRest(j.ref.Rest)
	return j, nil
}

// record has every crossing and every compared frame written down.
func (j *judge) record(r *Run, cfg *golden.Config) error {
	dir, err := j.folder(&r.opts)
	if err != nil {
		return err
	}
	create := func(name string) (*os.File, error) {
		f, err := dir.Create(name)
		if err == nil {
			j.closer = append(j.closer, f.Close)
		}
		return f, err
	}
	ev, err := create(EventsFile)
	if err != nil {
		return err
	}
	png, err := create(PcapngFile)
	if err != nil {
		return err
	}
	events := trace.NewEvents(ev, r.opts.ArtifactBytes)
	j.frames = newFrameLog(png, dir, r.opts.ArtifactBytes, func(m *golden.Mismatch) string {
		f := r.finding(m)
		return f.Head()
	})
	j.cuts = func() []Cut {
		return append(cutFile(EventsFile, events.Cut()), cutFile(PcapngFile, j.frames.out.Cut())...)
	}
	j.closer = append([]func() error{events.Close, j.frames.Close}, j.closer...)
	r.dev.Observe(events.Observe)
	cfg.OnFrame = j.frames.compared
	return nil
}

// folder is where artifacts go.
func (j *judge) folder(o *Options) (*files.Folder, error) {
	if o.Files != nil {
		return o.Files, nil
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return nil, err
	}
	dir, err := files.OpenFolder(o.Out)
	if err == nil {
		j.closer = append(j.closer, dir.Close)
	}
	return dir, err
}

func (j *judge) observe(c boundary.Crossing) {
	j.cycles = max(j.cycles, c.Last+1)
	begin := j.clock()
	j.ref.Observe(c)
	j.timed += j.clock() - begin
}

// finish hears the referee. Of a run that was broken off only what was found
// on the way counts; one that is stuck has come to its end, which is the
// finding.
func (j *judge) finish(playErr error) *golden.Report {
	rep := j.verdict(playErr)
	if rep != nil && j.frames != nil {
		j.frames.found(rep.List)
	}
	return rep
}

func (j *judge) verdict(playErr error) *golden.Report {
	var stuck *StuckError
	switch {
	case playErr == nil:
		return j.ref.Finish()
	case errors.As(playErr, &stuck):
		return j.ref.FinishStopped()
	}
	return j.ref.BreakOff()
}

// Close ends the artifacts.
func (j *judge) Close() error {
	var errs []error
	for _, f := range j.closer {
		errs = append(errs, f())
	}
	j.closer = nil
	return errors.Join(errs...)
}
