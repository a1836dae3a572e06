package traffic

import (
	"errors"

	"nictwin/models/board"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/traffic/capture"
)

// Frame is one frame to be played.
type Frame struct {
	Data     []byte
	Interval simcore.Ps     // time since the previous frame, as captured
	Origin   capture.Origin // zero for frames that were not captured
}

// Source provides a player's frames on demand.
type Source interface {
	// Next returns the next frame, whose bytes stay unchanged, and io.EOF after the last one.
	Next() (Frame, error)
	// Total returns the number of all frames.
	Total() int
}

// Track describes what a player plays: a source and its pace.
type Track struct {
	Source Source // source of the frames; nil: the frames that Play adds
	Pace   Pace
	Stall  int        // percentage of cycles in which nothing is sent
	MaxGap simcore.Ps // with pace `capture`: gaps that are longer are shortened to this
}

// Validate returns all errors of the track, each a field.Error.
func (t *Track) Validate() error {
	var errs []error
	if t.Pace.beat == 0 {
		errs = append(errs, field.Errorf("pace", ": none: want one that ParsePace has read"))
	}
	if t.Stall < 0 || t.Stall > board.MaxStall {
		errs = append(errs, field.Errorf("stall", "%d: want 0 to %d percent", t.Stall, board.MaxStall))
	}
	if t.Pace.capture && t.MaxGap <= 0 {
		errs = append(errs, field.Errorf("max_gap", "%v: want more than 0", t.MaxGap))
	}
	return errors.Join(errs...)
}
