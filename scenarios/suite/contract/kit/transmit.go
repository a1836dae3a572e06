package kit

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
)

// Window is a memory key with the memory that it gives access to.
type Window struct {
	ID     uint32 // key number in work entries
	Va     uint64
	Bus    uint64
	Length int
	used   int
}

// Key writes a memory key.
func (r *Rig) Key(index int, f nicspec.KeyEntryFields) {
	r.T.Helper()
	r.Commit(nicspec.TableKey, index, Encode(&f, nicspec.KeyEntrySize))
	r.Keys[index] = f
}

// Window makes n bytes of an endpoint's memory accessible under a key.
func (r *Rig) Window(index, endpoint, n int) *Window {
	r.T.Helper()
	w := &Window{Va: 0x7000_0000_0000 + uint64(index)<<32 + 0x123, Bus: r.Alloc(endpoint, n, 4096), Length: n}
	variant := uint8(0x11 * (index + 3))
	w.ID = driver.KeyID(index, variant)
	r.Key(index, nicspec.KeyEntryFields{Valid: 1, RightRead: true, Variant: variant, VaBase: w.Va, Length: uint64(n),
		BusBase: w.Bus})
	return w
}

// Piece stores bytes in the window, `skew` bytes after a multiple of `align`, and returns the piece with them. A full
// window is reused from its start.
func (r *Rig) Piece(w *Window, skew, align int, b []byte) nicspec.SegFields {
	r.T.Helper()
	at := (w.used+align-1)/align*align + skew
	if at+len(b) > w.Length {
		at = skew
	}
	require.LessOrEqual(r.T, at+len(b), w.Length, "the window is too small")
	r.Store(w.Bus+uint64(at), b)
	w.used = at + len(b)
	return nicspec.SegFields{Key: w.ID, Len: uint32(len(b)), Addr: w.Va + uint64(at)}
}

// SendEntry returns a work entry that sends inline bytes and pieces.
func SendEntry(inline []byte, pieces ...nicspec.SegFields) nicspec.WqeFields {
	w := nicspec.WqeFields{Opcode: nicspec.OpcodeSend, InlineLen: uint8(len(inline)), Nseg: uint8(len(pieces)),
		FComplete: true}
	copy(w.Slots[:], inline)
	for i := range pieces {
		if at := (InlineSlots(&w) + i) * nicspec.WqeSlotBytes; at < len(w.Slots) {
			pieces[i].Encode(w.Slots[at:])
		}
	}
	return w
}

// Posted is a work entry and its expected result.
type Posted struct {
	LongEntry
	Frame  []byte
	Status nicspec.Status
}

// StoreEntry writes the blocks of a work entry into a ring.
func (r *Rig) StoreEntry(x *TxRing, index uint16, w *LongEntry) {
	r.T.Helper()
	b := r.WireLong(w)
	for i := range w.BlocksOf(&r.Sizes) {
		r.Store(x.At(index+uint16(i)), b[i*nicspec.WqeBytes:][:nicspec.WqeBytes])
	}
}

// CameOut checks that the next frame that left from a queue is that of the given work entry, on the entry's port.
func (r *Rig) CameOut(q int, p *Posted, index uint16) {
	r.T.Helper()
	s := r.Left(q)
	require.Equal(r.T, p.Frame, s.Data, "frame of entry %d: %+v", index, p.WqeFields)
	require.Equal(r.T, int(p.Port), s.Port, "port of entry %d's frame, counted from port %d of the NIC",
		index, r.eth)
}

// Enqueue writes work entries into a ring without ringing the doorbell, and returns their expected
// results.
func (r *Rig) Enqueue(x *TxRing, entries ...nicspec.WqeFields) []Posted {
	r.T.Helper()
	var all []Posted
	for i := range entries {
		if entries[i].WqeId == 0 {
			entries[i].WqeId = uint32(x.Number)<<24 | uint32(x.PI)
		}
		all = append(all, r.EnqueueLong(x, One(entries[i]))...)
	}
	return all
}

