package nic

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/simcore"
)

// copyWqe builds an entry of the copy engine.
func copyWqe(op nicspec.Opcode, id uint32, pieces ...nictest.Piece) []byte {
	return nictest.Wqe(id, nil, pieces, func(w nicspec.Wqe) { w.SetOpcode(op) })
}

// Keys of the copy tests: a source in Arm memory, a destination in host memory.
const (
	copySrc = 7 | 3<<24
	copyDst = 8 | 4<<24
	srcBus  = 0x4000_0000
	dstBus  = 0x0100_0000_8000_0000
)

func openedCopy(t testing.TB, o rigOpt) *rig {
	o.spec.Parts |= nicspec.PartCopy
	r := openedTx(t, o)
	r.host.setKey(7, nicspec.KeyEntryFields{Valid: 1, RightRead: true, RightWrite: true, Variant: 3, Length: 1 << 26,
		BusBase: srcBus})
	r.host.setKey(8, nicspec.KeyEntryFields{Valid: 1, RightWrite: true, Variant: 4, Length: 1 << 26, BusBase: dstBus})
	return r
}

// endsWith checks that the next completion entries of a queue have these
// statuses, in ring order.
func (h *host) endsWith(q int, want ...nicspec.Status) {
	h.rig.t.Helper()
	for i, s := range want {
		e := h.TxCqe(q)
		require.NotNil(h.rig.t, e, "queue %d entry %d", q, i)
		require.Equal(h.rig.t, s, e.Status(), "queue %d entry %d", q, i)
		require.Zero(h.rig.t, e.FrameLen())
	}
	require.Nil(h.rig.t, h.TxCqe(q))
}

func TestCopies(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			o := defaultRig()
			o.shuffle, o.seed = seed&1 != 0, seed
			stall := int(seed) * 10
			o.stalls = &inject.Stalls{Seed: seed, Percent: stall, Streams: map[string]int{StreamEthOut: 0}}
			o.spec.Timing.CopyJobs, o.spec.Timing.CopyChunks = 1+int(seed), 1+int(seed)*2
			o.spec.Timing.Tags = 4 << seed
			r := openedCopy(t, o)
			h := r.host
			const queues, each = 6, 12
			want := make([]byte, 1<<21)
			src := nictest.Pattern(1<<21, seed)
			h.Write(srcBus, src)
			total, at := uint64(0), 17
			for q := range queues {
				h.OpenTx(q, 5)
				ok := make([]nicspec.Status, each)
				defer func() { h.endsWith(q, ok...) }()
				for i := range each {
					n := 1 + int(nictest.Mix(seed*1000+uint64(q*each+i))%20000)
					from := int(nictest.Mix(uint64(at)) % uint64(len(src)-n))
					copy(want[at:], src[from:from+n])
					h.PostWqe(q,
						copyWqe(nicspec.OpcodeCopy, uint32(i), nictest.Piece{Key: copySrc, Addr: uint64(from), N: n},
							nictest.Piece{Key: copyDst, Addr: uint64(at), N: n}))
					at += n + 3
					total += uint64(n)
				}
				h.RingTx(q)
			}
			r.idle()
			require.Equal(t, want, h.Bytes(dstBus, len(want)))
			require.Equal(t, total, r.nic.Regs().Dev(nicspec.CntCopyBytes))
			require.EqualValues(t, queues*each, r.nic.Regs().Dev(nicspec.CntTxWqe))
			require.Empty(t, r.mon.End())
		})
	}
}

// messages records the messages that the device sends, and the cycles of the latest message and of
// the latest write to the destination.
type messages struct {
	got       []tlp.Header
	data      [][]byte
	lastWrite int64 // last beat of the latest write to the destination
	at        int64 // last beat of the latest message
}

func (m *messages) see(x boundary.Crossing) {
	if x.Kind != boundary.TLPOut {
		return
	}
	switch h := x.TLP.Parsed(); {
	case h.Kind == tlp.MsgD:
		m.got, m.data = append(m.got, *h), append(m.data, append([]byte(nil), x.TLP.Data...))
		m.at = x.Last
	case h.Kind == tlp.MWr && h.Address >= dstBus && h.Address < dstBus+1<<26:
		m.lastWrite = x.Last
	}
}

