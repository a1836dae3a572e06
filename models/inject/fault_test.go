package inject_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/sim/simcore"
)

// strike returns the headers of the completions that a device gets for reads of 500 B at 0x1000, with a fault
// added.
func strike(t *testing.T, f inject.Fault, reads int) []tlp.Header {
	t.Helper()
	b := newBench(t, inject.DelaySpec{})
	require.NoError(t, b.faults.Add(f))
	for i := range reads {
		b.read(uint8(i), 0x1000, 500)
	}
	require.NoError(t, b.Run())
	require.True(t, b.faults.Idle() && b.root.Idle())
	require.Zero(t, b.pool.Live())
	var got []tlp.Header
	for _, p := range b.dev.got {
		h, err := p.Header()
		require.NoError(t, err)
		got = append(got, h)
	}
	return got
}

// Each kind of fault must change the completions as its name says, and only those of the selected reads.
func TestFaults(t *testing.T) {
	sound := strike(t, inject.Fault{From: 0, To: 1}, 1)
	require.Len(t, sound, 2)
	for kind, c := range map[inject.FaultKind]struct {
		left int // number of completions
		mod  func(h *tlp.Header)
	}{
		inject.FaultUR:            {1, func(h *tlp.Header) { h.Kind, h.Length, h.Status = tlp.Cpl, 0, tlp.StatusUR }},
		inject.FaultCA:            {1, func(h *tlp.Header) { h.Kind, h.Length, h.Status = tlp.Cpl, 0, tlp.StatusCA }},
		inject.FaultCRS:           {1, func(h *tlp.Header) { h.Kind, h.Length, h.Status = tlp.Cpl, 0, tlp.StatusCRS }},
		inject.FaultReserved:      {1, func(h *tlp.Header) { h.Kind, h.Length, h.Status = tlp.Cpl, 0, 5 }},
		inject.FaultPoison:        {2, func(h *tlp.Header) { h.EP = true }},
		inject.FaultByteCount:     {2, func(h *tlp.Header) { h.ByteCount++ }},
		inject.FaultLowerAddr:     {2, func(h *tlp.Header) { h.LowerAddr += 4 }},
		inject.FaultShort:         {2, func(h *tlp.Header) { h.Length-- }},
		inject.FaultLong:          {2, func(h *tlp.Header) { h.Length++ }},
		inject.FaultNoData:        {2, func(h *tlp.Header) { h.Kind, h.Length = tlp.Cpl, 0 }},
		inject.FaultWrongData:     {1, func(h *tlp.Header) { h.Status = tlp.StatusUR }},
		inject.FaultTag:           {2, func(h *tlp.Header) { h.Tag ^= 0x80 }},
		inject.FaultRequester:     {2, func(h *tlp.Header) { h.RequesterID ^= 1 }},
		inject.FaultPoisonedUR:    {1, func(h *tlp.Header) { h.Status, h.EP = tlp.StatusUR, true }},
		inject.FaultPoisonedCount: {2, func(h *tlp.Header) { h.ByteCount++; h.EP = true }},
	} {
		want := append([]tlp.Header(nil), sound[:c.left]...)
		c.mod(&want[0])
		require.Equal(t, want, strike(t, inject.Fault{Kind: kind, From: 0x1000, To: 0x1001}, 1), "%v", kind)
	}
	require.Empty(t, strike(t, inject.Fault{Kind: inject.FaultSilent, From: 0x1000, To: 0x1001}, 1))
	require.Len(t, strike(t, inject.Fault{Kind: inject.FaultTwice, From: 0x1000, To: 0x1001}, 1), 3)
	second := strike(t, inject.Fault{Kind: inject.FaultPoison, From: 0x1000, To: 0x1001, Nth: 7}, 1)
	require.True(t, !second[0].EP && second[1].EP, "the last completion when there are fewer")
	third := strike(t, inject.Fault{Kind: inject.FaultSilent, From: 0x1000, To: 0x1001, Skip: 1, Count: 1}, 3)
	require.Len(t, third, 4)
	for _, h := range third {
		require.NotEqual(t, uint8(1), h.Tag)
	}
	late := strike(t, inject.Fault{From: 0x1000, To: 0x1001, Delay: simcore.Microsecond, Count: 1}, 2)
	require.EqualValues(t, 1, late[0].Tag)
	parted := strike(t, inject.Fault{From: 0x1000, To: 0x1001, Nth: 1, Gap: simcore.Microsecond, Count: 1}, 2)
	require.Equal(t, []uint8{0, 1, 1, 0}, []uint8{parted[0].Tag, parted[1].Tag, parted[2].Tag, parted[3].Tag})
}

