package player

import (
	"nictwin/models/board"
	"nictwin/models/format/ether"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/fuzz/program"
)

// waits limits the player's waits for the NIC, in cycles. Where links or memories are slow, time counts from the last
// frame or request that was seen: work that is left may take any time there.
type waits struct {
	// more than any time-out of the contract's, and than cables, links and memories take for a frame and its TLPs
	patience int64
	most     int64 // however much the NIC does meanwhile
	step     int   // between two looks
	slow     bool
	// the cycle in which a frame, or a request of the NIC or its answer, crossed its boundary last; of a slow board
	moved   int64
	longest int64 // wait that ended
}

// waitsOf returns the waits of a board.
func waitsOf(b *testbed.Bed) waits {
	const (
		patience, step = 400_000, 16
		often          = 1000                               // times the patience of a slow board
		frames         = program.MaxPlayed/ether.MaxLen + 1 // of the longest that the NIC takes, in one that is played
	)
	period := b.NIC.Period()
	slowest := int64((b.Waits.Turn + frames*board.CableTime(b.Cable())) / period)
	w := waits{patience: max(patience, slowest), slow: slowest > 2*patience, step: step}
	w.most = w.patience
	if w.slow {
		w.most *= often
		w.step = int(w.patience / (patience / step))
	}
	return w
}

// crossing implements boundary.Observer.
func (w *waits) crossing(c boundary.Crossing) {
	switch c.Kind {
	case boundary.TLPIn:
		var h tlp.Header
		if core.DecodeInbound(&c.TLP.Hdr, &h) != core.InCompletion {
			return // of software
		}
	case boundary.TLPOut:
		if h, err := c.TLP.Header(); err == nil && h.Kind.IsCompletion() {
			return // to software
		}
	}
	w.moved = max(w.moved, c.Last)
}

// vain reports whether a wait that began in a cycle has lasted long enough.
func (w *waits) vain(from, now int64) bool {
	return now-max(from, w.moved) > w.patience || now-from > w.most
}

// within lowers the patience; 0 leaves it. That of a slow board stays: it follows from the board.
func (w *waits) within(patience int64) {
	if patience > 0 && !w.slow {
		w.patience, w.most = min(w.patience, patience), min(w.most, patience)
	}
}

// ended notes a wait that ended well.
func (w *waits) ended(from, now int64) { w.longest = max(w.longest, now-from) }

func (x *player) cycle() int64 { return int64(x.b.Engine.Now() / x.b.NIC.Period()) }

// until lets time pass until something holds.
func (x *player) until(what string, holds func() bool) error {
	from := x.cycle()
	for !holds() {
		if x.waits.vain(from, x.cycle()) {
			return x.stuck(what, from, x.cycle(), nil)
		}
		if err := x.run(x.waits.step); err != nil {
			return err
		}
	}
	x.waits.ended(from, x.cycle())
	return nil
}

// poll reads a register until its value is enough; what says what that tells.
func (x *player) poll(off uint32, what string, enough func(v uint32) bool) error {
	for from := x.cycle(); ; {
		v, err := x.read(off)
		if err != nil {
			return err
		}
		if enough(v) {
			x.waits.ended(from, x.cycle())
			return nil
		}
		if x.waits.vain(from, x.cycle()) {
			var status *uint32
			if off == nicspec.RegStatus {
				status = &v
			}
			return x.stuck(what, from, x.cycle(), status)
		}
	}
}

// Suits refuses a card on which no program can be played: links or memories that are so slow that the NIC could not
// wait for the reads of one.
func Suits(c *board.CardSpec) error {
	const longest = 10_000 // ns: program.Board
	s := *c
	s.Endpoint = *onCard(c,
		endpoint(&program.Board{MPS: c.Endpoint.Limits.MPS, RCB: 64, Random: true, Delay: longest, Jitter: longest}))
	_, err := s.Waits()
	return err
}

// onCard changes what is behind the NIC to what the card's links take.
func onCard(c *board.CardSpec, e *board.Endpoint) *board.Endpoint {
	e.Limits.MPS = min(e.Limits.MPS, c.Endpoint.Limits.MPS)
	e.Ahead = c.Endpoint.Ahead
	return e
}

var _ boundary.Observer = (*waits)(nil).crossing
