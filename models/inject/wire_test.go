package inject_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	"nictwin/models/format/wire"
	"nictwin/models/inject"
	"nictwin/models/sim/simcore"
	"nictwin/models/sim/specfile"
)

// arrival is a received frame, with its time.
type arrival struct {
	data []byte
	at   simcore.Ps
}

// station is one end of a cable: it records the frames that it receives.
type station struct {
	*sim.ComponentBase
	port   *simcore.Port
	frames *msg.Frames
	got    []arrival
	silent bool // receives frames, but does not record them
	ahead  bool // handles frames ahead of the engine, as RTL does
}

func newStation(name string, p *msg.Frames, ahead bool) *station {
	s := &station{ComponentBase: sim.NewComponentBase(name), frames: p, ahead: ahead}
	s.port = simcore.NewPort(s, 64, name+".Eth")
	return s
}

func (s *station) LookAhead() bool                         { return s.ahead }
func (s *station) Handle(sim.Event) error                  { return nil }
func (s *station) NotifyPortFree(sim.VTimeInSec, sim.Port) {}
func (s *station) NotifyRecv(now sim.VTimeInSec, _ sim.Port) {
	for s.port.Len() > 0 {
		f := s.port.Retrieve(now).(*msg.Frame)
		if !s.silent {
			s.got = append(s.got, arrival{bytes.Clone(f.Data), f.Arrive})
		}
		s.frames.Put(f)
	}
}

// cable is a Wire between two stations.
type cable struct {
	*simcore.Engine
	t    *testing.T
	wire *inject.Wire
	pool msg.Frames
	ends [2]*station
}

const frameGap = 10 * simcore.Nanosecond

func newCable(t *testing.T, s inject.WireSpec) *cable { return newCableOf(t, s, false) }

func newCableOf(t *testing.T, s inject.WireSpec, ahead bool) *cable {
	t.Helper()
	c := &cable{Engine: simcore.NewEngine(), t: t}
	var err error
	c.wire, err = inject.NewWire("Wire", c, s, 0, &c.pool)
	require.NoError(t, err)
	c.ends = [2]*station{newStation("A", &c.pool, ahead), newStation("B", &c.pool, ahead)}
	_, err = simcore.Connect("Near", c, simcore.LinkSpec{Latency: 50 * simcore.Nanosecond}, c.ends[0].port,
		c.wire.Device())
	require.NoError(t, err)
	_, err = simcore.Connect("Far", c, simcore.LinkSpec{Latency: 20 * simcore.Nanosecond}, c.wire.Peer(),
		c.ends[1].port)
	require.NoError(t, err)
	return c
}

// send sends frames back to back from one end.
func (c *cable) send(end int, frames ...[]byte) {
	c.t.Helper()
	for _, f := range frames {
		require.Nil(c.t, c.ends[end].port.SendAt(c.pool.Copy(f), c.Now()))
		require.NoError(c.t, c.RunUntil(c.Now()+frameGap))
	}
}

// play sends frames from the first end and returns those that the second received.
func (c *cable) play(frames ...[]byte) (got [][]byte) {
	c.t.Helper()
	c.send(0, frames...)
	require.NoError(c.t, c.Run())
	require.True(c.t, c.wire.Idle())
	require.NoError(c.t, c.wire.Err())
	for _, a := range c.ends[1].got {
		got = append(got, a.data)
	}
	return got
}

// packet returns a RoCE frame over ECN-capable IPv4, with 16 bytes after the BTH.
func packet(op wire.Opcode, qp, psn uint32) []byte {
	const payload = 16
	f := make([]byte, 14+20+8+wire.BTHSize+payload+wire.ICRCSize)
	f[0], f[6], f[12], f[13] = 2, 2, 8, 0
	ip := f[14:]
	ip[0], ip[1], ip[8], ip[9] = 0x45, 2, 64, 17
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
	copy(ip[12:], []byte{10, 0, 0, 1, 10, 0, 0, 2})
	udp := ip[20:]
	binary.BigEndian.PutUint16(udp, 0xc000)
	binary.BigEndian.PutUint16(udp[2:], wire.Port)
	binary.BigEndian.PutUint16(udp[4:], uint16(len(udp)))
	bth := wire.BTH(udp[8:])
	bth[0] = byte(op)
	bth.SetDestQP(qp)
	bth.SetPSN(psn & 0xffffff)
	if err := wire.SealFrame(f, false); err != nil {
		panic(err)
	}
	return f
}

// requests returns WRITEs to queue pair 5 with these PSNs.
func requests(psns ...uint32) (all [][]byte) {
	for _, p := range psns {
		all = append(all, packet(wire.RCWriteMiddle, 5, p))
	}
	return all
}

