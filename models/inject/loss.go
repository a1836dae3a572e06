package inject

import (
	"errors"
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/msg"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// LossSpec configures a Loss.
type LossSpec struct {
	Share float64 `yaml:"share"` // fraction of each direction's frames that is lost
	Seed  uint64  `yaml:"seed"`
}

// Validate returns every error of the spec.
func (s LossSpec) Validate() error {
	if !(s.Share >= 0 && s.Share < 1) {
		return field.Errorf("share", "%v: want 0 or more, less than 1", s.Share)
	}
	return nil
}

// Loss is inserted into a cable and drops frames. Seed, direction and the frame's ordinal decide which.
type Loss struct {
	*inline
	spec   LossSpec
	frames *msg.Frames
	count  [2]LossCount // by direction
	failed error
}

// LossCount counts the frames of one direction, and their bytes.
type LossCount struct {
	In, Lost           uint64
	InBytes, LostBytes uint64
}

// NewLoss returns a Loss; dropped frames return to the pool frames. It panics if Akita does not accept the name.
func NewLoss(name string, s simcore.Scheduler, spec LossSpec, frames *msg.Frames) (*Loss, error) {
	if s == nil || frames == nil {
		return nil, fmt.Errorf("inject: %s: want a scheduler and a pool of frames", name)
	}
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l := &Loss{spec: spec, frames: frames}
	l.inline = newInline(name, s, l.relay)
	return l, nil
}

// Count returns the counters of a direction.
func (l *Loss) Count(d Direction) LossCount { return l.count[d] }

// Held returns the number of frames of a direction that have arrived and wait for room.
func (l *Loss) Held(d Direction) int { return l.ports[d].Len() + l.waiting[d].Len() }

// Idle reports whether no frame is held in either direction.
func (l *Loss) Idle() bool { return l.Held(FromDevice)+l.Held(ToDevice) == 0 }

// Err returns the error for the first message that was not a frame, or nil.
func (l *Loss) Err() error { return l.failed }

func (l *Loss) relay(d Direction, m sim.Msg) {
	f, ok := m.(*msg.Frame)
	if !ok {
		l.failed = errors.Join(l.failed, fmt.Errorf("inject: %s: a %T %v: want frames", l.Name(), m, d))
		return
	}
	c := &l.count[d]
	const stream = 0x6c6f7373 // makes losses independent of other random numbers with the same seed
	drawn := mix(mix(l.spec.Seed^stream^uint64(d)<<63) + c.In)
	c.In++
	c.InBytes += uint64(f.Bytes())
	if float64(drawn>>11)/(1<<53) < l.spec.Share {
		c.Lost++
		c.LostBytes += uint64(f.Bytes())
		l.frames.Put(f)
		return
	}
	l.send(d, m)
}
