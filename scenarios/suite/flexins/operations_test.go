package flexins

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/inject"
	"nictwin/models/nic/nictest"
	"nictwin/stack/flexins/data"
	"nictwin/stack/pipe"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

var bothModels = [2]board.DeviceKind{board.DeviceModel, board.DeviceModel}

// TestFlexinsSend sends 4 KB from host memory to host memory: requests and completions travel by pipes, headers through
// the Arm cores.
func TestFlexinsSend(t *testing.T) {
	r := newDuo(t, 1, data.DefaultSpec(), bothModels, nil)
	a, b := r.nodes[0], r.nodes[1]
	r.pair(verbs.QPTRC, 0x100, nil)
	bytes := nictest.Pattern(4096, 7)
	a.write(0x1000, bytes)
	b.recv(0x100, pipe.Span{Addr: 0x20000, Bytes: 4096})
	a.post(pipe.SendElement{Opcode: verbs.WRSend, Flags: verbs.SendSignaled, QPN: 0x100, ID: 77,
		Spans: []pipe.Span{{Addr: 0x1000, Bytes: 4096}}})
	r.settle()
	require.Equal(t, []pipe.Completion{{ID: 77, Opcode: verbs.WCSend, QPN: 0x100}}, a.wcs)
	require.Equal(t, []pipe.Completion{{ID: 0, Opcode: verbs.WCRecv, QPN: 0x100, Bytes: 4096, Recv: true}}, b.wcs)
	require.Equal(t, bytes, b.read(0x20000, 4096))
	r.finish()
}

// TestFlexinsForeignFrames checks that frames to the address of another server, which a switch may flood, are dropped
// even if they name a queue pair.
func TestFlexinsForeignFrames(t *testing.T) {
	r := newDuo(t, 1, data.DefaultSpec(), bothModels, nil)
	a, b := r.nodes[0], r.nodes[1]
	r.pair(verbs.QPTUC, 0x100, func(x *transport.Attr) { x.Path.Peer.MAC = mac(7) })
	b.recv(0x100, pipe.Span{Addr: 0x20000, Bytes: 64})
	a.post(pipe.SendElement{Opcode: verbs.WRSend, Flags: verbs.SendSignaled, QPN: 0x100, ID: 77,
		Spans: []pipe.Span{{Addr: 0x1000, Bytes: 64}}})
	r.settle()
	require.Len(t, a.wcs, 1)
	require.Empty(t, b.wcs)
	st := b.data.Stats()
	require.EqualValues(t, []uint64{0, 1}, []uint64{st.Received, st.Stray})
	r.finish()
}

// workload posts operations of all kinds and lengths over queue pairs on several cores, and checks every byte.
func (r *duo) workload(rounds int, qpns ...uint32) {
	a, b := r.nodes[0], r.nodes[1]
	const far, in = 16 << 20, 32 << 20
	for _, qpn := range qpns {
		r.pair(verbs.QPTRC, qpn, nil)
	}
	shadow := make([]byte, regionBytes) // expected content of b's memory
	received := map[uint32]int{}
	sent := map[uint32][]uint64{}
	got := map[uint64][]byte{} // results of READs, by destination
	at := uint64(0)
	for round := range rounds {
		for _, qpn := range qpns {
			n := []int{0, 1, 63, 64, 1024, 4096, 4097, 9000}[(round+int(qpn))%8]
			op := []verbs.Opcode{verbs.WRWrite, verbs.WRSend, verbs.WRRead, verbs.WRWriteImm, verbs.WRFetchAdd,
				verbs.WRSendImm}[round%6]
			bytes := nictest.Pattern(n, uint64(round)<<32|uint64(qpn))
			a.write(at, bytes)
			e := pipe.SendElement{Opcode: op, Flags: verbs.SendSignaled, QPN: qpn, ID: uint64(round), Imm: 5,
				RKey: b.mr.RKey, RemoteAddr: b.mr.Addr + far + at}
			for off := 0; off < n; { // the READ's answer may be compared in pieces
				k := min(n-off, 3000+round%7)
				e.Spans = append(e.Spans, pipe.Span{Addr: at + uint64(off), Bytes: uint32(k)})
				off += k
			}
			switch {
			case op.IsAtomic():
				e.RemoteAddr, e.CompareAdd, e.Spans = b.mr.Addr+far-64, 3, []pipe.Span{{Addr: at, Bytes: 8}}
				binary.LittleEndian.PutUint64(shadow[far-64:], binary.LittleEndian.Uint64(shadow[far-64:])+3)
			case op.IsSend():
				b.recv(qpn, pipe.Span{Addr: in + at, Bytes: uint32(n/2 + 1)},
					pipe.Span{Addr: in + at + uint64(n/2) + 1, Bytes: uint32(n)})
				copy(shadow[in+at:], bytes)
				received[qpn]++
			case op == verbs.WRRead:
				b.write(far+at, bytes)
				a.write(at, make([]byte, n))
				got[at] = bytes
				copy(shadow[far+at:], bytes)
			default:
				copy(shadow[far+at:], bytes)
				if op.HasImm() {
					b.recv(qpn)
					received[qpn]++
				}
			}
			a.post(e)
			sent[qpn] = append(sent[qpn], e.ID)
			at += 9216 + 64
		}
		if round%2 == 1 {
			r.settle()
		}
	}
	r.settle()
	r.completed(a.wcs, sent)
	for _, w := range b.wcs {
		require.Equal(r, verbs.WCSuccess, w.Status)
		received[w.QPN]--
	}
	for qpn, n := range received {
		require.Zero(r, n, "receives of %#x", qpn)
	}
	require.Equal(r, shadow[far-64:far+at], b.read(far-64, int(at+64)))
	require.Equal(r, shadow[in:in+at], b.read(in, int(at)))
	for off, bytes := range got {
		require.Equal(r, bytes, a.read(off, len(bytes)))
	}
}

