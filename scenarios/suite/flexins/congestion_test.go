package flexins

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/msg"
	"nictwin/models/format/wire"
	"nictwin/models/inject"
	"nictwin/models/sim/simcore"
	"nictwin/stack/cc"
	"nictwin/stack/flexins/data"
	"nictwin/stack/flexins/node"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// passed is a RoCE frame that crossed a cable.
type passed struct {
	at     simcore.Ps
	cable  int
	to     inject.Direction
	bytes  int
	op     wire.Opcode
	psn    uint32
	becn   bool
	source uint16 // UDP source port
	ecn    byte
}

// listened is a pair of nodes with a connected queue pair, whose frames on the cables are recorded.
type listened struct {
	*connected
	nodes  []*node.Node
	e      *simcore.Engine
	frames []passed
}

// listen connects nodes by cables with the given faults.
func listen(t *testing.T, s node.Spec, faults inject.WireSpec) *listened {
	b, nodes, e, rack := newNodesOn(t, s, false, func(r *board.RackSpec) { r.Network.Faults = &faults })
	l := &listened{connected: connect(t, b), nodes: nodes, e: e}
	for i, c := range rack.Cables {
		c.Wire.Seen = func(d inject.Direction, f *msg.Frame, s *inject.Strike) {
			if !s.RoCE {
				return
			}
			const l3, l4, bth = 14, 34, 42
			h := wire.BTH(f.Data[bth:])
			l.frames = append(l.frames, passed{e.Now(), i, d, len(f.Data), wire.Opcode(h[0]), h.PSN(), h[4]&0x40 != 0,
				binary.BigEndian.Uint16(f.Data[l4:]), f.Data[l3+1] & 3})
		}
	}
	return l
}

// write makes the first side write n bytes by one request, and waits for its completion.
func (l *listened) write(t *testing.T, n uint32) {
	t.Helper()
	wr := verbs.SendWR{ID: 1, Opcode: verbs.WRWrite, Flags: verbs.SendSignaled, RemoteAddr: l.Sides[1].Base,
		RKey: l.mr[1].RKey,
		SGEs: []verbs.SGE{{Addr: l.Sides[0].Base, Length: n, LKey: l.mr[0].LKey}}}
	_, err := l.qp[0].PostSend([]verbs.SendWR{wr})
	require.NoError(t, err)
	require.NoError(t, l.Settle())
	wcs := make([]verbs.WC, 2)
	k, err := l.cq[0].Poll(wcs)
	require.NoError(t, err)
	require.Equal(t, 1, k)
	require.Equal(t, verbs.WCSuccess, wcs[0].Status)
}

// data returns the frames of WRITEs, which the first side sends.
func (l *listened) data() (list []passed) {
	for _, f := range l.frames {
		if f.to == inject.FromDevice && f.op >= wire.RCWriteFirst && f.op <= wire.RCWriteOnlyImm {
			list = append(list, f)
		}
	}
	return list
}

// rate returns the rate of frames on the wire, in bits per second.
func rate(frames []passed) float64 {
	bytes := 0
	for _, f := range frames[:len(frames)-1] {
		bytes += f.bytes
	}
	return float64(bytes) * 8 / (float64(frames[len(frames)-1].at-frames[0].at) * 1e-12)
}

// TestFlexinsFixedRate checks that a configured rate equals the rate of bytes measured on the wire.
func TestFlexinsFixedRate(t *testing.T) {
	for _, want := range []cc.Bps{200 * cc.Mbps, 3 * cc.Gbps, 25 * cc.Gbps} {
		s := node.DefaultSpec()
		s.DataCores, s.Data.CC.Kind, s.Data.CC.Rate = 1, data.CongestionFixed, want
		l := listen(t, s, inject.WireSpec{})
		l.write(t, 1<<20)
		frames := l.data()
		require.Len(t, frames, 256)
		const saved = 8 // packets that may leave back to back after a time without traffic
		require.InEpsilon(t, float64(want), rate(frames[saved:]), 0.002)
	}
}

// departures returns when frames of n bytes leave under a controller that gets notifications at given times:
// each frame as soon as its gap from the previous one, at the rate of that moment, has passed.
func departures(t *testing.T, c cc.Controller, first simcore.Ps, n, frames int, cnps []simcore.Ps) (list []simcore.Ps,
	least float64) {
	const step = 10 * simcore.Nanosecond
	least = math.Inf(1)
	list = append(list, first)
	c.Sent(int64(first), n)
	for now := first; len(list) < frames; now += step {
		require.Less(t, now, first+100*simcore.Millisecond)
		for len(cnps) > 0 && cnps[0] <= now {
			c.Notified(int64(cnps[0]))
			cnps = cnps[1:]
		}
		c.Tick(int64(now))
		least = min(least, float64(c.Rate()))
		if ready := list[len(list)-1] + simcore.Ps(cc.Gap(n, c.Rate())); ready <= now {
			list = append(list, max(ready, now-step))
			c.Sent(int64(now), n)
		}
	}
	return list, least
}