// psns returns the PSNs of frames.
func psns(frames [][]byte) (all []uint32) {
	for _, f := range frames {
		all = append(all, wire.BTH(f[42:]).PSN())
	}
	return all
}

func rules(t *testing.T, text string) inject.WireSpec {
	t.Helper()
	var s inject.WireSpec
	places, err := specfile.Decode("f.yaml", []byte(text), nil, &s)
	require.NoError(t, err)
	require.NoError(t, places.Locate(s.Validate()))
	return s
}

// A rule must strike exactly the packets that it names, by PSN, attempt and the other fields, whatever else crosses
// the wire.
func TestWireRules(t *testing.T) {
	for _, c := range []struct {
		rules string
		psns  []uint32
		want  []uint32
	}{
		{"{do: loss, psn: 1}", []uint32{7, 8, 9, 8}, []uint32{7, 9, 8}},
		{"{do: loss, psn: 1, attempt: 1}", []uint32{7, 8, 9, 8, 8}, []uint32{7, 8, 9, 8}},
		{"{do: loss, psn: 1, psns: 2, attempts: 2}", []uint32{7, 8, 9, 8, 9, 8}, []uint32{7, 8}},
		{"{do: loss, psn: 1}", []uint32{0xffffff, 0, 1}, []uint32{0xffffff, 1}},
		{"{do: loss, psn: 1, class: ack}", []uint32{7, 8}, []uint32{7, 8}},
		{"{do: loss, psn: 1, qp: 6}", []uint32{7, 8}, []uint32{7, 8}},
		{"{do: loss, psn: 1, qp: 5, class: request, opcode: 7, cable: 0, direction: from_device}", []uint32{7, 8},
			[]uint32{7}},
		{"{do: loss, psn: 1, direction: to_device}", []uint32{7, 8}, []uint32{7, 8}},
		{"{do: loss, psn: 1, cable: 1}", []uint32{7, 8}, []uint32{7, 8}},
		{"{do: duplication, psn: 1}", []uint32{7, 8, 9}, []uint32{7, 8, 8, 9}},
		{"{do: disorder, psn: 1, hold: {frames: 2}}", []uint32{7, 8, 9, 10, 11}, []uint32{7, 9, 10, 8, 11}},
		{"{do: disorder, psn: 1}", []uint32{7, 8, 9, 10, 11, 12}, []uint32{7, 9, 10, 11, 8, 12}},
		{"{do: disorder, psn: 1, psns: 2}", []uint32{7, 8, 9, 10, 11, 12}, []uint32{7, 10, 11, 12, 8, 9}},
		{"{do: disorder, psn: 1}", []uint32{7, 8, 9}, []uint32{7, 9, 8}},
		{"{do: disorder, psn: 1}, {do: duplication, psn: 1}", []uint32{7, 8, 9}, []uint32{7, 8, 9, 8}},
	} {
		got := newCable(t, rules(t, "rules: ["+c.rules+"]")).play(requests(c.psns...)...)
		require.Equal(t, c.want, psns(got), "%s", c.rules)
		for _, f := range got {
			require.NoError(t, wire.VerifyFrameICRC(f).Err())
		}
	}
}

// A frame that a disorder fault delays must leave when its hold time is over, even if too few others have passed it.
func TestDisorderEnds(t *testing.T) {
	c := newCable(t, rules(t, "rules: [{do: disorder, hold: {frames: 9, time_ps: 400000}}]"))
	c.play(requests(1, 2)...)
	const ns = simcore.Nanosecond
	require.Equal(t, []simcore.Ps{80 * ns, 470 * ns}, []simcore.Ps{c.ends[1].got[0].at, c.ends[1].got[1].at})
	require.EqualValues(t, 1, c.wire.Count(inject.FromDevice).Held)
}

// PSNs and attempts are counted for each class of a queue pair's packets, and for each direction.
func TestFlowsAreSeparate(t *testing.T) {
	c := newCable(t, rules(t, "rules: [{do: loss, psn: 2}]"))
	ops := []wire.Opcode{wire.RCWriteOnly, wire.RCReadRespMid, wire.RCAck, 0xc1, 0xc8}
	var frames [][]byte
	for psn := range uint32(4) {
		for i, op := range ops {
			frames = append(frames, packet(op, 5, 100*uint32(i)+psn))
		}
		c.send(1, packet(wire.RCWriteOnly, 5, 500+psn))
	}
	require.Len(t, c.play(frames...), 3*len(ops))
	require.Len(t, c.ends[0].got, 3)
	require.EqualValues(t, len(ops), c.wire.Count(inject.FromDevice).Lost)
	require.EqualValues(t, 1, c.wire.Count(inject.ToDevice).Lost)
}

