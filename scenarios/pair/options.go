package pair

import (
	"errors"
	"fmt"
	"time"

	"nictwin/models/board"
	"nictwin/models/format/ether"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/observe/heartbeat"
)

// Options selects the servers and the frames that they exchange.
type Options struct {
	Rack      board.RackSpec
	Frames    [][]byte // frames that each server sends to the other, repeated until Count are sent
	Count     int      // frames that each server sends
	Window    int      // frames in flight of each server; each received frame makes it send another
	Seed      uint64
	Unjudged  bool          // run without a referee
	Processes int           // number of processes, 1 or 2
	Limit     time.Duration // longest time without a byte from the other process
	Program   []string      // command that runs the other process through Main; nil: this program

	Beat *heartbeat.Beat // receives the progress of the run; nil: none
}

// DefaultOptions returns options with a referee and one process.
func DefaultOptions() Options {
	return Options{Window: 16, Processes: 1, Limit: 10 * time.Second}
}

const (
	// maxWindow bounds Window: a ring of ringSlots entries has room for two windows beside the buffers that wait for a
	// doorbell.
	maxWindow = 24
	maxCount  = 1 << 30 // more frames than anybody waits for
	maxPlayed = 1 << 30 // maximum size of Frames in bytes
	// maxRound bounds a round. Results do not depend on it, except for the time at which servers read their counters.
	maxRound   = 100 * simcore.Microsecond
	leastLimit = time.Millisecond

	// leastMemory is the memory that the driver needs in each endpoint.
	leastMemory = 32 << 20
	mostLimit   = time.Hour
)

// Validate returns every error of the options; errors that concern a field are field.Errors.
func (o *Options) Validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	bad(o.Count >= 1 && o.Count <= maxCount, "count", "%d: want 1 to %d", o.Count, maxCount)
	bad(o.Window >= 1 && o.Window <= maxWindow, "window", "%d: want 1 to %d", o.Window, maxWindow)
	bad(o.Processes == 1 || o.Processes == 2, "processes", "%d: want 1 or 2", o.Processes)
	bad(o.Limit >= leastLimit && o.Limit <= mostLimit, "wait", "%v: want %v to %v", o.Limit, leastLimit, mostLimit)
	bad(len(o.Frames) > 0, "frames", ": none: want one or more to play")
	total := 0
	for i, f := range o.Frames {
		if len(f) < ether.MinLen || len(f) > ether.MaxLen {
			errs = append(errs, field.Errorf(field.Path(fmt.Sprintf("frames[%d]", i)), ": has %d bytes: want %d to %d",
				len(f), ether.MinLen, ether.MaxLen))
			break
		}
		total += len(f)
	}
	bad(total <= maxPlayed, "frames", ": %d bytes: want at most %d", total, maxPlayed)
	if err := o.Rack.Validate(); err != nil {
		return errors.Join(append(errs, err)...)
	}
	return errors.Join(append(errs, o.validateRack())...)
}

// validateRack checks that the rack can be divided between two processes.
func (o *Options) validateRack() error {
	var errs []error
	bad := func(path field.Path, format string, a ...any) { errs = append(errs, field.Errorf(path, format, a...)) }
	s := &o.Rack
	if s.Network.Kind != board.NetworkBackToBack {
		bad("network.kind", "%s: cannot be divided: want %s", s.Network.Kind, board.NetworkBackToBack)
		return errors.Join(errs...)
	}
	if len(s.Servers) != 2 || s.Fleet != nil {
		bad("servers", ": there are %d: want 2 with a card each", len(s.All()))
		return errors.Join(errs...)
	}
	if s.Network.Loss != nil {
		bad("network.loss", ": a cable that loses frames cannot be divided: want null")
	}
	if s.Network.Faults != nil {
		bad("network.faults", ": a cable that strikes frames cannot be divided: want null")
	}
	for i := range s.Servers {
		c, at := &s.Servers[i].Cards[0], fmt.Sprintf("servers[%d].cards[0].", i)
		if c.Bond != nil {
			bad(field.Path(at+"bond"), ": the cables of a bond cannot be divided: want null")
		}
		if c.Second != nil {
			bad(field.Path(at+"second"), ": software of this command has no use for it: want null")
		}
		if loads := c.Loaded(); loads != "" {
			bad(field.Path(at)+loads, ": nothing would end a background load: want none")
		}
	}
	for i := range s.Servers {
		d := &s.Servers[i].Cards[0].Device
		if d.Kind != board.DeviceAny && d.Kind != board.DeviceModel {
			bad(field.Path(fmt.Sprintf("servers[%d].cards[0].device.kind", i)),
				"%s: want %s: only the Go NIC is divided so", d.Kind, board.DeviceModel)
		}
	}
	for i := range s.Servers {
		for ep, n := range [...]uint64{nicspec.EndpointArm: s.Servers[i].Cards[0].Endpoint.ArmBytes,
			nicspec.EndpointHost: s.Servers[i].Cards[0].Endpoint.HostBytes} {
			if n < leastMemory {
				bad(field.Path(fmt.Sprintf("servers[%d].cards[0].%s", i, board.BytesField(ep))),
					"%d: want %d or more, for the rings and buffers of the driver", n, leastMemory)
			}
		}
	}
	cable := s.PairCable()
	if cable.Latency < 1 || cable.CreditLatency < 1 {
		bad("network.latency_ps", ": the cable has a latency of %v, of credits %v: want 1 ps or more of both, it is "+
			"the time that is simulated apart", cable.Latency, cable.CreditLatency)
	}
	if cable.Credits == 0 {
		bad("servers[0].cards[0].eth.credits", "0: want a number, so that both halves of the cable have the same")
	}
	return errors.Join(errs...)
}

// round returns the time between two evaluations of both servers' states: at most the latency of the cable.
func (o *Options) round() simcore.Ps {
	c := o.Rack.PairCable()
	return min(c.Latency, c.CreditLatency, maxRound)
}
