package run

import (
	"cmp"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/format/ether"
	"nictwin/models/format/wire"
	"nictwin/models/inject"
	"nictwin/models/sim/simcore"
	"nictwin/stack/apps"
	"nictwin/stack/ceio/manager"
	"nictwin/stack/flexins/data"
	"nictwin/stack/flexins/node"
)

// Lower bounds of the limits, for boards and stacks on which everything is fast. They are assumed to allow seven
// retransmissions with the default timeout of apps.DefaultSpec.
const (
	leastSetUp   = 100 * simcore.Millisecond
	leastTraffic = simcore.Second
	leastQuiet   = 20 * simcore.Millisecond
	leastGrace   = 200 * simcore.Microsecond
)

// limits holds the limits of a case, in simulated time. A stack that has been settled for the time `grace` expects
// nothing more: `grace` exceeds the time of a frame in a cable plus that of everything the frame causes on a card.
type limits struct{ setUp, traffic, quiet, settle, grace simcore.Ps }

// limits returns the limits of a case: those that the scenario gives, and for the others values that follow from the
// stacks' timers and the board.
func (c *Case) limits() limits {
	rack := c.rack()
	p := pathOf(&rack)
	p.faults(&c.Spec)
	p.access = c.access(&rack)
	quiet, traffic := leastQuiet, leastTraffic
	for _, w := range c.AllWorkloads() {
		retries := times(retransmission(w.RetransmitAfter()), 2*(w.Retries+1)) // 2: an rnic waits up to twice as long
		silence := retries + times(simcore.Ps(wire.RNRSyndrome(uint8(w.RNRTimer)).RNRDelayPs()), w.RNRRetry+1)
		quiet = max(quiet, silence+2*p.exchange())
		const share = 64 << 10 // bytes of a message for which the limit grows by the time of a short message
		message := times(silence/2+p.exchange(), (1+w.Largest()/share)*w.RoundTrips())
		traffic = max(traffic, times(message, w.Messages()*w.MessagesPerRequest()))
	}
	silence, paced := c.pauses()
	quiet = max(quiet, silence) + c.Load.Taken()
	traffic = max(traffic, quiet) + paced + c.AllWorkloads().LastPhase()
	return limits{
		// control verbs of an application wait while it looks at its messages
		setUp:   given(c.Limits.SetUp, max(leastSetUp, times(p.read+p.mmio, setUpReads))+p.access),
		traffic: given(c.Limits.Traffic, traffic),
		quiet:   given(c.Limits.Quiet, quiet),
		settle:  given(c.Limits.Settle, quiet+c.controllers()),
		grace:   max(leastGrace, p.cable+p.read+p.extra),
	}
}

// pauses returns the longest time in which flows over UDP may be silent, because of timers or of their pace, and the
// time that their pace takes in all.
func (c *Case) pauses() (silence, paced simcore.Ps) {
	const rounds = 4 // answers that are lost one after another
	for i := range c.Stacks {
		if c.Stacks[i].onHost() {
			silence = max(silence, times(simcore.Ps(c.Stacks[i].Host.AnswerTimeout), rounds))
		}
	}
	for _, w := range c.AllWorkloads() {
		silence = max(silence, times(simcore.Ps(w.Every), 2))
		paced = max(paced, times(simcore.Ps(w.Every), w.Count))
	}
	return silence, paced
}

// controllers returns the time in which controllers come to rest: two periods of those of CEIO on cards' cores, since
// the last one must see no hit, and the control loops of HostCC, which give back each level of the throttle.
func (c *Case) controllers() (rest simcore.Ps) {
	for i := range c.Stacks {
		if s := &c.Stacks[i]; s.Kind == StackCEIO && s.CEIO.Controller == manager.ControlArm {
			rest = max(rest, times(simcore.Ps(s.CEIO.ArmPeriod), 2))
		} else if s.Kind == StackHostCC {
			rest = max(rest, simcore.Ps(s.HostCC.RestPs()))
		} else if s.watchesHost() {
			rest = max(rest, simcore.Ps(s.RNIC.HostCC.RestPs()))
		}
	}
	return rest
}

// little returns the limits with `quiet` and `settle` lowered to the given patience; 0: unchanged.
func (l limits) little(patience simcore.Ps) limits {
	if patience > 0 {
		l.quiet, l.settle = min(l.quiet, patience), min(l.settle, patience)
	}
	return l
}

// given returns the limit that the scenario gives or, if it gives none, the limit that follows from the board.
func given(limit *simcore.Ps, follows simcore.Ps) simcore.Ps {
	if limit != nil {
		return *limit
	}
	return follows
}

// setUpReads is the assumed maximum of serial reads in one wait of the set-up.
const setUpReads = 500

// retransmission returns the time of an InfiniBand timeout code; 0 for code 0, which means no timeout.
func retransmission(code int) simcore.Ps {
	const unit = 4096 * simcore.Nanosecond
	if code == 0 {
		return 0
	}
	return unit << code
}

// timeout returns the code of the retransmission timeout for scenarios that give none. It is the default or, if that is
// too short, the smallest code whose time is at least twice the longest round trip on the board.
func (c *Case) timeout() int {
	trip, code := c.trip(), apps.DefaultTimeout
	for code < apps.MaxTimeout && retransmission(code) < 2*trip {
		code++
	}
	return code
}

