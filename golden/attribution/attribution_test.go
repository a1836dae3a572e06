package attribution_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden/attribution"
	"nictwin/golden/memory"
	"nictwin/golden/rings"
	"nictwin/golden/verdict"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

const timeout = 1000

// rig holds the entries of a few transmit queues of a device with every part.
type rig struct {
	t *testing.T
	*attribution.Entries
	queues []*attribution.Queue
	log    *verdict.Log
	tags   uint8
}

func newRig(t *testing.T, queues int) *rig {
	build := nicspec.DefaultBuild()
	g := &rig{t: t, log: verdict.NewLog("", 20, nil, build.Ports, build.NumRxq, build.NumTxq)}
	for i := range queues {
		g.queues = append(g.queues, &attribution.Queue{ID: i, Open: true, Ctx: core.Queue{LogSize: 6},
			Slots: make([]attribution.Slot, 128)})
	}
	g.Entries = attribution.NewEntries(&build, g.queues, timeout, g.log)
	g.log.At(&boundary.Crossing{})
	return g
}

// keys contains one key for all of memory.
var keys = core.KeyTable{{Length: 1 << 40, Valid: true, Read: true, Write: true}}

// entry makes the device read a work entry and returns it.
func (g *rig) entry(q int, raw []byte) *attribution.Entry {
	u := g.queues[q]
	i := u.Ctx.PI
	u.Ctx.PI++
	g.BlockIn(u, i, rings.Fetched, raw)
	e := g.NextWhole(u)
	require.NotNil(g.t, e)
	g.Begin(e, keys)
	return e
}

// send adds an entry that sends n bytes at an address.
func (g *rig) send(q int, addr uint64, n int) *attribution.Entry {
	return g.entry(q, nictest.Wqe(0, nil, []nictest.Piece{{Addr: addr, N: n}}, nil))
}

// request makes the device issue a read, attributed to e unless that is nil.
func (g *rig) request(addr uint64, n int, e *attribution.Entry) *attribution.Read {
	g.Now++
	d := g.Out.Begin(g.tags, addr, n, g.Now)
	g.tags++
	if d.Shared = true; e != nil {
		g.Ask(e, 0, d)
	} else {
		require.True(g.t, g.Spread(d), "read of %d B at %#x", n, addr)
	}
	return d
}

// complete completes a read with the bytes of b.
func (g *rig) complete(d *attribution.Read, b []byte) {
	g.Now++
	g.Store(d, b)
	g.Close(d)
}

func (g *rig) slot(e *attribution.Entry) *attribution.Slot { return e.Queue.Slot(e.Index) }

func fill(n int, b byte) []byte { return bytes.Repeat([]byte{b}, n) }

// Two queues send from the same memory, which is rewritten between their reads. Either frame may have the bytes of
// either read, but not both the same.
func TestEitherEntryMayHaveEitherRead(t *testing.T) {
	for _, swapped := range []bool{false, true} {
		g := newRig(t, 2)
		a, b := g.send(0, 0x1000, 100), g.send(1, 0x1000, 100)
		g.complete(g.request(0x1000, 100, a), fill(100, 1))
		g.complete(g.request(0x1000, 100, b), fill(100, 2))
		first, second := fill(100, 1), fill(100, 2)
		if swapped {
			first, second = second, first
		}
		require.True(t, g.Sends(g.slot(a), first))
		a.Left = true
		require.False(t, g.Sends(g.slot(b), first), "that read was the other's")
		require.True(t, g.Sends(g.slot(b), second))
	}
}

// A frame may consist of parts of different reads; each part then is no longer available to another entry.
func TestReadsInParts(t *testing.T) {
	g := newRig(t, 2)
	a, b := g.send(0, 0x1000, 100), g.send(1, 0x1000, 100)
	for i := range 4 {
		g.complete(g.request(0x1000+uint64(i%2)*50, 50, nil), fill(50, byte(i)))
	}
	mixed := append(fill(50, 2), fill(50, 1)...)
	require.True(t, g.Sends(g.slot(a), mixed))
	a.Left = true
	require.False(t, g.Sends(g.slot(b), append(fill(50, 2), fill(50, 3)...)), "taken")
	require.True(t, g.Sends(g.slot(b), append(fill(50, 0), fill(50, 3)...)))
}

// A byte cannot be read more often than entries name it: Spread must refuse the read.
func TestNoPlaceLeft(t *testing.T) {
	g := newRig(t, 2)
	g.send(0, 0x1000, 64)
	g.send(1, 0x1020, 64)
	g.request(0x1000, 32, nil)
	g.request(0x1020, 32, nil)
	g.request(0x1020, 32, nil)
	g.Now++
	require.False(t, g.Spread(g.Out.Begin(g.tags, 0x1020, 32, g.Now)), "both places are taken")
	require.True(t, g.Spread(g.Out.Begin(g.tags, 0x1040, 32, g.Now)), "that one is free")
}

// Where two entries name the same memory, a failed read may belong to either of them, but it must belong to one.
func TestFailedReadBelongsToAnEntry(t *testing.T) {
	g := newRig(t, 2)
	a, b := g.send(0, 0x1000, 100), g.send(1, 0x1000, 100)
	g.complete(g.request(0x1000, 100, a), fill(100, 1))
	d := g.request(0x1000, 100, b)
	g.Failed(d, nicspec.StatusCplAbort, true)
	g.Close(d)
	m, wait := g.Outcomes(a)
	require.False(t, wait)
	require.Equal(t, "Ok", m.String())
	m, _ = g.Outcomes(b)
	require.Equal(t, "CplAbort", m.String())
	require.True(t, g.AssignFailed(a, nicspec.StatusCplAbort))
	m, _ = g.Outcomes(a)
	require.Equal(t, "CplAbort", m.String())
	require.False(t, g.AssignFailed(a, nicspec.StatusCplPoison), "no read failed with it")
	require.True(t, g.Sends(g.slot(b), fill(100, 1)), "it has what came instead")
}

