package probe

import (
	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/board"
	"nictwin/models/format/msg"
	"nictwin/models/format/wire"
	"nictwin/models/sim/simcore"
)

// Sender is a queue pair whose messages are followed.
type Sender struct {
	Flow   int
	Answer bool
	PSN    uint32 // of its first packet
	Count  int    // messages
	// Packets returns the PSNs that a message takes.
	Packets func(message int) int
}

// Wire stamps the first packet of each message where it leaves a NIC. PSNs tell messages apart, so that packets of
// retransmissions stamp nothing: a sender's first transmissions are in the order of PSNs.
type Wire struct {
	clock   simcore.Scheduler
	stamp   func(at simcore.Ps, flow int, answer bool, message int)
	senders map[Destination]*position
}

// Destination identifies the queue pair to which a sender's packets go.
type Destination struct {
	MAC [6]byte // of a port of its server
	QPN uint32
}

// position is the first packet of a sender that has not been seen.
type position struct {
	Sender
	next int    // message
	psn  uint32 // of its first packet
}

// NewWire follows messages on the cables of a rack, from now on.
func NewWire(clock simcore.Scheduler, r *board.Rack,
	stamp func(at simcore.Ps, flow int, answer bool, message int)) *Wire {
	w := &Wire{clock: clock, stamp: stamp, senders: map[Destination]*position{}}
	for i := range r.Cables {
		c := &r.Cables[i]
		for d, link := range c.Entry {
			link.AcceptHook(&entryHook{wire: w, from: c.Ports[d]})
		}
	}
	return w
}

// Follow follows the packets of a sender to a queue pair.
func (w *Wire) Follow(to Destination, s *Sender) {
	w.senders[to] = &position{Sender: *s, psn: s.PSN & maxPSN}
}

const maxPSN = 1<<24 - 1

// entryHook sees the frames that a port sends.
type entryHook struct {
	wire *Wire
	from sim.Port
}

// Func implements sim.Hook.
func (x *entryHook) Func(ctx sim.HookCtx) {
	if ctx.Pos != sim.HookPosConnStartSend {
		return
	}
	if f, ok := ctx.Item.(*msg.Frame); ok && f.Src == x.from {
		x.wire.frame(f.Data)
	}
}

// frame looks at a frame that a NIC or a switch sends.
func (w *Wire) frame(b []byte) {
	at, ok := wire.FindRoCE(b)
	if !ok {
		return
	}
	bth := wire.BTH(b[at.BTH:])
	if !requests(bth.Opcode()) {
		return
	}
	s := w.senders[Destination{MAC: [6]byte(b), QPN: bth.DestQP()}]
	if s == nil {
		return
	}
	const half = 1 << 23 // PSNs up to so many ahead are later ones
	for psn := bth.PSN(); s.next < s.Count && (psn-s.psn)&maxPSN < half; s.next++ {
		w.stamp(simcore.Now(w.clock), s.Flow, s.Answer, s.next)
		s.psn = (s.psn + uint32(s.Packets(s.next))) & maxPSN
	}
}

// requests reports whether packets of an opcode carry requests: the PSNs of responses are those of the other direction.
func requests(o wire.Opcode) bool {
	switch o.Info().Operation {
	case wire.OpSend, wire.OpWrite, wire.OpReadRequest, wire.OpCmpSwap, wire.OpFetchAdd:
		return true
	}
	return false
}
