package dma

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// keys is a key table with three keys: key 1 allows reads, 2 writes, 3 both. Virtual addresses
// equal bus addresses. The ranges of keys 1 and 2 end at 1 << 40, that of key 3 at 1 << 57, beyond Arm memory.
type keys struct{}

func (keys) Resolve(key uint32, va uint64, n uint32, need Access) (uint64, nicspec.Status) {
	room := uint64(1) << 40
	switch {
	case key < 1 || key > 3:
		return 0, nicspec.StatusBadKey
	case need.Read && key == 2, need.Write && key == 1:
		return 0, nicspec.StatusKeyRights
	case key == 3:
		room = 1 << 57
	}
	if va > room || uint64(n) > room-va {
		return 0, nicspec.StatusKeyBounds
	}
	return va, nicspec.StatusOk
}

type seg struct {
	key uint32
	n   uint32
	at  uint64
}

func entry(op nicspec.Opcode, nseg uint8, segs ...seg) *[nicspec.WqeBytes]byte {
	b := new([nicspec.WqeBytes]byte)
	w := nicspec.Wqe(b[:])
	w.SetOpcode(op)
	w.SetNseg(nseg)
	for i, s := range segs {
		(&nicspec.SegFields{Key: s.key, Len: s.n, Addr: s.at}).Encode(b[slotsOff+i*nicspec.WqeSlotBytes:])
	}
	return b
}