// trip bounds the time that a packet and its acknowledgement take on the board, which includes waiting in front of the
// cables for everything that the applications may have in flight, but not waiting behind background loads of memories:
// the bound for these, where every access waits for all accesses of a load, would give timeouts of minutes.
func (c *Case) trip() simcore.Ps {
	rack := c.rack()
	for i := range rack.Servers {
		unload(&rack.Servers[i])
	}
	p := pathOf(&rack)
	p.faults(&c.Spec)
	trip := p.cable + 2*p.read + p.extra
	return trip + twoSlowest(rack.Servers, func(v *board.ServerSpec) simcore.Ps {
		r := v.Cards[0].Eth.Rate
		if r == (simcore.Rate{}) {
			return 0
		}
		return times(r.Ps, c.AllWorkloads().BytesInFlight()/int(r.Bytes)+1)
	})
}

// unload removes the loads from the memories of a server. It replaces what the spec shares with other specs.
func unload(v *board.ServerSpec) {
	if v.Memory != nil {
		m := *v.Memory
		m.Loads, v.Memory = nil, &m
	}
	for i := range v.Cards {
		c := &v.Cards[i]
		if c.Switch != nil {
			s := *c.Switch
			s.Arm.Loads, s.Host.Loads, c.Switch = nil, nil, &s
		}
		if c.Direct != nil {
			d := *c.Direct
			d.Loads, c.Direct = nil, &d
		}
	}
}

// twoSlowest returns the sum of a time over the two servers with the longest ones: packets go from one to the other.
func twoSlowest(servers []board.ServerSpec, of func(*board.ServerSpec) simcore.Ps) simcore.Ps {
	first, second := simcore.Ps(0), simcore.Ps(0)
	for i := range servers {
		if t := of(&servers[i]); t > first {
			first, second = t, first
		} else {
			second = max(second, t)
		}
	}
	return first + second
}

// shortTimeout describes a retransmission timeout that is shorter than the round trip on the board; empty: it is long
// enough.
func (c *Case) shortTimeout() string {
	trip := c.trip()
	for i, w := range c.AllWorkloads() {
		code := w.RetransmitAfter()
		if code == 0 || retransmission(code) >= trip {
			continue
		}
		const text = "%s.timeout %d is %v, while a packet and its acknowledgement may take %v on this board: " +
			"want %d or more, or none"
		return fmt.Sprintf(text, c.workloadPath(i), code, nanoseconds(retransmission(code)), nanoseconds(trip),
			c.timeout())
	}
	return ""
}

// path holds latencies between two servers of a board.
type path struct {
	read, turn simcore.Ps // longest read, and time from doorbell to result (board.Waits.Turn), on the slowest card
	cable      simcore.Ps // time of a frame to the other server and back, including the switch
	mmio       simcore.Ps // time of a register write that firmware emulates
	extra      simcore.Ps // delays by injected faults and pacing
	access     simcore.Ps // time in which applications read or write messages in memory that is far from their cores
}

// pathOf returns the latencies of a board.
func pathOf(rack *board.RackSpec) (p path) {
	for i := range rack.Servers {
		c := &rack.Servers[i].Cards[0]
		w, _ := c.Waits() // fails only for an rnic, which has no CPL_TIMEOUT: the spec is valid
		p.read, p.turn = max(p.read, w.Read), max(p.turn, w.Turn)
		if sw := c.Switch; sw != nil && sw.HostMMIO != nil {
			p.mmio = max(p.mmio, 2*sw.HostMMIO.Latency+sw.HostMMIO.Service)
		}
	}
	p.cable = twoSlowest(rack.Servers, func(v *board.ServerSpec) simcore.Ps {
		return 2 * (board.CableTime(v.Cards[0].Eth) + rack.Network.Latency)
	})
	return p
}

// faults adds the delays of injected faults and of pacing.
func (p *path) faults(s *Spec) {
	if w := s.Faults.Wire; w != nil {
		p.extra += cmp.Or(w.Hold.Time, inject.DefaultHold.Time)
		for i := range w.Rules {
			p.extra = max(p.extra, w.Rules[i].Hold.Time)
		}
	}
	for i := range s.Faults.PCIe {
		p.extra += s.Faults.PCIe[i].Delay
	}
	for i := range s.Stacks {
		x := &s.Stacks[i]
		if x.Kind != StackFlexiNS {
			continue
		}
		if n := x.FlexiNS.Notify; n != node.MMIO {
			p.mmio = 0
		}
		if cc := &x.FlexiNS.Data.CC; cc.Kind == data.CongestionFixed && cc.Rate > 0 {
			const bits = 8 * ether.MaxLen
			p.extra += times(simcore.Second, bits) / simcore.Ps(cc.Rate)
		}
	}
}

// exchange bounds the time of a request and its answer if nothing is lost.
func (p *path) exchange() simcore.Ps {
	const writes = 64 // register writes in flight at a time (mmio.Emulated)
	return p.turn + p.cable + p.extra + writes*p.mmio + p.access
}

// times multiplies a duration by n and saturates at a time that no run reaches.
func times(d simcore.Ps, n int) simcore.Ps {
	const most = simcore.MaxPs / 64
	if d > 0 && simcore.Ps(n) > most/d {
		return most
	}
	return d * simcore.Ps(n)
}