func TestInvalidate(t *testing.T) {
	r := openedCopy(t, defaultRig())
	var m messages
	r.trace = m.see
	h := r.host
	h.OpenTx(1, 4)
	h.Write(srcBus+0x40, nictest.Pattern(8192, 4))
	h.PostWqe(1, copyWqe(nicspec.OpcodeInvalidate, 1, nictest.Piece{Key: copySrc, Addr: 0x80, N: 64}))
	h.PostWqe(1, copyWqe(nicspec.OpcodeCopyInvalidate, 2, nictest.Piece{Key: copySrc, Addr: 0x40, N: 8192},
		nictest.Piece{Key: copyDst, Addr: 5, N: 8192}))
	h.RingTx(1)
	r.idle()
	h.endsWith(1, nicspec.StatusOk, nicspec.StatusOk)
	require.Equal(t, nictest.Pattern(8192, 4), h.Bytes(dstBus+5, 8192))
	require.Len(t, m.got, 2)
	require.Greater(t, m.at, m.lastWrite)
	for i, want := range []nicspec.InvalidateMsgFields{{Addr: srcBus + 0x80, Lines: 1},
		{Addr: srcBus + 0x40, Lines: 128}} {
		require.Equal(t, want, nicspec.DecodeInvalidateMsg(m.data[i]))
		var hdr [tlp.HeaderBytes]byte
		require.NoError(t, m.got[i].Encode(&hdr))
		require.Equal(t, [tlp.HeaderBytes]byte{0x72, 0, 0, 4, 2, 0, 0, 0x7f, 0, 0, 0x4e, 0x54}, hdr)
	}
	require.EqualValues(t, 8192, r.nic.Regs().Dev(nicspec.CntCopyBytes))
}

func TestCopyErrors(t *testing.T) {
	o := defaultRig()
	o.quiet = true // the monitor does not know that reads have failed
	r := openedCopy(t, o)
	var m messages
	r.trace = m.see
	h := r.host
	h.Write32(nicspec.RegCplTimeout, 0)
	faults := map[inject.FaultKind]nicspec.Status{
		inject.FaultUR: nicspec.StatusCplUnsupported, inject.FaultCA: nicspec.StatusCplAbort,
		inject.FaultPoison:    nicspec.StatusCplPoison,
		inject.FaultByteCount: nicspec.StatusCplMalformed, inject.FaultSilent: nicspec.StatusCplTimeout,
	}
	for f, want := range faults {
		h.Faults.Clear()
		h.Fail(srcBus+4096*7+512, f)
		h.OpenTx(2, 4)
		dst := uint64(f) << 20
		h.PostWqe(2, copyWqe(nicspec.OpcodeCopyInvalidate, 1, nictest.Piece{Key: copySrc, Addr: 0, N: 1 << 17},
			nictest.Piece{Key: copyDst, Addr: dst, N: 1 << 17}))
		h.PostWqe(2, copyWqe(nicspec.OpcodeCopy, 2, nictest.Piece{Key: copySrc, Addr: 1 << 17, N: 9000},
			nictest.Piece{Key: copyDst, Addr: dst + 1<<17, N: 9000}))
		h.Write(srcBus, nictest.Pattern(1<<17+9000, uint64(f)))
		h.RingTx(2)
		r.idle()
		h.endsWith(2, want, nicspec.StatusOk)
		got, src := h.Bytes(dstBus+dst, 1<<17), nictest.Pattern(1<<17+9000, uint64(f))
		for i := range got {
			require.True(t, got[i] == src[i] || got[i] == 0, "byte %d", i)
		}
		require.Equal(t, src[1<<17:], h.Bytes(dstBus+dst+1<<17, 9000))
		require.Equal(t, nicspec.TableStatusOk, h.Table(nicspec.TableOpWrite, nicspec.TableTxq, 2, make([]byte, 64)))
	}
	require.Empty(t, m.got)
}

