package inject

import (
	"errors"
	"fmt"
	"io"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/msg"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Feed supplies the frames that an Insert adds.
type Feed interface {
	// Next returns the next frame and the time at which it is due, which never decreases, or io.EOF after the last one.
	// The frame stays unchanged.
	Next() (frame []byte, due simcore.Ps, err error)
}

// InsertSpec configures an Insert.
type InsertSpec struct {
	To Direction // direction in which the added frames go
	// rate and overhead of the cable, which live and added frames share from here on; with the zero rate, only the link
	// behind the Insert paces them
	Rate     simcore.Rate
	Overhead int
}

// Insert is inserted into a cable and adds frames to those of one direction. It sends all of them in the order of their
// times, no faster than the cable carries them: a frame that arrives while another one leaves waits for its end. When
// the cable cannot carry all, added frames and the others take turns.
type Insert struct {
	*inline

	Seen func(f *msg.Frame) // called for every frame that is added, when it leaves; nil: nobody wants to know

	spec   InsertSpec
	frames *msg.Frames
	feed   Feed // nil: none, or ended
	next   []byte
	due    simcore.Ps
	line   fifo.Queue[leaving] // frames that are being sent, or wait for the cable
	busy   simcore.Ps          // time from which the cable is free
	added  bool                // the latest frame in line was an added one
	alarm  simcore.Alarm
	count  InsertCount
	failed error
}

// leaving is a frame with the time of its end on the cable.
type leaving struct {
	frame *msg.Frame
	at    simcore.Ps
	added bool
}

// InsertCount counts the frames that were added and have left, and their bytes.
type InsertCount struct{ Frames, Bytes uint64 }

// maxLine bounds the frames that wait for the cable; further ones wait where they come from.
const maxLine = 32

// NewInsert returns an Insert; added frames come from the pool frames. It panics if Akita does not accept the name.
func NewInsert(name string, s simcore.Scheduler, spec InsertSpec, frames *msg.Frames) (*Insert, error) {
	if s == nil || frames == nil {
		return nil, fmt.Errorf("inject: %s: want a scheduler and a pool of frames", name)
	}
	x := &Insert{spec: spec, frames: frames}
	x.inline = newInline(name, s, x.relay)
	x.flowed = func(d Direction) {
		if d == spec.To {
			x.advance()
		}
	}
	x.alarm = simcore.NewAlarm(s, x, false)
	return x, nil
}

// Start makes the Insert add the frames of a feed from now on.
func (x *Insert) Start(f Feed) {
	x.feed = f
	x.fetch()
}

// Stop makes the Insert add no more frames. Those that wait for the cable still leave.
func (x *Insert) Stop() { x.feed = nil }

// Count returns the counters.
func (x *Insert) Count() InsertCount { return x.count }

// Err returns the error of the feed, or that for the first message that was no frame; nil: none.
func (x *Insert) Err() error { return x.failed }

// Idle reports whether no frame waits in either direction.
func (x *Insert) Idle() bool {
	for d := range x.ports {
		if x.ports[d].Len()+x.waiting[d].Len() > 0 {
			return false
		}
	}
	return x.line.Len() == 0
}

// fetch takes the next frame of the feed.
func (x *Insert) fetch() {
	var err error
	if x.next, x.due, err = x.feed.Next(); err != nil {
		if !errors.Is(err, io.EOF) {
			x.failed = errors.Join(x.failed, fmt.Errorf("inject: %s: %w", x.Name(), err))
		}
		x.feed = nil
		return
	}
	x.alarm.SetTimer(max(x.due, simcore.Now(x.sched)))
}

// time returns the time that a frame takes on the cable.
func (x *Insert) time(f *msg.Frame) simcore.Ps {
	if x.spec.Rate == (simcore.Rate{}) {
		return 0
	}
	n := int64(len(f.Data) + x.spec.Overhead)
	return simcore.Ps(n * int64(x.spec.Rate.Ps) / x.spec.Rate.Bytes) // rounded down, so that live frames are not late
}

func (x *Insert) relay(d Direction, m sim.Msg) {
	f, ok := m.(*msg.Frame)
	if !ok {
		x.failed = errors.Join(x.failed, fmt.Errorf("inject: %s: a %T %v: want frames", x.Name(), m, d))
		return
	}
	if d != x.spec.To {
		x.send(d, m)
		return
	}
	x.accept(f, simcore.Now(x.sched)-x.time(f), false) // the previous link has counted the frame's time
	x.advance()
}

// accept queues a frame, whose first bit is there at the time `first`, for the cable.
func (x *Insert) accept(f *msg.Frame, first simcore.Ps, added bool) {
	x.busy = max(x.busy, first) + x.time(f)
	x.added = added
	x.line.Push(leaving{f, x.busy, added})
}

// advance passes on the frames in `line` that have passed completely by now, and accepts the next frame of the feed if
// it is due.
func (x *Insert) advance() {
	now, to := simcore.Now(x.sched), x.spec.To
	for x.line.Len() > 0 && x.line.Front().at <= now {
		l := x.line.Pop()
		if l.added {
			x.count.Frames++
			x.count.Bytes += uint64(len(l.frame.Data))
			if x.Seen != nil {
				x.Seen(l.frame)
			}
		}
		x.send(to, l.frame)
	}
	if x.mayAdd(now) {
		x.accept(x.frames.Copy(x.next), now, true)
		x.fetch()
	}
	x.shut[to] = x.line.Len() >= maxLine
	if x.line.Len() > 0 {
		x.alarm.Set(max(x.line.Front().at, now+1))
	}
	if x.feed != nil && x.due > now {
		x.alarm.SetTimer(x.due)
	}
}

// mayAdd reports whether a frame of the feed is due and may be added now: if others wait, it is after one of them.
func (x *Insert) mayAdd(now simcore.Ps) bool {
	others := x.ports[x.spec.To].Len() > 0
	return x.feed != nil && x.due <= now && x.line.Len() < maxLine && x.waiting[x.spec.To].Len() == 0 &&
		!(x.added && others)
}

// Handle implements sim.Handler: a frame has ended, or the next one of the feed is due.
func (x *Insert) Handle(e sim.Event) error {
	if !x.alarm.Rang(e) {
		return fmt.Errorf("inject: %s: event of type %T: want its own", x.Name(), e)
	}
	x.advance()
	x.flow(x.spec.To)
	return nil // Err has an error of the feed
}

var _ sim.Handler = (*Insert)(nil)
