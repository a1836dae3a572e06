package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
	"nictwin/stack/driver"
)

// window is a memory key and the memory that it stands for.
type window struct {
	id     uint32 // as in a work entry
	va     uint64
	bus    uint64
	length int
	used   int
}

// key writes a memory key.
func (r *rig) key(index int, f nicspec.KeyEntryFields) {
	r.t.Helper()
	r.commit(nicspec.TableKey, index, encode(&f, nicspec.KeyEntrySize))
	r.keys[index] = f
}

// window makes memory of an endpoint readable under a key.
func (r *rig) window(index, endpoint, n int) *window {
	r.t.Helper()
	w := &window{va: 0x7000_0000_0000 + uint64(index)<<32 + 0x123, bus: r.alloc(endpoint, n, 4096), length: n}
	variant := uint8(0x11 * (index + 3))
	w.id = driver.KeyID(index, variant)
	r.key(index, nicspec.KeyEntryFields{Valid: 1, RightRead: true, Variant: variant, VaBase: w.va, Length: uint64(n), BusBase: w.bus})
	return w
}

// piece puts bytes into the window, so many bytes after a multiple of align, and names them. Old bytes are overwritten when
// the window is full.
func (r *rig) piece(w *window, skew, align int, b []byte) nicspec.SegFields {
	r.t.Helper()
	at := (w.used+align-1)/align*align + skew
	if at+len(b) > w.length {
		at = skew
	}
	require.LessOrEqual(r.t, at+len(b), w.length, "the window is too small")
	r.store(w.bus+uint64(at), b)
	w.used = at + len(b)
	return nicspec.SegFields{Key: w.id, Len: uint32(len(b)), Addr: w.va + uint64(at)}
}

// sendEntry is a work entry that sends inline bytes and pieces.
func sendEntry(inline []byte, pieces ...nicspec.SegFields) nicspec.WqeFields {
	w := nicspec.WqeFields{Opcode: nicspec.OpcodeSend, InlineLen: uint8(len(inline)), Nseg: uint8(len(pieces)), FComplete: true}
	copy(w.Slots[:], inline)
	for i := range pieces {
		if at := (inlineSlots(&w) + i) * nicspec.WqeSlotBytes; at < len(w.Slots) {
			pieces[i].Encode(w.Slots[at:])
		}
	}
	return w
}

// posted is a work entry and what must become of it.
type posted struct {
	longEntry
	frame  []byte
	status nicspec.Status
}

// storeEntry writes the blocks of a work entry into a ring.
func (r *rig) storeEntry(x *txRing, index uint16, w *longEntry) {
	r.t.Helper()
	b := r.wireLong(w)
	for i := range w.blocks(&r.sizes) {
		r.store(x.At(index+uint16(i)), b[i*nicspec.WqeBytes:][:nicspec.WqeBytes])
	}
}

// cameOut demands that the next frame from a queue is that of a work entry, on its port.
func (r *rig) cameOut(q int, p *posted, index uint16) {
	r.t.Helper()
	s := r.left(q)
	require.Equal(r.t, p.frame, s.data, "frame of entry %d: %+v", index, p.WqeFields)
	require.Equal(r.t, int(p.Port), s.port, "port that the frame of entry %d left on, seen from port %d of the NIC", index, r.eth)
}

// enqueue writes work entries into a ring, without telling the device, and says what must become of them.
func (r *rig) enqueue(x *txRing, entries ...nicspec.WqeFields) []posted {
	r.t.Helper()
	var all []posted
	for i := range entries {
		if entries[i].WqeId == 0 {
			entries[i].WqeId = uint32(x.Number)<<24 | uint32(x.PI)
		}
		all = append(all, r.enqueueLong(x, one(entries[i]))...)
	}
	return all
}

// enqueueLong does so for entries of any number of blocks.
func (r *rig) enqueueLong(x *txRing, entries ...longEntry) []posted {
	r.t.Helper()
	var all []posted
	for i := range entries {
		w := &entries[i]
		if w.WqeId == 0 {
			w.WqeId = uint32(x.Number)<<24 | uint32(x.PI)
		}
		r.storeEntry(x, x.PI, w)
		x.PI += uint16(w.blocks(&r.sizes))
		frame, status := expected(w, x.EcnMode, r.keys, &r.sizes, r.load)
		all = append(all, posted{*w, frame, status})
	}
	return all
}

// left takes the next frame that left from a queue; it must have left by now.
func (r *rig) left(q int) sent {
	r.t.Helper()
	for i, s := range r.out {
		if s.queue == q {
			r.out = append(r.out[:i:i], r.out[i+1:]...)
			return s
		}
	}
	require.FailNow(r.t, "no frame left", "queue %d", q)
	return sent{}
}

// ended waits for the ends of work entries, in order from an index on, and compares frames and completion entries.
func (r *rig) ended(x *txRing, first uint16, all []posted) {
	r.t.Helper()
	for _, p := range all {
		index := first
		first += uint16(p.blocks(&r.sizes))
		if !p.FComplete && p.status == nicspec.StatusOk {
			if p.frame != nil {
				r.until("a frame leaves", func() bool { return r.leftFrom(x.Number) })
				r.cameOut(x.Number, &p, index)
			}
			continue
		}
		want := nicspec.TxCqeFields{Type: nicspec.CqeTypeTx, Status: p.status, Queue: uint16(x.Number), Index: index, WqeId: p.WqeId,
			FrameLen: uint16(len(p.frame)), Phase: x.Phase(x.CQI)}
		got := r.txCqe(x)
		if field, e, g, same := nicspec.DiffTxCqe(encode(&want, nicspec.TxCqeSize), got); !same {
			require.FailNow(r.t, "completion entry", "entry %d: %s is %s, want %s\n%+v", index, field, g, e, p.WqeFields)
		}
		if p.frame != nil {
			r.cameOut(x.Number, &p, index)
		}
	}
}

func (r *rig) leftFrom(q int) bool {
	for i := range r.out {
		if r.out[i].queue == q {
			return true
		}
	}
	return false
}

// transmit posts work entries, a ring-full at a time, rings, and compares what becomes of them.
func (r *rig) transmit(x *txRing, entries ...nicspec.WqeFields) {
	r.t.Helper()
	var all []longEntry
	for _, e := range entries {
		all = append(all, one(e))
	}
	r.transmitLong(x, all...)
}

// transmitLong does so for entries of any number of blocks.
func (r *rig) transmitLong(x *txRing, entries ...longEntry) {
	r.t.Helper()
	for len(entries) > 0 {
		n, room := 0, x.Size()
		for n < len(entries) && entries[n].blocks(&r.sizes) <= room {
			room -= entries[n].blocks(&r.sizes)
			n++
		}
		first := x.PI
		all := r.enqueueLong(x, entries[:n]...)
		if last := &all[n-1]; !last.FComplete { // so that there is an end to wait for
			last.FComplete = true
			r.storeEntry(x, x.PI-uint16(last.blocks(&r.sizes)), &last.longEntry)
		}
		r.tell(&x.ring)
		r.ended(x, first, all)
		entries = entries[n:]
	}
	r.nothing(&x.ring)
}

// noFrames demands that no frame left that was not expected.
func (r *rig) noFrames() {
	r.t.Helper()
	require.Empty(r.t, r.out, "frames that nobody asked for")
}