func TestDecode(t *testing.T) {
	const cp, inv, both = nicspec.OpcodeCopy, nicspec.OpcodeInvalidate, nicspec.OpcodeCopyInvalidate
	change := func(b *[nicspec.WqeBytes]byte, f func(nicspec.Wqe)) *[nicspec.WqeBytes]byte {
		f(b[:])
		return b
	}
	good := func() *[nicspec.WqeBytes]byte { return entry(cp, 2, seg{1, 8, 16}, seg{2, 8, 32}) }
	for _, c := range []struct {
		name string
		raw  *[nicspec.WqeBytes]byte
		want nicspec.Status
		plan Plan
	}{
		{"copy", good(), nicspec.StatusOk, Plan{Len: 8, Src: 16, Dst: 32}},
		{"copy, longest", entry(cp, 2, seg{1, 1 << 24, 1}, seg{3, 1 << 24, 2}), nicspec.StatusOk,
			Plan{Len: 1 << 24, Src: 1, Dst: 2}},
		{"copy, third slot ignored", entry(cp, 2, seg{1, 8, 16}, seg{2, 8, 32}, seg{0xffffffff, 1, 1}),
			nicspec.StatusOk, Plan{Len: 8, Src: 16, Dst: 32}},
		{"completion asked for", change(good(), func(w nicspec.Wqe) { w.SetFComplete(true) }), nicspec.StatusOk,
			Plan{Len: 8, Src: 16, Dst: 32}},
		{"fence", change(good(), func(w nicspec.Wqe) { w.SetFFence(true) }), nicspec.StatusOk,
			Plan{Len: 8, Src: 16, Dst: 32, Fence: true}},
		{"copy and invalidate, fence",
			change(entry(both, 2, seg{3, 64, 64}, seg{2, 64, 3}), func(w nicspec.Wqe) { w.SetFFence(true) }),
			nicspec.StatusOk,
			Plan{Len: 64, Src: 64, Dst: 3, Line: 64, Lines: 1, Fence: true}},
		{"invalidate, fence", change(entry(inv, 1, seg{3, 64, 0}), func(w nicspec.Wqe) { w.SetFFence(true) }),
			nicspec.StatusBadFormat, Plan{}},
		{"range after fence",
			change(entry(both, 2, seg{3, 63, 64}, seg{2, 63, 3}), func(w nicspec.Wqe) { w.SetFFence(true) }),
			nicspec.StatusBadRange, Plan{}},
		{"two blocks", change(good(), func(w nicspec.Wqe) { w.SetBlocks(1) }), nicspec.StatusBadFormat, Plan{}},
		{"append", change(good(), func(w nicspec.Wqe) { w.SetFAppend(true) }), nicspec.StatusBadFormat, Plan{}},
		{"offsets are ignored", change(good(), func(w nicspec.Wqe) { w.SetL3Off(200); w.SetCrcStart(9) }),
			nicspec.StatusOk, Plan{Len: 8, Src: 16, Dst: 32}},
		{"nseg 1", entry(cp, 1, seg{1, 8, 16}, seg{2, 8, 32}), nicspec.StatusBadFormat, Plan{}},
		{"nseg 3", entry(both, 3, seg{3, 64, 0}, seg{2, 64, 0}), nicspec.StatusBadFormat, Plan{}},
		{"invalidate, nseg 2", entry(inv, 2, seg{3, 64, 0}), nicspec.StatusBadFormat, Plan{}},
		{"inline", change(good(), func(w nicspec.Wqe) { w.SetInlineLen(1) }), nicspec.StatusBadFormat, Plan{}},
		{"port", change(good(), func(w nicspec.Wqe) { w.SetPort(1) }), nicspec.StatusBadFormat, Plan{}},
		{"pad", change(good(), func(w nicspec.Wqe) { w.SetFPad(true) }), nicspec.StatusBadFormat, Plan{}},
		{"crc32c", change(good(), func(w nicspec.Wqe) { w.SetFCrc32c(true) }), nicspec.StatusBadFormat, Plan{}},
		{"reserved flag", change(good(), func(w nicspec.Wqe) { w.SetFRsvd(0x10) }), nicspec.StatusBadFormat, Plan{}},
		{"reserved key bits", entry(cp, 2, seg{1, 8, 16}, seg{2 | 1<<23, 8, 32}), nicspec.StatusBadFormat, Plan{}},
		{"invalidate, other slot's key bits", entry(inv, 1, seg{3, 64, 0}, seg{1 << 20, 0, 0}), nicspec.StatusOk,
			Plan{Lines: 1}},
		{"length 0", entry(cp, 2, seg{1, 0, 16}, seg{2, 0, 32}), nicspec.StatusBadLength, Plan{}},
		{"too long", entry(cp, 2, seg{1, 1<<24 + 1, 16}, seg{2, 1<<24 + 1, 32}), nicspec.StatusBadLength, Plan{}},
		{"lengths differ", entry(cp, 2, seg{9, 8, 16}, seg{2, 9, 32}), nicspec.StatusBadLength, Plan{}},
		{"source key", entry(cp, 2, seg{9, 8, 16}, seg{1, 8, 32}), nicspec.StatusBadKey, Plan{}},
		{"source rights", entry(cp, 2, seg{2, 8, 16}, seg{9, 8, 32}), nicspec.StatusKeyRights, Plan{}},
		{"source bounds", entry(cp, 2, seg{1, 8, 1<<40 - 7}, seg{1, 8, 32}), nicspec.StatusKeyBounds, Plan{}},
		{"destination rights", entry(cp, 2, seg{1, 8, 16}, seg{1, 8, 32}), nicspec.StatusKeyRights, Plan{}},
		{"destination key", entry(cp, 2, seg{1, 8, 16}, seg{4, 8, 32}), nicspec.StatusBadKey, Plan{}},
		{"invalidate", entry(inv, 1, seg{2, 256, 128}), nicspec.StatusOk, Plan{Line: 128, Lines: 4}},
		{"invalidate, rights", entry(inv, 1, seg{1, 256, 128}), nicspec.StatusKeyRights, Plan{}},
		{"invalidate, misplaced", entry(inv, 1, seg{2, 256, 127}), nicspec.StatusBadRange, Plan{}},
		{"invalidate, odd length", entry(inv, 1, seg{2, 200, 128}), nicspec.StatusBadRange, Plan{}},
		{"invalidate, host memory", entry(inv, 1, seg{3, 64, 1 << 56}), nicspec.StatusBadRange, Plan{}},
		{"invalidate, over the end", entry(inv, 1, seg{3, 128, 1<<56 - 64}), nicspec.StatusBadRange, Plan{}},
		{"copy and invalidate", entry(both, 2, seg{3, 64, 64}, seg{2, 64, 3}), nicspec.StatusOk,
			Plan{Len: 64, Src: 64, Dst: 3, Line: 64, Lines: 1}},
		{"copy and invalidate, read only", entry(both, 2, seg{1, 64, 64}, seg{2, 64, 3}), nicspec.StatusKeyRights,
			Plan{}},
		{"copy and invalidate, write only", entry(both, 2, seg{2, 64, 64}, seg{2, 64, 3}), nicspec.StatusKeyRights,
			Plan{}},
		{"copy and invalidate, range after keys", entry(both, 2, seg{3, 63, 64}, seg{9, 63, 3}), nicspec.StatusBadKey,
			Plan{}},
		{"copy and invalidate, range", entry(both, 2, seg{3, 63, 64}, seg{2, 63, 3}), nicspec.StatusBadRange, Plan{}},
	} {
		p := Plan{Len: 99}
		require.Equal(t, c.want, Decode(c.raw[:], nicspec.PartsAll, keys{}, &p), c.name)
		require.Equal(t, c.plan, p, c.name)
	}
}

