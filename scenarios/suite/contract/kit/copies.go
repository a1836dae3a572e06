package kit

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

// IsCopy reports whether an opcode belongs to the copy engine.
func IsCopy(op nicspec.Opcode) bool {
	return op >= nicspec.OpcodeCopy && op <= nicspec.OpcodeCopyInvalidate
}

// copyStatus returns the status of a copy [D1].
func copyStatus(w *nicspec.WqeFields, keys KeyTable, sizes *nicspec.Build) nicspec.Status {
	want := 2
	if w.Opcode == nicspec.OpcodeInvalidate {
		want = 1
	}
	fence := w.FFence && (w.Opcode == nicspec.OpcodeInvalidate || !sizes.Has(nicspec.PartFence))
	flags := w.FIpCsum || w.FUdpCsum || w.FUdpZero || w.FIcrc || w.FCrc32c || w.FPad || fence || w.FAppend ||
		w.FRsvd != 0
	if int(w.Nseg) != want || w.InlineLen != 0 || w.Port != 0 || w.Blocks != 0 || flags {
		return nicspec.StatusBadFormat
	}
	segs := Segments(w)
	for _, s := range segs {
		if s.Key>>16&0xff != 0 {
			return nicspec.StatusBadFormat
		}
	}
	for _, s := range segs {
		if s.Len == 0 || s.Len > nicspec.CopyMax || s.Len != segs[0].Len {
			return nicspec.StatusBadLength
		}
	}
	for i, s := range segs {
		k := keys[int(s.Key&0xffff)]
		read := i == 0 && w.Opcode != nicspec.OpcodeInvalidate
		write := i == 1 || w.Opcode != nicspec.OpcodeCopy
		if st := pieceStatus(&s, &k, sizes, read, write); st != nicspec.StatusOk {
			return st
		}
	}
	if w.Opcode != nicspec.OpcodeCopy {
		k := keys[int(segs[0].Key&0xffff)]
		bus := k.BusBase + segs[0].Addr - k.VaBase
		if bus>>nicspec.EndpointShift != nicspec.EndpointArm || bus%nicspec.LineBytes != 0 ||
			segs[0].Len%nicspec.LineBytes != 0 {
			return nicspec.StatusBadRange
		}
	}
	return nicspec.StatusOk
}

func (r *Rig) Writable(w *Window) {
	r.T.Helper()
	k := r.Keys[int(w.ID&0xffff)]
	k.RightWrite = true
	r.Key(int(w.ID&0xffff), k)
}

// BusOf returns the bus address of a piece.
func (r *Rig) BusOf(s nicspec.SegFields) uint64 {
	k := r.Keys[int(s.Key&0xffff)]
	return k.BusBase + s.Addr - k.VaBase
}

// CopyEntry returns a work entry that copies from one range to another.
func CopyEntry(op nicspec.Opcode, pieces ...nicspec.SegFields) nicspec.WqeFields {
	w := SendEntry(nil, pieces...)
	w.Opcode = op
	return w
}

// Destination returns a piece of n bytes to copy to, between guards.
func (r *Rig) Destination(w *Window, skew, align, n int) nicspec.SegFields {
	r.T.Helper()
	s := r.Piece(w, skew, align, Pattern(n+2*Guard, uint64(n)))
	s.Addr += Guard
	s.Len = uint32(n)
	return s
}

// CheckDestination checks that a piece made by Destination contains these bytes, and that its guards are unchanged.
func (r *Rig) CheckDestination(s nicspec.SegFields, want []byte) {
	r.T.Helper()
	n := len(want)
	all := Pattern(n+2*Guard, uint64(n))
	copy(all[Guard:], want)
	got := r.Load(r.BusOf(s)-Guard, n+2*Guard)
	for i := range all {
		if all[i] != got[i] {
			require.FailNow(r.T, "copied bytes", "byte %d of %d at %#x is %#02x, want %#02x", i-Guard, n, r.BusOf(s),
				got[i], all[i])
		}
	}
}

const Guard = 64 // bytes on either side of a destination, which must stay unchanged
