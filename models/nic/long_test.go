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

// longWqe returns an entry of so many blocks whose frame consists of inline bytes, a pattern made
// from the id.
func longWqe(id uint32, blocks int) []byte {
	n := nicspec.InlineMax + (blocks-1)*nicspec.WqeMoreSlots*nicspec.WqeSlotBytes
	return nictest.Blocks(blocks, id, nictest.Pattern(min(n, nicspec.InlineMaxLong), uint64(id)), nil,
		func(w nicspec.Wqe) { w.SetFPad(true) })
}

// sent checks that the frames of entries made by longWqe left in order, with ids from `first` on.
func (r *rig) sent(t *testing.T, first uint32, blocks ...int) {
	t.Helper()
	require.Len(t, r.peers[0].got, len(blocks))
	for i, f := range r.peers[0].got {
		w := nicspec.Wqe(longWqe(first+uint32(i), blocks[i]))
		want := w[16 : 16+w.InlineLen()]
		require.Equal(t, []byte(want), f.data[:len(want)], "frame %d", i)
	}
	r.peers[0].got = nil
}

// TestLongEntries: entries of every length are sent from every place of the ring, including across
// its end. Their blocks are read, pushed or both, by devices with large and small windows.
func TestLongEntries(t *testing.T) {
	for _, depth := range []int{4, 8, 256} {
		for _, log := range []int{2, 3, 6} {
			t.Run(fmt.Sprint(depth, " ", log), func(t *testing.T) {
				o := defaultRig()
				o.spec.Timing.TxPrefetch = depth
				o.shuffle, o.seed = true, uint64(depth+log)
				r := openedTx(t, o)
				h := r.host
				h.OpenTx(2, log)
				at := uint16(0)
				for i := range uint32(120) {
					blocks := 1 + int(nictest.Mix(uint64(i))%nicspec.WqeBlocksMax)
					raw := longWqe(i, blocks)
					for ; len(raw) > 0; raw = raw[nicspec.WqeBytes:] {
						if nictest.Mix(uint64(i)<<8+uint64(len(raw)))%3 == 0 {
							h.RingTx(2)
							h.push(2, raw[:nicspec.WqeBytes], true)
						} else {
							h.PostWqe(2, raw[:nicspec.WqeBytes])
						}
					}
					h.RingTx(2)
					r.idle()
					r.sent(t, i, blocks)
					e := h.TxCqe(2)
					require.NotNil(t, e)
					require.Equal(t, [...]uint16{at, uint16(i)}, [...]uint16{e.Index(), uint16(e.WqeId())})
					at += uint16(blocks)
					require.Equal(t, at, r.nic.Regs().Txq(2).CI)
				}
				require.EqualValues(t, 120, r.nic.Regs().Dev(nicspec.CntTxWqe), "entries, not blocks")
			})
		}
	}
}

// TestLongEntriesInLittleRoom: an entry never waits for room that later entries occupy, even if the
// device can hold no more blocks than the longest entry has.
func TestLongEntriesInLittleRoom(t *testing.T) {
	o := defaultRig()
	o.spec.Timing.TxPrefetch = nicspec.WqeBlocksMax
	r := openedTx(t, o)
	h := r.host
	h.OpenTx(0, 6)
	blocks := []int{1, 4, 4, 2, 4, 3, 3, 4, 1, 4, 4, 4}
	for i, n := range blocks {
		h.PostWqe(0, longWqe(uint32(i), n))
	}
	h.RingTx(0)
	r.idle()
	r.sent(t, 0, blocks...)
}

// TestRingReadFailsBehindAnEntrysBegin: the read of an entry's first blocks may complete after the
// read of its next blocks has failed. The entry does not start, and the Event is written.
func TestRingReadFailsBehindAnEntrysBegin(t *testing.T) {
	for seed := range uint64(20) {
		o := defaultRig()
		o.quiet, o.shuffle, o.seed = true, true, seed // reads complete in random order
		r := openedTx(t, o)
		h := r.host
		h.OpenTx(1, 4)
		h.PostWqe(1, longWqe(0, 1))
		h.RingTx(1)
		r.idle()
		r.sent(t, 0, 1)
		require.Equal(t, nicspec.StatusOk, h.TxCqe(1).Status())
		h.Fail(nictest.TxRing(1)+64*4, inject.FaultUR)
		h.PostWqe(1, longWqe(1, 4))
		h.RingTx(1)
		r.idle()
		e := h.TxCqe(1)
		require.NotNil(t, e, "no Event")
		require.Equal(t, nicspec.CqeTypeEvent, e.Type())
		require.EqualValues(t, 4, e.Index())
		require.Empty(t, r.peers[0].got)
		require.EqualValues(t, 1, r.nic.Regs().Txq(1).CI)
	}
}

