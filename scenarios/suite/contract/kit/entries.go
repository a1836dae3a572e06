package kit

import (
	"math/rand/v2"

	"nictwin/models/nic/nicspec"
)

// Sound returns a Send with three pieces that passes all checks of the device.
func (r *Rig) Sound(w *Window, seed uint64) nicspec.WqeFields {
	r.T.Helper()
	var p [3]nicspec.SegFields
	for i := range p {
		b := Pattern(100, seed+uint64(i))
		b[14] = 0 // so that the frame does not look like IPv4 at l3_off
		b[0] = 0
		p[i] = r.Piece(w, i, 64, b)
	}
	return SendEntry(nil, p[:]...)
}

// TxSetup enables both directions, opens a transmit queue, and makes two windows: one of Arm memory, one of host
// memory.
func (r *Rig) TxSetup(q, log int) (*TxRing, []*Window) {
	r.T.Helper()
	r.Write(nicspec.RegCtrl, 3)
	return r.OpenTx(q, log),
		[]*Window{r.Window(1, nicspec.EndpointArm, 1<<20), r.Window(r.Sizes.NumKeys-1, nicspec.EndpointHost, 1<<20)}
}

// Cut returns an entry that sends a frame from inline bytes and nseg pieces.
func (r *Rig) Cut(w []*Window, frame []byte, inline, nseg int, rng *rand.Rand) nicspec.WqeFields {
	r.T.Helper()
	var pieces []nicspec.SegFields
	remainder := frame[inline:]
	for i := range nseg {
		n := len(remainder)
		if i < nseg-1 {
			n = 1 + rng.IntN(max(1, min(len(remainder)-(nseg-1-i), 200)))
			if rng.IntN(4) == 0 {
				n = 1 + rng.IntN(len(remainder)-(nseg-1-i))
			}
		}
		pieces = append(pieces, r.Piece(w[rng.IntN(len(w))], rng.IntN(64), 64, remainder[:n]))
		remainder = remainder[n:]
	}
	return SendEntry(frame[:inline], pieces...)
}

// BadKeys writes the unusable keys below. Each is a variant of the key of window w: a piece in w may name any of these
// keys, with the piece's own address.
func (r *Rig) BadKeys(w *Window) {
	r.T.Helper()
	good := r.Keys[int(w.ID&0xffff)]
	mod := func(index int, f func(*nicspec.KeyEntryFields)) {
		k := good
		f(&k)
		r.Key(index, k)
	}
	mod(KeyInvalid, func(k *nicspec.KeyEntryFields) { k.Valid = 0 })
	mod(KeyWriteOnly, func(k *nicspec.KeyEntryFields) { k.RightRead, k.RightWrite = false, true })
	mod(KeyShort, func(k *nicspec.KeyEntryFields) { k.Length = 9 })
	mod(KeyEmpty, func(k *nicspec.KeyEntryFields) { k.Length = 0 })
}

// Keys that BadKeys makes unusable, each in a different way.
const (
	KeyInvalid   = 20
	KeyWriteOnly = 21
	KeyShort     = 22
	KeyEmpty     = 23
)