// EnqueueLong is Enqueue for entries of any number of blocks.
func (r *Rig) EnqueueLong(x *TxRing, entries ...LongEntry) []Posted {
	r.T.Helper()
	var all []Posted
	for i := range entries {
		w := &entries[i]
		if w.WqeId == 0 {
			w.WqeId = uint32(x.Number)<<24 | uint32(x.PI)
		}
		r.StoreEntry(x, x.PI, w)
		x.PI += uint16(w.BlocksOf(&r.Sizes))
		frame, status := Expected(w, x.EcnMode, r.Keys, &r.Sizes, r.Load)
		all = append(all, Posted{*w, frame, status})
	}
	return all
}

// Left returns and removes the next frame that left from a queue. It fails the test if none has left.
func (r *Rig) Left(q int) sent {
	r.T.Helper()
	for i, s := range r.Out {
		if s.Queue == q {
			r.Out = append(r.Out[:i:i], r.Out[i+1:]...)
			return s
		}
	}
	require.FailNow(r.T, "no frame left", "queue %d", q)
	return sent{}
}

// Ended waits for the ends of work entries, in order from an index on, and compares frames and
// completion entries.
func (r *Rig) Ended(x *TxRing, first uint16, all []Posted) {
	r.T.Helper()
	for _, p := range all {
		index := first
		first += uint16(p.BlocksOf(&r.Sizes))
		if !p.FComplete && p.Status == nicspec.StatusOk {
			if p.Frame != nil {
				r.Until("a frame leaves", func() bool { return r.LeftFrom(x.Number) })
				r.CameOut(x.Number, &p, index)
			}
			continue
		}
		want := nicspec.TxCqeFields{Type: nicspec.CqeTypeTx, Status: p.Status, Queue: uint16(x.Number), Index: index,
			WqeId:    p.WqeId,
			FrameLen: uint16(len(p.Frame)), Phase: x.Phase(x.CQI)}
		got := r.TxCqe(x)
		if field, e, g, same := nicspec.DiffTxCqe(Encode(&want, nicspec.TxCqeSize), got); !same {
			require.FailNow(r.T, "completion entry", "entry %d: %s is %s, want %s\n%+v", index, field, g, e,
				p.WqeFields)
		}
		if p.Frame != nil {
			r.CameOut(x.Number, &p, index)
		}
	}
}

func (r *Rig) LeftFrom(q int) bool {
	for i := range r.Out {
		if r.Out[i].Queue == q {
			return true
		}
	}
	return false
}

// Transmit posts work entries, a ring-full at a time, rings the doorbell, and compares the results.
func (r *Rig) Transmit(x *TxRing, entries ...nicspec.WqeFields) {
	r.T.Helper()
	var all []LongEntry
	for _, e := range entries {
		all = append(all, One(e))
	}
	r.TransmitLong(x, all...)
}

// TransmitLong is Transmit for entries of any number of blocks.
func (r *Rig) TransmitLong(x *TxRing, entries ...LongEntry) {
	r.T.Helper()
	for len(entries) > 0 {
		n, room := 0, x.Size()
		for n < len(entries) && entries[n].BlocksOf(&r.Sizes) <= room {
			room -= entries[n].BlocksOf(&r.Sizes)
			n++
		}
		first := x.PI
		all := r.EnqueueLong(x, entries[:n]...)
		if last := &all[n-1]; !last.FComplete { // without it the caller could not wait for the end of all
			last.FComplete = true
			r.StoreEntry(x, x.PI-uint16(last.BlocksOf(&r.Sizes)), &last.LongEntry)
		}
		r.RingDoorbell(&x.Ring)
		r.Ended(x, first, all)
		entries = entries[n:]
	}
	r.Nothing(&x.Ring)
}

// NoFrames checks that no unexpected frame left.
func (r *Rig) NoFrames() {
	r.T.Helper()
	require.Empty(r.T, r.Out, "unexpected frames")
}