// TestPartOfAnEntryWaits: an entry waits until all its blocks are posted [T14]. Meanwhile the device
// is not busy [B8].
func TestPartOfAnEntryWaits(t *testing.T) {
	for _, pushed := range []bool{false, true} {
		r := openedTx(t, defaultRig())
		h := r.host
		h.OpenTx(1, 3)
		first, second := longWqe(0, 2), longWqe(1, 4)
		post := func(raw []byte) {
			if pushed {
				h.PushWqe(1, raw)
				return
			}
			h.PostWqe(1, raw)
			h.RingTx(1)
		}
		post(append(first, second[:64]...))
		r.idle()
		r.sent(t, 0, 2)
		post(second[64:128])
		post(second[128:192])
		r.idle()
		require.Empty(t, r.peers[0].got)
		require.EqualValues(t, 2, r.nic.Regs().Txq(1).CI)
		post(second[192:])
		r.idle()
		r.sent(t, 1, 4)
		require.EqualValues(t, 6, r.nic.Regs().Txq(1).CI)
	}
}

// TestPartOfAnEntryIsForgotten: disabling a queue, or a function-level reset, discards the posted
// blocks of an incomplete entry.
func TestPartOfAnEntryIsForgotten(t *testing.T) {
	r := openedTx(t, defaultRig())
	h := r.host
	for i := range uint32(3) {
		h.OpenTx(1, 3)
		h.PostWqe(1, append(longWqe(2*i, 2), longWqe(9, 4)[:192]...))
		h.RingTx(1)
		r.idle()
		r.sent(t, 2*i, 2)
		require.Equal(t, nicspec.TableStatusOk, h.Table(nicspec.TableOpWrite, nicspec.TableTxq, 1, make([]byte, 64)))
		r.idle()
	}
	h.OpenTx(1, 3)
	h.PostWqe(1, longWqe(9, 4)[:192])
	h.RingTx(1)
	r.run()
	ctrl := nicspec.CtrlReg(0)
	ctrl.SetFlr(true)
	h.Write32(nicspec.RegCtrl, uint32(ctrl))
	r.idle()
	require.Zero(t, uint32(h.Reg(nicspec.RegCtrl, 1)))
	h.Write32(nicspec.RegCtrl, 3)
	h.OpenTx(1, 3)
	h.PostWqe(1, longWqe(7, 3))
	h.RingTx(1)
	r.idle()
	r.sent(t, 7, 3)
}

// TestRingReadFailsInsideAnEntry: the Event names the first block of the failed read. Entries
// wholly before it end, and the entry that reaches into it does not start [T2].
func TestRingReadFailsInsideAnEntry(t *testing.T) {
	for _, c := range []struct {
		entries []int  // number of blocks of each
		fails   uint16 // first block whose read fails
		ends    int    // number of entries that end
	}{
		{[]int{4, 4}, 4, 1}, {[]int{1, 4, 1}, 4, 1}, {[]int{3, 2}, 4, 1}, {[]int{2, 2, 4}, 0, 0},
		{[]int{1, 1, 1, 1, 4}, 4, 4}, {[]int{3, 4, 4}, 8, 2},
	} {
		for _, depth := range []int{8, 64} {
			o := defaultRig()
			o.quiet, o.spec.Timing.TxPrefetch = true, depth
			r := openedTx(t, o)
			h := r.host
			h.OpenTx(1, 5)
			h.Fail(nictest.TxRing(1)+64*uint64(c.fails), inject.FaultCA)
			for i, blocks := range c.entries {
				h.PostWqe(1, longWqe(uint32(i), blocks))
			}
			h.RingTx(1)
			r.idle()
			r.sent(t, 0, c.entries[:c.ends]...)
			for range c.ends {
				require.Equal(t, nicspec.StatusOk, h.TxCqe(1).Status(), "%v", c)
			}
			e := h.TxCqe(1)
			require.NotNil(t, e, "%v: no Event", c)
			require.Equal(t, nicspec.CqeTypeEvent, e.Type())
			require.Equal(t, c.fails, e.Index())
			require.Nil(t, h.TxCqe(1))
			require.Equal(t, nicspec.QueueStateError, r.nic.Regs().Txq(1).State)
			require.Equal(t, nicspec.TableStatusOk,
				h.Table(nicspec.TableOpWrite, nicspec.TableTxq, 1, make([]byte, 64)))
		}
	}
}

// countReads counts in n the read requests for addresses from lo up to hi.
func (r *rig) countReads(lo, hi uint64, n *int) {
	r.trace = func(x boundary.Crossing) {
		if x.Kind != boundary.TLPOut {
			return
		}
		if h := x.TLP.Parsed(); h.Kind == tlp.MRd && h.Address >= lo && h.Address < hi {
			*n++
		}
	}
}

