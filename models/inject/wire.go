package inject

import (
	"errors"
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	etherlink "nictwin/models/fabric/etherlink/core"
	"nictwin/models/format/msg"
	"nictwin/models/sim/simcore"
)

// Wire is inserted into a cable and loses, copies, delays, corrupts or marks frames, as its spec says.
type Wire struct {
	*inline

	// Seen, if set, is called for every frame that arrives, before it is lost, held back or changed as s says. It must
	// not keep or change its arguments.
	Seen func(d Direction, f *msg.Frame, s *Strike)

	spec   WireSpec
	rules  [2][]WireRule // rules for this cable, by direction
	drawn  bool          // some probability is greater than 0
	frames *msg.Frames
	flows  flows
	others [2]int // frames so far that were not RoCE, by direction
	count  [2]WireCount
	held   [2][]held
	alarm  simcore.Alarm
	strike Strike // what happens to the current frame
	pkt    packet
	failed error
}

// held is a frame held back to be overtaken by others (WireDisorder).
type held struct {
	frame *msg.Frame
	left  int // number of other frames that still have to pass the held frame
	until simcore.Ps
}

// WireCount counts what happened to the frames of one direction, and the bytes of frames received, lost and added.
type WireCount struct {
	In, Lost, Duplicated, Held, Corrupted, Marked uint64

	// frames to be marked whose transport is not ECN-capable, or that were marked before
	NotECT                        uint64
	InBytes, LostBytes, MoreBytes uint64
}

// Strike says what happens to one frame.
type Strike struct {
	RoCE    bool
	PSN     int64 // PSN, counted from the flow's first; ordinal of a frame that is not RoCE
	Attempt int

	Lost, Duplicated, Marked bool
	Hold                     HoldSpec // zero if the frame is not held back
	Corrupted                bool
	Part                     WirePart
	Bit                      int // number of the flipped bit in the frame
}

// NewWire returns the decorator for the cable with the given number in the network. Lost frames are put into
// the pool `frames`, and copies are taken from it. It panics if Akita does not accept the name.
func NewWire(name string, s simcore.Scheduler, spec WireSpec, cable int, frames *msg.Frames) (*Wire, error) {
	if s == nil || frames == nil {
		return nil, fmt.Errorf("inject: %s: want a scheduler and a pool of frames", name)
	}
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	w := &Wire{spec: spec, frames: frames}
	w.inline = newInline(name, s, w.relay)
	w.alarm = simcore.NewAlarm(s, w, false)
	w.spec.Hold = spec.Hold.or(DefaultHold)
	w.spec.Seed = mix(mix(spec.Seed) + uint64(cable))
	for _, c := range w.spec.Chances.each() {
		w.drawn = w.drawn || *c.share > 0
	}
	w.flows = flows{window: spec.Window, known: map[flowKey]*flow{}}
	if spec.Window == 0 {
		w.flows.window = DefaultWindow
	}
	for _, r := range spec.Rules {
		directions, _ := r.directions()
		r.PSNs, r.Attempts, r.Hold = max(r.PSNs, 1), max(r.Attempts, 1), r.Hold.or(w.spec.Hold)
		for d := range w.rules {
			if directions[d] && (r.Cable == nil || *r.Cable == cable) {
				w.rules[d] = append(w.rules[d], r)
			}
		}
	}
	return w, nil
}

// Count returns the counters of a direction.
func (w *Wire) Count(d Direction) WireCount { return w.count[d] }

// Held returns the number of frames of a direction that have arrived and not left.
func (w *Wire) Held(d Direction) int {
	return w.ports[d].Len() + w.waiting[d].Len() + len(w.held[d])
}

// Idle reports whether no frame is held in either direction.
func (w *Wire) Idle() bool { return w.Held(FromDevice)+w.Held(ToDevice) == 0 }

// Err returns the error for the first message that was not a frame, or nil.
func (w *Wire) Err() error { return w.failed }

func (w *Wire) relay(d Direction, m sim.Msg) {
	f, ok := m.(*msg.Frame)
	if !ok {
		w.failed = errors.Join(w.failed, fmt.Errorf("inject: %s: a %T %v: want frames", w.Name(), m, d))
		return
	}
	w.count[d].In++
	w.count[d].InBytes += uint64(f.Bytes())
	w.judge(d, f.Data)
	if w.Seen != nil {
		w.Seen(d, f, &w.strike)
	}
	w.act(d, f)
}

// act does to a frame what w.strike says: loses, marks, corrupts, copies or holds it back.
func (w *Wire) act(d Direction, f *msg.Frame) {
	c, s := &w.count[d], &w.strike
	if s.Lost {
		c.Lost++
		c.LostBytes += uint64(f.Bytes())
		w.frames.Put(f)
		return
	}
	if s.Marked {
		if etherlink.MarkCE(f.Data) == etherlink.Marked {
			c.Marked++
		} else {
			c.NotECT++
		}
	}
	if s.Corrupted {
		f.Data[s.Bit/8] ^= 1 << (s.Bit % 8)
		c.Corrupted++
	}
	var again *msg.Frame
	if s.Duplicated {
		again = w.frames.Copy(f.Data)
		again.Port, again.Queue, again.Trim, again.Seq = f.Port, f.Queue, f.Trim, f.Seq
		c.Duplicated++
		c.MoreBytes += uint64(f.Bytes())
	}
	if s.Hold == (HoldSpec{}) {
		w.pass(d, f)
	} else {
		c.Held++
		until := simcore.Now(w.sched) + s.Hold.Time
		w.held[d] = append(w.held[d], held{f, s.Hold.Frames, until})
		w.alarm.Set(until)
	}
	if again != nil {
		w.pass(d, again)
	}
}

// pass sends a frame, and then the held frames for which it was the last one to pass.
func (w *Wire) pass(d Direction, f *msg.Frame) {
	w.send(d, f)
	for i := range w.held[d] {
		w.held[d][i].left--
	}
	w.release(d, func(h *held) bool { return h.left <= 0 })
}

// release sends the held frames that are due, in order of arrival.
func (w *Wire) release(d Direction, due func(*held) bool) {
	kept := w.held[d][:0]
	for _, h := range w.held[d] {
		if due(&h) {
			w.send(d, h.frame)
		} else {
			kept = append(kept, h)
		}
	}
	w.held[d] = kept
}

// Handle implements sim.Handler: the holding time of some frames may have passed.
func (w *Wire) Handle(e sim.Event) error {
	if !w.alarm.Rang(e) {
		return fmt.Errorf("inject: %s: event of type %T: want its own", w.Name(), e)
	}
	now := simcore.Now(w.sched)
	for d := range w.held {
		w.release(Direction(d), func(h *held) bool { return h.until <= now })
		for _, h := range w.held[d] {
			w.alarm.Set(h.until)
		}
	}
	return nil
}

var _ sim.Handler = (*Wire)(nil)