// TestCopyAndSendOrder: the Sends and copies of a queue are carried out in ring order [D8].
func TestCopyAndSendOrder(t *testing.T) {
	o := defaultRig()
	o.spec.Timing.TxInFlight = 2
	r := openedCopy(t, o)
	h := r.host
	h.OpenTx(3, 6)
	h.OpenTx(7, 6)
	frame := nictest.Pattern(100, 1)
	h.Write(testBus, frame)
	var log []string
	r.trace = func(x boundary.Crossing) {
		if x.Kind == boundary.FrameOut && x.Frame.Queue == 3 {
			log = append(log, "frame")
		} else if x.Kind == boundary.TLPOut {
			if a := x.TLP.Parsed().Address; a >= dstBus && a < dstBus+1<<20 &&
				(len(log) == 0 || log[len(log)-1] != "copy") {
				log = append(log, "copy")
			}
		}
	}
	var want []string
	for i := range 8 {
		h.PostWqe(3, copyWqe(nicspec.OpcodeCopy, 1, nictest.Piece{Key: copySrc, Addr: 0, N: 5000},
			nictest.Piece{Key: copyDst, Addr: uint64(i) * 6000, N: 5000}))
		h.PostWqe(3, copyWqe(nicspec.OpcodeNop, 1))
		h.PostWqe(3, nictest.Wqe(1, nil, []nictest.Piece{{Key: testKey, Addr: 0, N: 100}}, nil))
		h.PostWqe(7, nictest.Wqe(1, nil, []nictest.Piece{{Key: testKey, Addr: 0, N: 100}}, nil))
		h.PostWqe(7, copyWqe(nicspec.OpcodeCopy, 1, nictest.Piece{Key: copySrc, Addr: 0, N: 5000},
			nictest.Piece{Key: copyDst, Addr: 1<<20 + uint64(i)*6000, N: 5000}))
		want = append(want, "copy", "frame")
	}
	h.RingTx(3)
	h.RingTx(7)
	r.idle()
	require.Equal(t, want, log)
	require.EqualValues(t, 40, r.nic.Regs().Dev(nicspec.CntTxWqe))
}

// TestCopyRate: the copy engine copies 64 B a cycle [D9].
func TestCopyRate(t *testing.T) {
	for _, n := range []int{4096, 1 << 20} {
		for mps, want := range []float64{62, 64} { // MPS 128: reads and completion entries take the other beats
			o := defaultRig()
			o.quiet, o.latency = true, 50*simcore.Nanosecond
			o.link = simcore.LinkSpec{Latency: 50 * simcore.Nanosecond, Credits: 256}
			r := openedCopy(t, o)
			h := r.host
			h.Write32(nicspec.RegDevctl, uint32(mps|(mps*2)<<4))
			h.OpenTx(0, 10)
			first, last := int64(0), int64(0)
			r.trace = func(x boundary.Crossing) {
				if x.Kind == boundary.TLPOut && x.TLP.Parsed().Kind == tlp.MWr &&
					x.TLP.Parsed().Address < dstBus+1<<26 && x.TLP.Parsed().Address >= dstBus {
					if first == 0 {
						first = x.Last
					}
					last = x.Last
				}
			}
			for i := range (4 << 20) / n {
				h.PostWqe(0, copyWqe(nicspec.OpcodeCopy, 1, nictest.Piece{Key: copySrc, Addr: 0, N: n},
					nictest.Piece{Key: copyDst, Addr: uint64(i * n), N: n}))
			}
			h.RingTx(0)
			r.run()
			rate := float64(4<<20) / float64(last-first+1)
			t.Logf("copies of %d B, MPS %d: %.1f B a cycle", n, 128<<mps, rate)
			require.GreaterOrEqual(t, rate, want, "copies of %d B, MPS %d", n, 128<<mps)
		}
	}
}

func TestCopyNeedsItsPart(t *testing.T) {
	r := openedTx(t, plainRig())
	h := r.host
	h.OpenTx(0, 4)
	h.PostWqe(0, copyWqe(nicspec.OpcodeCopy, 1, nictest.Piece{Key: testKey, Addr: 0, N: 8},
		nictest.Piece{Key: testKey, Addr: 64, N: 8}))
	h.RingTx(0)
	r.idle()
	h.endsWith(0, nicspec.StatusBadOpcode)
}

func TestCopyAllocatesNothing(t *testing.T) {
	o := defaultRig()
	o.quiet = true
	r := openedCopy(t, o)
	h := r.host
	h.OpenTx(0, 8)
	raw := copyWqe(nicspec.OpcodeCopyInvalidate, 1, nictest.Piece{Key: copySrc, Addr: 0, N: 1 << 16},
		nictest.Piece{Key: copyDst, Addr: 3, N: 1 << 16})
	work := func() {
		for range 8 {
			h.PostWqe(0, raw)
		}
		h.RingTx(0)
		r.run()
	}
	for range 3 {
		work()
	}
	h.Answers[0] = nictest.Answer{}
	require.Less(t, testing.AllocsPerRun(5, work), 20.0) // allocated by the test itself
}
