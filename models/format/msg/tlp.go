package msg

import (
	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/tlp"
	"nictwin/models/sim/simcore"
)

// TLP is a TLP that crosses a PCIe link.
type TLP struct {
	simcore.Msg
	tlp.Packet
	Seq uint64 // ordinal of the TLP among those of its sender

	// Sender, if set, is notified once when the TLP is returned to its pool: then the receiver no
	// longer needs the TLP.
	Sender Consumer
}

// Consumer is notified that a TLP was consumed; back is the latency of such a notice on its way to
// the sender (simcore.Msg.Back). Consumed may only record the notice.
type Consumer interface{ Consumed(back simcore.Ps) }

// pooled marks a TLP in a pool, as its Sender. A flag would make TLP longer than four cache lines, and thousands of
// TLPs are in flight on a board of many servers.
type pooled struct{}

// Consumed implements Consumer. Nobody calls it.
func (pooled) Consumed(simcore.Ps) {}

// Bytes implements simcore.Timed: it returns the size of header and payload.
func (t *TLP) Bytes() int { return t.WireBytes() }

// TLPs is a pool of TLP. The zero value is ready for use.
type TLPs struct {
	free []*TLP
	live int
}

// Get returns an empty TLP: zero header, no data, no timestamps.
func (l *TLPs) Get() *TLP {
	l.live++
	n := len(l.free)
	if n == 0 {
		return new(TLP)
	}
	t := l.free[n-1]
	l.free[n-1] = nil
	l.free = l.free[:n-1]
	t.Sender = nil
	return t
}

// Put returns a TLP to the pool; the caller must hold the last reference. It panics if the TLP is
// in a pool already.
func (l *TLPs) Put(t *TLP) {
	sender, back := t.Sender, t.Back
	if sender == (pooled{}) {
		panic("msg: TLP put into a pool twice")
	}
	t.Msg, t.Seq, t.Sender = simcore.Msg{}, 0, pooled{}
	t.Packet.Reset()
	l.live--
	l.free = append(l.free, t)
	if sender != nil {
		sender.Consumed(back)
	}
}

// Live returns the number of TLPs taken from the pool and not returned. It can be negative if TLPs
// of other pools are returned to this one.
func (l *TLPs) Live() int { return l.live }

var (
	_ sim.Msg       = (*TLP)(nil)
	_ simcore.Timed = (*TLP)(nil)
)
