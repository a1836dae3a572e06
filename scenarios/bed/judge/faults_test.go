package judge_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/wire"
	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/observe/wiretap"
	"nictwin/scenarios/shell/files"
	"nictwin/scenarios/shell/home/hometest"
	"nictwin/stack/driver"
)

// write returns the frame of an RC WRITE middle packet with n bytes of payload, from one card to the other.
func write(from int, qp, psn uint32, n int) []byte {
	f := make([]byte, 14+20+8+wire.BTHSize+n+wire.ICRCSize)
	copy(f, []byte{2, 0, 0, 0, 0, byte(2 - from), 2, 0, 0, 0, 0, byte(1 + from), 8, 0})
	ip := f[14:]
	copy(ip, []byte{0x45, 2, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, byte(1 + from), 10, 0, 0, byte(2 - from)})
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
	udp := ip[20:]
	binary.BigEndian.PutUint16(udp, 0xc000)
	binary.BigEndian.PutUint16(udp[2:], wire.Port)
	binary.BigEndian.PutUint16(udp[4:], uint16(len(udp)))
	bth := wire.BTHFields{Opcode: wire.RCWriteMiddle, PKey: 0xffff, DestQP: qp, PSN: psn & 0xffffff}
	if bth.Encode(udp[8:]) != nil || wire.SealFrame(f, false) != nil {
		panic("a WRITE has no such fields")
	}
	return f
}

// playFaults lets two cards send packets to each other over a cable with faults. It returns the packets received by
// each, sorted; the faults that struck packets; and the size of the cable's recording.
func playFaults(t *testing.T, kinds [2]board.DeviceKind) (came [2][][]byte, count [2]inject.WireCount,
	recorded uint64) {
	h, err := hometest.Find()
	require.NoError(t, err)
	s, err := board.RackPreset("bf3-cores-pair")
	require.NoError(t, err)
	s.Network.Faults = &inject.WireSpec{Seed: 5, Chances: inject.Chances{Loss: 0.15, Duplication: 0.1, Disorder: 0.15,
		Corruption: 0.1, ECN: 0.2}}
	for i := range kinds {
		s.Servers[i].Cards[0].Device.Kind = kinds[i]
	}
	e, over := simcore.NewEngine(), false
	r, err := board.NewRack(e, new(board.Pools), s,
		device.Slots(device.Spec{NIC: device.Model, DUT: h.Path("nic"), Variant: "speed"}, nil))
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	dir, err := files.OpenFolder(t.TempDir())
	require.NoError(t, err)
	tap, err := wiretap.Attach(e, r, dir, 0)
	require.NoError(t, err)
	var two [2]*onArm
	for i, c := range r.Cards() {
		require.NoError(t, c.NIC.Begin(func() bool { return over }))
		two[i] = newOnArm(t, c, nicspec.EndpointArm)
		var frames [][]byte
		for k := range uint32(24) {
			frames = append(frames, write(i, 17+k%3, 0xfffffc+k/3, 64+int(k)*50))
		}
		two[i].send(frames)
	}
	require.NoError(t, e.RunUntil(e.Now()+500*simcore.Microsecond))
	for _, x := range two {
		x.d.ReadCounters(func(driver.Counters) { x.counted = true })
	}
	require.NoError(t, e.RunUntil(e.Now()+100*simcore.Microsecond))
	over = true
	require.NoError(t, e.Run())
	require.NoError(t, r.Err())
	require.NoError(t, tap.Close())
	for i, x := range two {
		require.NoError(t, x.d.Err())
		rep := x.judge.Finish(judge.Whole)
		require.True(t, rep.Passed(), "%s: %v", x.card.Name, rep)
		require.True(t, x.counted)
		came[i] = x.got
		slices.SortFunc(came[i], bytes.Compare)
		count[i] = r.Cables[0].Wire.Count(inject.Direction(i))
	}
	return came, count, tap.Cut().Written
}

// TestNICsMeetTheSameFaults checks that faults strike the same packets whatever NICs send and receive them, so that the
// received bytes are identical. The referees must not blame a NIC for the cable's faults, and the recording must have
// every packet once.
func TestNICsMeetTheSameFaults(t *testing.T) {
	model, rtl := board.DeviceModel, board.DeviceRTL
	want, count, recorded := playFaults(t, [2]board.DeviceKind{model, model})
	for _, c := range count {
		require.EqualValues(t, 24, c.In)
		for _, n := range []uint64{c.Lost, c.Held, c.Corrupted, c.Marked} {
			require.NotZero(t, n, "%+v", c)
		}
	}
	require.NotZero(t, count[0].Duplicated+count[1].Duplicated)
	require.EqualValues(t, 48, recorded)
	require.EqualValues(t, 24+count[1].Duplicated-count[1].Lost, len(want[0]))
	require.EqualValues(t, 24+count[0].Duplicated-count[0].Lost, len(want[1]))
	for _, kinds := range [][2]board.DeviceKind{{model, rtl}, {rtl, rtl}} {
		came, n, frames := playFaults(t, kinds)
		require.Equal(t, count, n)
		require.Equal(t, want, came)
		require.EqualValues(t, 48, frames)
	}
}