// Every CNP is another attempt of PSN 0. Frames that are not RoCE are selected by ordinal.
func TestFramesWithoutPSN(t *testing.T) {
	cnp, other := packet(wire.CNPOpcode, 5, 0), bytes.Repeat([]byte{2}, 60)
	c := newCable(t, rules(t, "rules: [{do: loss, class: cnp, attempt: 1}, {do: loss, class: other, ordinal: 2}, "+
		"{do: corruption, class: other, ordinal: 0, bit: 9}]"))
	got := c.play(cnp, other, cnp, other, cnp, other, other)
	require.Equal(t, []int{len(cnp), 60, 60, len(cnp), 60}, []int{len(got[0]), len(got[1]), len(got[2]), len(got[3]),
		len(got[4])})
	require.Len(t, got, 5)
	require.Equal(t, []byte{2, 0, 2}, got[1][:3])
	require.Equal(t, other, got[2])
}

// A corruption must flip one bit of its part. In the payload, it makes the ICRC wrong.
func TestCorruption(t *testing.T) {
	for seed := range uint64(200) {
		f := packet(wire.RCWriteMiddle, 5, 1)
		at, ok := wire.FindRoCE(f)
		require.True(t, ok)
		for part, span := range map[string][2]int{"payload": {at.BTH + wire.BTHSize, at.End},
			"headers": {0, at.BTH + wire.BTHSize}, "frame": {0, len(f)}} {
			s := rules(t, "rules: [{do: corruption, part: "+part+"}]")
			s.Seed = seed
			c := newCable(t, s)
			var seen inject.Strike
			c.wire.Seen = func(_ inject.Direction, came *msg.Frame, s *inject.Strike) {
				require.Equal(t, f, came.Data, "as it came")
				seen = *s
			}
			got := c.play(f)[0]
			flips := 0
			for i := range got {
				if got[i] != f[i] {
					flips++
					require.True(t, i >= span[0] && i < span[1], "%s: byte %d", part, i)
					require.Equal(t, seen.Bit/8, i)
				}
			}
			require.Equal(t, 1, flips)
			if part == "payload" {
				require.Equal(t, wire.Bad, wire.VerifyFrameICRC(got).Verdict)
			}
		}
	}
	f := packet(wire.RCWriteMiddle, 5, 1)
	got := newCable(t, rules(t, "rules: [{do: corruption, bit: 0}, {do: corruption, psn: 1, bit: 4000}]")).play(f,
		packet(wire.RCWriteMiddle, 5, 2))
	require.Equal(t, f[54]^1, got[0][54])
	require.Equal(t, packet(wire.RCWriteMiddle, 5, 2), got[1], "it has no such bit")
}

// An ECN mark changes the ECN bits and the IPv4 checksum, and no byte that the ICRC covers.
func TestECNMarks(t *testing.T) {
	aware, unaware := packet(wire.RCWriteMiddle, 5, 1), packet(wire.RCWriteMiddle, 5, 2)
	unaware[15] = 0
	require.NoError(t, wire.SealFrame(unaware, false))
	c := newCable(t, rules(t, "rules: [{do: ecn, psns: 9}]"))
	got := c.play(aware, unaware)
	require.EqualValues(t, 3, got[0][15]&3)
	require.Equal(t, wire.OK, wire.VerifyIPv4Header(got[0][14:]))
	require.NoError(t, wire.VerifyFrameICRC(got[0]).Err())
	require.Equal(t, unaware, got[1])
	n := c.wire.Count(inject.FromDevice)
	require.Equal(t, []uint64{1, 1}, []uint64{n.Marked, n.NotECT})
}

// Devices that run ahead of the engine send frames with a time in the past, and get frames before they arrive. The
// frames and their times must be the same as for other devices.
func TestWireOfDevicesThatRunAhead(t *testing.T) {
	play := func(ahead bool) []arrival {
		c := newCableOf(t, hostile, ahead)
		for psn := range uint32(300) {
			depart := c.Now()
			if ahead {
				require.NoError(t, c.RunUntil(c.Now()+40*simcore.Nanosecond)) // less than the latency of the link
			}
			require.Nil(t, c.ends[0].port.SendAt(c.pool.Copy(requests(psn)[0]), depart))
			require.NoError(t, c.RunUntil(depart+100*simcore.Nanosecond))
		}
		require.NoError(t, c.Run())
		require.NoError(t, c.wire.Err())
		return c.ends[1].got
	}
	got := play(true)
	require.Greater(t, len(got), 200)
	require.Equal(t, play(false), got)
}
