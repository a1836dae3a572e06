package replay

import (
	"fmt"

	"nictwin/golden/verdict"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/traffic"
)

// origin returns a received frame by port and ordinal, with the file and packet from which it was captured if the run
// still knows them; see [Run.lookUp].
func (r *receive) origin(port, ordinal int) *result.Frame {
	f := &result.Frame{Dir: "rx", Port: port, Number: ordinal}
	f.From(r.inFlight[port].origin(ordinal), 1+ordinal/max(1, r.pass[port]))
	return f
}

// origin describes the frame with an ordinal among all posted ones: its port, and the file and packet from which it was
// captured if the run still knows them.
func (t *transmit) origin(ordinal int) *result.Frame {
	f := &result.Frame{Dir: "tx", Number: ordinal}
	q := t.queues[ordinal%len(t.queues)]
	for i := range q.expect {
		if e := &q.expect[i]; e.ordinal == ordinal {
			f.Port = e.port
			f.From(e.origin, 1+ordinal/t.pass)
		}
	}
	return f
}

// lookUp reads the captures again to find where the frames in findings were captured: the run remembers that only for
// recent frames.
func (r *Run) lookUp(list []result.Finding) error {
	for i := range list {
		x := list[i].Frame
		if x == nil || x.Capture != "" || len(r.opts.Captures) == 0 {
			continue
		}
		s := r.supply.Playlists()
		next, pass := func() (traffic.PortFrame, error) {
			f, err := s[x.Port].Next()
			return traffic.PortFrame{Frame: f, Port: x.Port}, err
		}, s[x.Port].Pass()
		if x.Dir == "tx" {
			next, pass = traffic.NewTurns(s).Next, r.supply.Frames
		}
		var f traffic.PortFrame
		var err error
		for range x.Number%pass + 1 {
			if f, err = next(); err != nil {
				return err
			}
		}
		frame := *x
		frame.Port = f.Port
		frame.From(f.Origin, 1+x.Number/pass)
		list[i].About(&frame)
	}
	return nil
}

// origin returns the frame that a mismatch of the referee refers to; nil: the run has no such frame.
func (r *Run) origin(id verdict.FrameID) *result.Frame {
	switch {
	case id.Sent && r.tx != nil:
		if n := ordinalOf(id.N, r.tx.next); n >= 0 {
			return r.tx.origin(n)
		}
	case !id.Sent && r.rx != nil && id.Port < len(r.ports):
		if n := ordinalOf(id.N, r.ports[id.Port].Sent()); n >= 0 {
			return r.rx.origin(id.Port, n)
		}
	}
	return nil
}

// finding converts a mismatch of the referee to a finding, and adds the frame's origin.
func (r *Run) finding(m *verdict.Mismatch) result.Finding {
	f := result.OfMismatch(m)
	if x := r.judge.origins[m]; x != nil {
		f.About(x)
	}
	return f
}

// found returns a finding of the end-to-end check about frames from a port that a receive queue delivered, or should
// have.
func (r *receive) found(queue, port int, rule, field string, want, got any) result.Finding {
	return result.Finding{
		Rule: rule, Domain: result.Rx, Field: field, Expected: result.Value(fmt.Sprint(want)),
		Got: result.Value(fmt.Sprint(got)), Queue: new(queue), Port: new(port),
	}
}

// foundIn returns the finding of method found, and names the frame in it by its ordinal on the port.
func (r *receive) foundIn(queue, port, ordinal int, rule, field string, want, got any) result.Finding {
	f := r.found(queue, port, rule, field, want, got)
	f.Frame = r.origin(port, ordinal)
	return f
}

// found returns a finding of the end-to-end check about a transmit queue.
func (t *transmit) found(queue int, rule, field string, want, got any) result.Finding {
	return result.Finding{
		Rule: rule, Domain: result.Tx, Field: field, Expected: result.Value(fmt.Sprint(want)),
		Got: result.Value(fmt.Sprint(got)), Queue: new(queue),
	}
}

// foundIn returns the finding of method found, and names the work entry e and its frame in it; e may be nil.
func (t *transmit) foundIn(e *expected, queue int, rule, field string, want, got any) result.Finding {
	f := t.found(queue, rule, field, want, got)
	if e != nil {
		f.Index, f.Port, f.Frame = new(int(e.index)), new(e.port), t.origin(e.ordinal)
	}
	return f
}