// TestAppendedTrailer: with f_append the device appends the trailer that software would otherwise
// lay out in memory, and so reads one piece less [T15], [C4].
func TestAppendedTrailer(t *testing.T) {
	r := openedTx(t, defaultRig())
	h := r.host
	h.OpenTx(1, 4)
	reads := 0
	r.countReads(testBus, testBus+testSpan, &reads)
	for pad := range 4 {
		// Payload and pad bytes make a multiple of four.
		frame := nictest.RoceFrame(200)
		frame[14+20+8+1] = frame[14+20+8+1]&^0x30 | uint8(pad)<<4
		payload := 200 - pad
		clear(frame[54+payload:])
		h.Write(testBus, frame[54:54+payload])
		h.Write(testBus+0x1000, make([]byte, 7))
		mod := func(w nicspec.Wqe) {
			w.SetFIcrc(true)
			w.SetFIpCsum(true)
			w.SetL3Off(14)
			w.SetL4Off(34)
		}
		body := nictest.Piece{Key: testKey, Addr: 0, N: payload}
		h.PostWqe(1, nictest.Entry(1, frame[:54], []nictest.Piece{body, {Key: testKey, Addr: 0x1000, N: pad + 4}}, mod))
		h.RingTx(1)
		r.idle()
		before := reads
		reads = 0
		h.PostWqe(1,
			nictest.Entry(2, frame[:54], []nictest.Piece{body}, func(w nicspec.Wqe) { mod(w); w.SetFAppend(true) }))
		h.RingTx(1)
		r.idle()
		require.Equal(t, [...]int{2, 1}, [...]int{before, reads})
		reads = 0
		h.endsLike(1, len(frame), len(frame))
		require.Equal(t, r.peers[0].got[0].data, r.peers[0].got[1].data)
		r.peers[0].got = nil
	}
}

// endsLike checks that the next completion entries of a queue have status Ok and these frame
// lengths.
func (h *host) endsLike(q int, lengths ...int) {
	h.rig.t.Helper()
	for _, n := range lengths {
		e := h.TxCqe(q)
		require.NotNil(h.rig.t, e)
		require.Equal(h.rig.t, nicspec.StatusOk, e.Status())
		require.EqualValues(h.rig.t, n, e.FrameLen())
	}
}

// TestLongEntriesAtLineRate: entries of two blocks reach line rate with frames of 512 B, with 66 B
// of headers inline, one piece, and the trailer appended [C4].
func TestLongEntriesAtLineRate(t *testing.T) {
	for _, complete := range []bool{false, true} {
		o := defaultRig()
		o.quiet = true
		o.link = simcore.LinkSpec{Latency: 640 * simcore.Nanosecond, Credits: 4096}
		r := openedTx(t, o)
		h := r.host
		frame := nictest.RoceFrame(512 - 58)
		h.Write(testBus, frame[66:])
		var out pace
		r.trace = func(x boundary.Crossing) {
			if x.Kind == boundary.FrameOut {
				out.note(x.Last)
			}
		}
		h.OpenTx(0, 12)
		raw := nictest.Entry(1, frame[:66], []nictest.Piece{{Key: testKey, Addr: 0, N: 512 - 66 - 4}},
			func(w nicspec.Wqe) {
				w.SetFComplete(complete)
				w.SetFIcrc(true)
				w.SetFAppend(true)
				w.SetL3Off(14)
				w.SetL4Off(34)
			})
		require.Len(t, raw, 2*nicspec.WqeBytes)
		r.peers[0].drop = true
		const frames = 1500
		for range frames {
			h.PostWqe(0, raw)
		}
		h.RingTx(0)
		r.run()
		require.EqualValues(t, frames, r.nic.Regs().Port(nicspec.CntTxFrames, 0))
		t.Logf("a frame of 512 B in every %.2f cycles", out.cycles())
		require.LessOrEqual(t, out.cycles(), 8.0)
	}
}

func TestLongEntriesAllocateNothing(t *testing.T) {
	o := defaultRig()
	o.quiet, o.bare = true, true
	r := openedTx(t, o)
	h := r.host
	h.OpenTx(0, 8)
	raw := nictest.Entry(1, nictest.Pattern(70, 1),
		[]nictest.Piece{{Key: testKey, Addr: 0, N: 100}, {Key: testKey, Addr: 200, N: 100}}, nil)
	r.peers[0].drop = true
	work := func() {
		for range 20 {
			h.PostWqe(0, raw)
		}
		h.RingTx(0)
		r.run()
	}
	for range 30 {
		work()
	}
	require.Less(t, testing.AllocsPerRun(5, work), 8.0) // the test itself allocates, the NIC does not
}
