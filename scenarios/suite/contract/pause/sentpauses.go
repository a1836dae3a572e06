package pause

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// flood plays n frames of 1,024 B, which wait in the receive buffer since the read of their descriptors is delayed.
func flood(r *kit.Rig, x *kit.RxRing, n int, delay int) {
	r.T.Helper()
	r.Bed.Faults.Clear()
	require.NoError(r.T,
		r.Bed.Faults.Add(inject.Fault{From: x.At(x.PI), To: x.At(x.PI) + 16, Delay: r.Bed.Cycles(delay), Count: 1}))
	r.Post(x, n)
	for i := range n {
		r.Play(kit.Blob(1024, uint64(i)))
	}
}

// ownPause returns the pause frame that [F6] requires, with the given time.
func ownPause(r *kit.Rig, f *nicspec.PortEntryFields, mac []byte, time uint16) []byte {
	b := pauseFrame(nicspec.PauseOpcode, time)
	if f.TxMode == nicspec.PauseModePriority {
		b = ClassPause(0, 0)
		kit.BigEndian.PutUint16(b[16:], uint16(f.TxClasses))
		for i := range 8 {
			v := uint16(0)
			if f.TxClasses>>i&1 != 0 {
				v = time
			}
			kit.BigEndian.PutUint16(b[18+2*i:], v)
		}
	}
	copy(b[6:], mac)
	return b
}

// setMac writes PORT_MAC of the port.
func setMac(r *kit.Rig, mac []byte) {
	r.T.Helper()
	p := r.PortOf(0)
	r.Write(nicspec.RegPortMac(2*p), uint32(mac[0])|uint32(mac[1])<<8|uint32(mac[2])<<16|uint32(mac[3])<<24)
	r.Write(nicspec.RegPortMac(2*p+1), uint32(mac[4])|uint32(mac[5])<<8|0xbeef<<16) // the upper half is ignored
	r.Synced()
}

func pausesSent(r *kit.Rig) {
	mac := []byte{0x02, 0xa1, 0xb2, 0xc3, 0xd4, 0xe5}
	setMac(r, mac)
	x := r.OpenRx(1, 8, nil)
	r.ReceiveAll(1)
	for _, mode := range []nicspec.PauseMode{nicspec.PauseModePause, nicspec.PauseModePriority} {
		cfg := nicspec.PortEntryFields{TxMode: mode, TxClasses: 0x92, PauseTime: 1000, Xoff: 8192, Xon: 2048}
		PortCfg(r, cfg)
		before, first := r.Counters(), r.Ordinal()
		p := Pauses(r)
		const n = 20
		flood(r, x, n, 4000)
		for i := range n {
			r.Delivered(x, first+i, nicspec.RuleNone)
		}
		r.Quiet()
		r.Frames = nil
		own := 0
		for i, s := range r.Out {
			require.Equal(r.T, nicspec.PauseQueue, s.Queue)
			time := cfg.PauseTime
			if i == len(r.Out)-1 {
				time = 0
			}
			require.Equal(r.T, ownPause(r, &cfg, mac, time), s.Data, "pause frame %d of %d", i, len(r.Out))
			own++
		}
		require.GreaterOrEqual(r.T, own, 4, "pause frames: one when the buffer fills, more while it stays so, one at "+
			"the end")
		for i := 1; i < own-1; i++ {
			gap := p.Begins[i].First - p.Begins[i-1].First
			require.GreaterOrEqual(r.T, gap, 500*Quantum(r)-nicspec.VisibleCycles, "cycles between pause frames")
			require.LessOrEqual(r.T, gap, 500*Quantum(r)+2*nicspec.VisibleCycles, "cycles between pause frames")
		}
		r.Out = nil
		want := kit.Steps{kit.PortCounter(nicspec.CntRxFrames): n,
			kit.PortCounter(nicspec.CntRxBytes): 1024 * n}.Taken(n).With(kit.PortCounter(nicspec.CntTxPause), own)
		r.Moved("pauses sent", before, want)
	}
}

// pausesInAStop fills the buffer of a port that is itself stopped.
func pausesInAStop(r *kit.Rig) {
	x := r.OpenRx(1, 8, nil)
	r.ReceiveAll(1)
	PortCfg(r, nicspec.PortEntryFields{RxPause: 1, TxMode: nicspec.PauseModePause, PauseTime: 2000, Xoff: 8192,
		Xon: 2048})
	p := Pauses(r)
	r.Play(pauseFrame(1, 0xffff))
	r.Until("the pause has come in", func() bool { return len(p.Ins) == 1 })
	first := r.Ordinal()
	flood(r, x, 16, 2500)
	for i := range 16 {
		r.Delivered(x, first+i, nicspec.RuleNone)
	}
	r.Quiet()
	require.GreaterOrEqual(r.T, len(r.Out), 2)
	for i, c := range p.Begins {
		require.Equal(r.T, nicspec.PauseQueue, c.Port)
		require.Less(r.T, c.Last, p.Ins[0]+0xffff*Quantum(r), "pause frame %d", i)
	}
	r.Frames, r.Out = nil, nil
	r.Play(pauseFrame(1, 0))
	r.Quiet()
}

// pausesEnd sets tx_mode to 0 while the buffer is full: no pause frame is sent any more, not even
// the one that would end the pause.
func pausesEnd(r *kit.Rig) {
	x := r.OpenRx(1, 8, nil)
	r.ReceiveAll(1)
	PortCfg(r, nicspec.PortEntryFields{TxMode: nicspec.PauseModePause, PauseTime: 1000, Xoff: 8192, Xon: 2048})
	first := r.Ordinal()
	flood(r, x, 16, 5000)
	r.Until("a pause is sent", func() bool { return len(r.Out) > 0 })
	PortCfg(r, nicspec.PortEntryFields{})
	n := len(r.Out)
	for i := range 16 {
		r.Delivered(x, first+i, nicspec.RuleNone)
	}
	r.Quiet()
	require.Len(r.T, r.Out, n)
	r.Out = nil
}