// completed checks that the completions of each queue pair come in the order of its requests.
func (r *duo) completed(wcs []pipe.Completion, want map[uint32][]uint64) {
	got := map[uint32][]uint64{}
	for _, w := range wcs {
		require.Equal(r, verbs.WCSuccess, w.Status, "%+v", w)
		got[w.QPN] = append(got[w.QPN], w.ID)
	}
	require.Equal(r, want, got)
}

// staged makes payload pass through a staging ring so small that the workload fills it many times.
func staged(s *data.Spec) { s.Transmit, s.StagingBytes = data.DMAStaged, 1<<20 }

// TestFlexinsOperations runs all operations over several cores and queue pairs, with either recovery, with and
// without loss, and on either NIC.
func TestFlexinsOperations(t *testing.T) {
	for _, c := range []struct {
		name     string
		recovery transport.Recovery
		receive  data.ReceiveKind
		loss     bool
		kinds    [2]board.DeviceKind
		change   func(*data.Spec)
	}{
		{"go_back_n", transport.GoBackN, data.InCache, false, bothModels, nil},
		{"naive", transport.GoBackN, data.Naive, false, bothModels, nil},
		{"go_back_n_loss", transport.GoBackN, data.InCache, true, bothModels, nil},
		{"selective_repeat_loss", transport.SelectiveRepeat, data.InCache, true, bothModels, nil},
		{"rtl", transport.GoBackN, data.InCache, false, [2]board.DeviceKind{board.DeviceModel, board.DeviceRTL}, nil},
		{"rtl_loss", transport.SelectiveRepeat, data.InCache, true,
			[2]board.DeviceKind{board.DeviceRTL, board.DeviceModel}, nil},
		{"staged", transport.GoBackN, data.InCache, false, bothModels, staged},
		{"staged_invalidate_loss", transport.SelectiveRepeat, data.InCache, true, bothModels, func(s *data.Spec) {
			staged(s)
			s.StagingInvalidate = true
		}},
		{"staged_rtl_loss", transport.GoBackN, data.InCache, true,
			[2]board.DeviceKind{board.DeviceRTL, board.DeviceModel}, staged},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := data.DefaultSpec()
			s.Recovery, s.Receive = c.recovery, c.receive
			if c.change != nil {
				c.change(&s)
			}
			r := newDuo(t, 3, s, c.kinds, func(b *board.RackSpec) {
				if c.loss {
					b.Network.Loss = &inject.LossSpec{Seed: 3, Share: 0.02}
				}
			})
			r.workload(12, 0x100, 0x101, 0x206)
			st := r.nodes[1].data.Stats()
			require.Equal(t, c.receive == data.InCache, st.Invalidations > 0)
			require.Zero(t, st.BadICRC+st.Malformed+st.Stray)
			require.Equal(t, c.change != nil, st.Staged > 0)
			t.Logf("%+v", st)
			r.finish()
		})
	}
}