// TestFenceNeedsItsPart: without part fence, f_fence is a reserved flag [N1].
func TestFenceNeedsItsPart(t *testing.T) {
	b := entry(nicspec.OpcodeCopy, 2, seg{1, 8, 16}, seg{2, 8, 32})
	nicspec.Wqe(b[:]).SetFFence(true)
	var p Plan
	require.Equal(t, nicspec.StatusBadFormat, Decode(b[:], nicspec.PartsAll&^nicspec.PartFence, keys{}, &p))
}

func TestMessage(t *testing.T) {
	var p tlp.Packet
	require.NoError(t, SetMessage(&p, &Plan{Line: 0x00ab_cdef_0123_4540, Lines: 0x0203}))
	require.Equal(t, [tlp.HeaderBytes]byte{0x72, 0, 0, 4, 2, 0, 0, 0x7f, 0, 0, 0x4e, 0x54}, p.Hdr)
	require.Equal(t, []byte{0x40, 0x45, 0x23, 0x01, 0xef, 0xcd, 0xab, 0, 3, 2, 0, 0, 0, 0, 0, 0}, p.Data)
}

// TestChannel runs a channel whose chunks arrive in random order, some of them failing, and checks
// every written byte against its source.
func TestChannel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	src := make([]byte, 1<<17)
	for i := range src {
		src[i] = byte(rng.Uint32())
	}
	c := NewChannel(3, 5)
	var plans []Plan
	wrote := map[int]map[uint64]bool{}
	out, next, ends := []int{}, 0, 0
	inFlight := 0
	for range 40000 {
		switch rng.IntN(5) {
		case 0:
			if c.Room() && len(plans) < 300 {
				p := Plan{Len: rng.IntN(20000), Src: uint64(rng.IntN(1 << 16)), Dst: uint64(len(plans))<<32 +
					uint64(rng.IntN(5000))}
				if rng.IntN(2) == 0 {
					p.Dst = p.Dst&^63 | p.Src&63
				}
				if p.Len == 0 || rng.IntN(3) == 0 {
					p.Lines, p.Line = 7, 64
				}
				c.Start(int32(len(plans)), &p)
				plans = append(plans, p)
			}
		case 1:
			if k, addr, dst, ok := c.NextRead(); ok {
				copy(dst, src[addr:])
				out = append(out, k)
				require.Equal(t, c.chunks[k].job.plan.WholeLines(), c.WholeLines(k))
			}
		case 2:
			if len(out) > 0 {
				i := rng.IntN(len(out))
				s := nicspec.StatusOk
				if rng.IntN(30) == 0 {
					s = nicspec.StatusCplAbort
				}
				c.ReadEnded(out[i], s)
				out = append(out[:i], out[i+1:]...)
			}
		case 3:
			if inFlight > 0 {
				c.WriteLeft(inFlight)
				inFlight = 0
			} else if addr, b, ok := c.Write(128); ok {
				id := int(addr >> 32)
				require.Equal(t, next, id, "writes in the order of the copies")
				p := &plans[id]
				if p.WholeLines() {
					require.True(t, addr == p.Dst || addr%64 == 0, "a write begins inside a line [D2]")
					require.True(t, addr+uint64(len(b)) == p.Dst+uint64(p.Len) || (addr+uint64(len(b)))%64 == 0,
						"a write ends inside a line [D2]")
				}
				if wrote[id] == nil {
					wrote[id] = map[uint64]bool{}
				}
				for i := range b {
					off := addr + uint64(i) - p.Dst
					require.False(t, wrote[id][off])
					wrote[id][off] = true
					require.Equal(t, src[p.Src+off], b[i])
				}
				inFlight = len(b)
			} else if p := c.Message(); p != nil {
				require.Equal(t, plans[next], *p)
				c.MessageLeft()
			}
		case 4:
			id, s, ok := c.Ended()
			if !ok {
				continue
			}
			require.EqualValues(t, next, id)
			if s == nicspec.StatusOk {
				require.Len(t, wrote[next], plans[next].Len)
			}
			next++
			ends++
		}
	}
	require.Greater(t, ends, 50)
}