func TestInvalidFaults(t *testing.T) {
	f := inject.NewFaults("Faults", simcore.NewEngine(), new(msg.TLPs))
	require.ErrorContains(t, f.Add(inject.Fault{Kind: inject.FaultKind(inject.NumFaults), To: 1}), "kind")
	require.ErrorContains(t, f.Add(inject.Fault{Kind: inject.FaultUR, From: 5, To: 5}), "range")
	require.ErrorContains(t, f.Add(inject.Fault{To: 5}, inject.Range{From: 7, To: 7}),
		"addresses 0x7 to 0x7: want a range")
	require.NoError(t, f.Add(inject.Fault{Kind: inject.FaultUR, To: 9}))
	require.Zero(t, f.Hits())
}

// The ranges of a fault have one count.
func TestRangesHaveOneCount(t *testing.T) {
	b := newBench(t, inject.DelaySpec{})
	var struck []uint8
	b.faults.Struck = func(_ *inject.Fault, h *tlp.Header) { struck = append(struck, h.Tag) }
	require.NoError(t, b.faults.Add(inject.Fault{From: 0x100, To: 0x200, Skip: 2, Count: 2},
		inject.Range{From: 0x1000, To: 0x1100}, inject.Range{From: 0x400, To: 0x401}))
	for tag, at := range []uint64{0x100, 0x1000, 0x300, 0x400, 0x10ff, 0x1100, 0x1ff} {
		b.read(uint8(tag), at, 1)
	}
	require.NoError(t, b.Run())
	require.Equal(t, []uint8{3, 4}, struck)
}

// Struck is called for every struck read. Each kind's name is parsed back to the kind.
func TestStruck(t *testing.T) {
	b := newBench(t, inject.DelaySpec{})
	var told []inject.FaultKind
	b.faults.Struck = func(x *inject.Fault, h *tlp.Header) {
		require.EqualValues(t, 2, h.Tag)
		told = append(told, x.Kind)
	}
	require.NoError(t, b.faults.Add(inject.Fault{Kind: inject.FaultCA, From: 0x101, To: 0x200, Skip: 1}))
	for tag, at := range []uint64{0x101, 0x100, 0x1ff, 0x200} { // Skip leaves the first one in range alone
		b.read(uint8(tag), at, 1)
	}
	require.NoError(t, b.Run())
	require.Equal(t, []inject.FaultKind{inject.FaultCA}, told)
	require.Equal(t, 1, b.faults.Hits())
	b.faults.Clear()
	require.Zero(t, b.faults.Hits())
	for k := range inject.NumFaults {
		back, err := inject.ParseFault(inject.FaultKind(k).String())
		require.NoError(t, err)
		require.EqualValues(t, k, back)
	}
	_, err := inject.ParseFault("nothing of the kind")
	require.ErrorContains(t, err, "nothing of the kind")
}

// A device uses a tag again while its read is still being answered. The second read must wait, and only the first
// is struck.
func TestTagGivenAgain(t *testing.T) {
	for _, x := range []struct {
		fault inject.Fault
		want  []int // bytes of data of each completion that the device gets
	}{
		{inject.Fault{Kind: inject.FaultUR}, []int{0, 256, 244}},
		{inject.Fault{Kind: inject.FaultSilent, Nth: 1}, []int{256, 256, 244}},
		{inject.Fault{Delay: simcore.Microsecond}, []int{256, 244, 256, 244}},
	} {
		b := newBench(t, inject.DelaySpec{Jitter: simcore.Microsecond, Seed: 3})
		x.fault.From, x.fault.To, x.fault.Count = 0x1000, 0x1001, 1
		require.NoError(t, b.faults.Add(x.fault))
		b.read(5, 0x1000, 500)
		b.read(5, 0x1000, 500)
		require.NoError(t, b.Run())
		var got []int
		for _, p := range b.dev.got {
			got = append(got, len(p.Data))
		}
		require.Equal(t, x.want, got, "%v", x.fault.Kind)
		require.True(t, b.faults.Idle())
	}
}