// TestFlexinsDCQCN checks that packets leave when the controller alone, given the congestion notifications seen on the
// wire, would let them leave: at a lower rate after notifications, and at the former rate when no more arrive.
func TestFlexinsDCQCN(t *testing.T) {
	const line = 20 * cc.Gbps
	s := node.DefaultSpec()
	s.DataCores, s.Data.CC.Kind = 1, data.DCQCN
	s.Data.CC.DCQCN.Line, s.Data.CC.DCQCN.AdditiveIncrease = line, 1*cc.Gbps
	rule := inject.WireRule{Do: inject.WireECN, Class: inject.ClassRequest, PSN: 40, PSNs: 10}
	l := listen(t, s, inject.WireSpec{Rules: []inject.WireRule{rule}})
	l.write(t, 6<<20)
	var cnps []simcore.Ps
	for _, f := range l.frames {
		if f.op == wire.CNPOpcode {
			require.Equal(t, inject.ToDevice, f.to)
			cnps = append(cnps, f.at)
		}
	}
	require.Len(t, cnps, 2)
	require.GreaterOrEqual(t, cnps[1]-cnps[0], simcore.Ps(s.Data.CC.DCQCN.CNPInterval)-simcore.Microsecond)
	pure, err := cc.NewDCQCN(s.Data.CC.DCQCN)
	require.NoError(t, err)
	frames := l.data()
	due, least := departures(t, pure, frames[0].at, frames[1].bytes, len(frames), cnps)
	require.Less(t, least, 0.26*float64(line))
	worst := simcore.Ps(0)
	for i, f := range frames {
		worst = max(worst, f.at-due[i], due[i]-f.at)
	}
	t.Logf("%d frames in %d ps: at most %d ps from when they were due; slowest %.3g bit/s", len(frames),
		frames[len(frames)-1].at-frames[0].at, worst, least)
	// The sender receives each notification later than function departures assumes, so a frame may leave before its
	// computed time.
	gap := simcore.Ps(cc.Gap(frames[1].bytes, cc.Bps(least)))
	require.Less(t, worst, 2*gap)
	require.InEpsilon(t, float64(line), rate(frames[:40]), 0.01)
	require.Greater(t, rate(frames[len(frames)-100:]), 0.98*float64(line))
	require.EqualValues(t, 2, l.nodes[0].Stats().Notified)
	require.EqualValues(t, 10, l.nodes[1].Stats().Marked)
}

// TestFlexinsDCTCP checks that the packets in flight double in every round trip until acknowledgements report marks,
// and that only a few are in flight if every packet is marked.
func TestFlexinsDCTCP(t *testing.T) {
	for _, c := range []struct {
		ecn         float64
		least, most int
	}{{0, 50, 512}, {0.05, 4, 120}, {0.999, 1, 10}} {
		s := node.DefaultSpec()
		s.DataCores, s.Data.CC.Kind = 1, data.DCTCP
		l := listen(t, s, inject.WireSpec{Chances: inject.Chances{ECN: c.ecn}})
		l.write(t, 4<<20)
		una, peak, sum, n := int64(-1), 0, 0, 0
		for _, f := range l.frames {
			switch {
			case f.to == inject.FromDevice:
				if una < 0 {
					una = int64(f.psn)
				}
				require.EqualValues(t, 2, f.ecn)
				flight := int(int64(f.psn)-una) + 1
				peak = max(peak, flight)
				sum, n = sum+flight, n+1
			case f.op == wire.RCAck:
				una = max(una, int64(f.psn)+1)
			}
		}
		t.Logf("marks %v: %d under way at most, %.1f on average", c.ecn, peak, float64(sum)/float64(n))
		require.GreaterOrEqual(t, peak, c.least)
		require.Less(t, sum/n, c.most)
		require.EqualValues(t, math.Round(c.ecn*1024) > 0, l.nodes[1].Stats().Marked > 0)
		require.Zero(t, l.nodes[0].Stats().Notified)
	}
}

// TestFlexinsSpray checks that packets of a sprayed queue pair leave by both ports and with many UDP source ports, and
// that each arrives at its core.
func TestFlexinsSpray(t *testing.T) {
	s := node.DefaultSpec()
	s.DataCores, s.Data.Spray, s.Data.Recovery = 3, true, transport.SelectiveRepeat
	l := listen(t, s, inject.WireSpec{Chances: inject.Chances{Loss: 0.01, Disorder: 0.05}})
	l.write(t, 2<<20)
	by, sources := map[int]int{}, map[uint16]int{}
	for _, f := range l.data() {
		by[f.cable]++
		sources[f.source]++
	}
	require.InDelta(t, by[0], by[1], 20)
	require.Len(t, sources, s.Data.SprayPorts)
	require.Zero(t, l.nodes[1].Stats().Stray)
}
