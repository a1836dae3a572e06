package buffers_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden/attribution"
	"nictwin/golden/buffers"
	"nictwin/golden/memory"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

type rig struct {
	*buffers.Buffers
	q        *buffers.Queue
	writable memory.Map[attribution.Entry]
}

// newRig returns a rig with a queue whose header buffers have 64 bytes and payload buffers 256.
func newRig() *rig {
	g := &rig{q: &buffers.Queue{Ctx: core.Queue{LogSize: 4, SplitMode: nicspec.SplitModeFixed, HdrBufSize: 64,
		PayBufSize: 256}}}
	g.q.Slots = make([]buffers.Slot, 32)
	for i := range g.q.Slots {
		g.q.Slots[i] = buffers.Slot{Q: g.q, Index: uint16(i)}
	}
	g.writable = memory.NewMap[attribution.Entry]()
	g.Buffers = buffers.New([]*buffers.Queue{g.q}, &g.writable)
	return g
}

// enter makes the device read descriptor number i.
func (g *rig) enter(i uint16, hdr, pay uint64, now int64) *buffers.Slot {
	raw := make([]byte, nicspec.RxDescBytes)
	(&nicspec.RxDescFields{HdrAddr: hdr, PayAddr: pay}).Encode(raw)
	s := g.q.Slot(i)
	g.Enter(s, raw, now)
	return s
}

func (g *rig) inBuffer(addr uint64, n int) bool {
	return g.writable.Within(addr, n, memory.Of(memory.Buffer))
}

// The buffers of a descriptor may be written from the time it was read until it is done, each byte once.
func TestStore(t *testing.T) {
	g := newRig()
	s := g.enter(3, 0x1000, 0x2000, 1)
	require.True(t, g.inBuffer(0x1000, 64) && g.inBuffer(0x2000, 256))
	require.False(t, g.inBuffer(0x1040, 1))
	require.True(t, s.Store(g.Buffers, buffers.Pay, 4, []byte{1, 2, 3}))
	require.False(t, s.Store(g.Buffers, buffers.Pay, 6, []byte{3}), "written before")
	require.False(t, s.Contains(buffers.Pay, []byte{0, 0, 0, 0, 1, 2, 3}), "its first bytes were not written")
	require.True(t, s.Store(g.Buffers, buffers.Pay, 0, make([]byte, 4)))
	require.True(t, s.Contains(buffers.Pay, []byte{0, 0, 0, 0, 1, 2, 3}))
	require.True(t, s.Contains(buffers.Hdr, nil))
	g.Forget(s)
	require.False(t, g.inBuffer(0x1000, 1) || g.inBuffer(0x2000, 1))
	require.True(t, g.enter(3, 0x1000, 0x2000, 2).Contains(buffers.Pay, nil), "nothing is left")
}

// A queue that does not split frames has no header buffers.
func TestNoHeaderBuffer(t *testing.T) {
	g := newRig()
	g.q.Ctx.SplitMode = nicspec.SplitModeNone
	g.enter(0, 0x1000, 0x2000, 1)
	require.False(t, g.inBuffer(0x1000, 1))
}

// Of two descriptors with overlapping buffers, the one that is done first claims the writes that hold its frame's
// bytes. The other writes go to the second.
func TestOverlap(t *testing.T) {
	g := newRig()
	a, b := g.enter(0, 0x1000, 0x8000, 1), g.enter(1, 0x2000, 0x8000, 1)
	require.True(t, a.Shares && b.Shares)
	ones, twos := bytes.Repeat([]byte{1}, 100), bytes.Repeat([]byte{2}, 100)
	g.Keep(0x8000, 10, ones)
	g.Keep(0x8000, 11, twos)
	g.ClaimShared(a, buffers.Pay, twos, 5)
	require.True(t, a.Contains(buffers.Pay, twos))
	g.Forget(a)
	stray := func(addr uint64, n int) { t.Fatalf("%d B at %#x are still wanted", n, addr) }
	g.Unclaimed(stray)
	require.True(t, g.Pending())
	g.ClaimShared(b, buffers.Pay, ones, 5)
	require.True(t, b.Contains(buffers.Pay, ones))
	g.Forget(b)
	g.Unclaimed(stray)
	require.False(t, g.Pending())
}

// A frame cannot claim a write that was made before the frame's last beat. Unclaimed reports the writes that no
// descriptor in use can claim.
func TestUnclaimed(t *testing.T) {
	g := newRig()
	a, b := g.enter(0, 0x1000, 0x8000, 1), g.enter(1, 0x2000, 0x8080, 1)
	g.Keep(0x8080, 10, []byte{1, 2, 3})
	g.ClaimShared(a, buffers.Pay, make([]byte, 0x83), 20)
	require.False(t, a.Contains(buffers.Pay, make([]byte, 0x83)), "the write is too old")
	g.Forget(a)
	g.Unclaimed(func(uint64, int) { t.Fatal("the other may take it") })
	g.Forget(b)
	total := 0
	g.Unclaimed(func(addr uint64, n int) {
		require.EqualValues(t, 0x8080, addr)
		total += n
	})
	require.Equal(t, 3, total)
	require.False(t, g.Pending())
}
