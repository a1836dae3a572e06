package nic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

// TestTrim: a queue with trim does not write what follows the payload. pay_len is the number of
// bytes written to the payload buffer, with and without trim [R14].
func TestTrim(t *testing.T) {
	const pad, payload = 2, 198
	frame := nictest.RoceFrame(payload + pad)
	frame[43] |= pad << 4
	frame = append(frame, 0, 0, 0, 0, 0) // Ethernet padding
	const headers, trailer = 54, pad + 4 + 5
	for _, c := range []struct {
		trim  uint8
		mode  nicspec.SplitMode
		split uint16
		hdr   int
		pay   int
	}{
		{0, nicspec.SplitModeHeaders, 0, headers, payload + trailer},
		{1, nicspec.SplitModeHeaders, 0, headers, payload},
		{1, nicspec.SplitModeNone, 0, 0, headers + payload},
		{1, nicspec.SplitModeFixed, 251, 251, 1},
		{1, nicspec.SplitModeFixed, 252, 252, 0},
		{1, nicspec.SplitModeFixed, 256, 252, 0},
	} {
		r := openedRx(t, defaultRig())
		h := r.host
		h.OpenRx(0, 4, func(f *nicspec.RxqEntryFields) {
			f.Trim, f.SplitMode, f.SplitLen, f.PayBufSize = c.trim, c.mode, c.split, uint16(max(c.pay, 1))
		})
		const hdrAt, payAt = 0x7100_0000, 0x7200_0000
		h.Write(hdrAt, nictest.Pattern(400, 8))
		h.Write(payAt, nictest.Pattern(400, 9))
		h.Post(0, hdrAt, payAt)
		h.RingRx(0)
		r.run()
		r.peers[0].send(frame)
		r.idle()
		require.Equal(t, append(append([]byte(nil), frame[:c.hdr]...), nictest.Pattern(400, 8)[c.hdr:]...),
			h.Bytes(hdrAt, 400), "%+v", c)
		require.Equal(t, append(append([]byte(nil), frame[c.hdr:c.hdr+c.pay]...), nictest.Pattern(400, 9)[c.pay:]...),
			h.Bytes(payAt, 400), "%+v", c)
		e := h.RxCqe(0)
		require.NotNil(t, e, "%+v", c)
		require.Equal(t, [...]uint16{uint16(len(frame)), uint16(c.hdr), uint16(c.pay)},
			[...]uint16{e.FrameLen(), e.HdrLen(), e.PayLen()})
	}
}

// TestPortsTakeTurnsInDrops: a port whose frames are dropped one after another does not overtake
// the frame that waits on the other port [R13].
func TestPortsTakeTurnsInDrops(t *testing.T) {
	o := defaultRig()
	o.spec.Ports = 2
	r := openedRx(t, o)
	h := r.host
	f := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: 5} // queue 5 is Off
	// first byte of the destination address
	f.Mask[8], f.Value[8] = 0xff, 0xee
	var b [128]byte
	f.Encode(b[:])
	require.Equal(t, nicspec.TableStatusOk, h.Table(nicspec.TableOpWrite, nicspec.TableRule, 0, b[:]))
	h.OpenRx(0, 4, nil)
	h.Post(0, 0, 0x7000_0000)
	h.Post(0, 0, 0x7100_0000)
	h.Post(0, 0, 0x7200_0000)
	h.RingRx(0)
	r.run()
	h.Gate.Close() // the PCIe link takes one frame's writes and some of the next
	stray, good := nictest.Pattern(60, 1), nictest.Pattern(9000, 2)
	stray[0], good[0] = 0xee, 1
	r.peers[1].send(good)
	r.peers[1].send(good)
	require.NoError(t, r.eng.RunUntil(r.eng.Now()+3_000_000))
	const strays = 300
	for range strays {
		r.peers[0].send(stray)
	}
	r.peers[1].send(good)
	passed := uint64(0)
	r.trace = func(x boundary.Crossing) {
		if x.Kind == boundary.TLPOut && passed == 0 {
			if h := x.TLP.Parsed(); h.Kind == tlp.MWr && h.Address == 0x7200_0000 {
				passed = 1 + r.nic.Regs().Port(nicspec.CntRxDropQueueOff, 0)
			}
		}
	}
	require.NoError(t, r.eng.RunUntil(r.eng.Now()+3_000_000))
	h.Gate.Open()
	r.idle()
	require.EqualValues(t, strays, r.nic.Regs().Port(nicspec.CntRxDropQueueOff, 0))
	require.EqualValues(t, 3, r.nic.Regs().Port(nicspec.CntRxDelivered, 1))
	require.NotZero(t, passed)
	require.LessOrEqual(t, passed, uint64(nicspec.FairFrames))
}