// An outstanding read that may have timed out by now adds CplTimeout to the possible outcomes of its entry.
func TestLateRead(t *testing.T) {
	g := newRig(t, 1)
	e := g.send(0, 0x1000, 100)
	g.request(0x1000, 100, e)
	m, wait := g.Outcomes(e)
	require.True(t, wait && m == 0)
	g.Now += timeout
	m, wait = g.Outcomes(e)
	require.False(t, wait)
	require.Equal(t, "CplTimeout", m.String())
}

// copyEntry adds a copy of n bytes.
func (g *rig) copyEntry(q int, src, dst uint64, n int) *attribution.Entry {
	raw := nictest.Wqe(0, nil, []nictest.Piece{{Addr: src, N: n}, {Addr: dst, N: n}},
		func(w nicspec.Wqe) { w.SetOpcode(nicspec.OpcodeCopy) })
	e := g.entry(q, raw)
	require.True(g.t, e.Plan.Copy, "%v", e.Plan.Status)
	return e
}

// Where destinations overlap, a write may belong to any copy that had its bytes. Three writes of two copies are too
// many.
func TestWritesOfSeveralCopies(t *testing.T) {
	g := newRig(t, 3)
	for q := range 2 {
		g.complete(g.request(0x1000+uint64(q)*0x1000, 64, g.copyEntry(q, 0x1000+uint64(q)*0x1000, 0x9000, 64)),
			fill(64, 7))
	}
	for range 2 {
		e, several := g.Writer(0x9000, fill(64, 7))
		require.True(t, e != nil && several)
		g.WrittenByAny(0x9000, 64)
		require.Zero(t, g.log.Mismatches())
	}
	g.WrittenByAny(0x9000, 64)
	require.EqualValues(t, 1, g.log.Mismatches(), "three writes of two copies")
	require.Equal(t, "D2", g.log.List()[0].Rule)
}

// A Send waits for the copy before it in its queue, but not for a copy of another queue.
func TestBefore(t *testing.T) {
	g := newRig(t, 2)
	c := g.copyEntry(0, 0x1000, 0x9000, 64)
	own, other := g.send(0, 0x5000, 64), g.send(1, 0x6000, 64)
	require.Equal(t, c, g.Before(own))
	require.Nil(t, g.Before(other))
}

// Release forgets an entry: its pieces must no longer be readable, and its slots are free.
func TestRelease(t *testing.T) {
	g := newRig(t, 1)
	e := g.send(0, 0x1000, 100)
	require.True(t, g.Readable.Within(0x1000, 100, memory.Of(memory.Piece)))
	require.EqualValues(t, 1, g.AtWork)
	e.Queue.Forget(e)
	g.Release(e)
	require.Zero(t, g.AtWork)
	require.False(t, g.Readable.Within(0x1000, 1, memory.Of(memory.Piece)))
	require.EqualValues(t, 1, g.queues[0].Oldest)
}

// A tag must not be used again for CPL_TIMEOUT cycles. A write of CPL_TIMEOUT may shorten that time, and never
// lengthens it [P6].
func TestTagsRest(t *testing.T) {
	const ended, shorter = 5000, timeout / 4
	g := newRig(t, 1)
	d := g.Out.Begin(7, 0x1000, 64, ended-100)
	d.Rest(ended, nicspec.StatusCplPoison)
	g.Close(d)
	require.EqualValues(t, ended+timeout, d.FreeFrom)
	g.Out.SetTimeout(2 * timeout)
	require.EqualValues(t, ended+timeout, d.FreeFrom)
	g.Out.SetTimeout(shorter)
	require.EqualValues(t, ended+shorter, d.FreeFrom)
	g.Out.SettleTimeout(shorter)
	require.EqualValues(t, shorter, g.Out.Begin(9, 0x3000, 64, 2*ended).TLo)
}

// Judge compares a completion with its request field by field [P6].
func TestJudge(t *testing.T) {
	d := attribution.Read{Addr: 0x1004, Next: 0x1004, N: 8, Left: 8}
	good := tlp.Header{Kind: tlp.CplD, Length: 2, ByteCount: 8, LowerAddr: 4}
	for _, c := range []struct {
		what string
		mod  func(*tlp.Header)
		n    int
		want nicspec.Status
	}{
		{"good", func(*tlp.Header) {}, 8, nicspec.StatusOk},
		{"in parts", func(h *tlp.Header) { h.Length = 1 }, 4, nicspec.StatusOk},
		{"unsupported", func(h *tlp.Header) { h.Status = tlp.StatusUR }, 8, nicspec.StatusCplUnsupported},
		{"aborted", func(h *tlp.Header) { h.Status = tlp.StatusCA }, 8, nicspec.StatusCplAbort},
		{"poisoned", func(h *tlp.Header) { h.EP = true }, 8, nicspec.StatusCplPoison},
		{"too long", func(h *tlp.Header) { h.Length = 3 }, 12, nicspec.StatusCplMalformed},
		{"count", func(h *tlp.Header) { h.ByteCount = 4 }, 8, nicspec.StatusCplMalformed},
		{"place", func(h *tlp.Header) { h.LowerAddr = 8 }, 8, nicspec.StatusCplMalformed},
	} {
		h := good
		c.mod(&h)
		require.Equal(t, c.want, d.Judge(&h, make([]byte, c.n), 0), c.what)
	}
}
