package host

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/msg"
	"nictwin/models/simcore"
	"nictwin/models/tlp"
)

// Every kind of fault does what it says, to the reads it is meant for.
func TestFaults(t *testing.T) {
	read := func(t *testing.T, f Fault, reads int) []tlp.Header {
		t.Helper()
		e, root, q := board(t, DefaultSpec())
		q.raw = true
		require.NoError(t, root.Faults.Add(f))
		for i := range reads {
			p := new(msg.TLP)
			require.NoError(t, p.SetMemRead(tlp.Origin{RequesterID: 0x200}, uint8(i), 0x1000, 500))
			require.Nil(t, q.port.SendAt(p, e.Now()))
		}
		require.NoError(t, e.Run())
		return q.got
	}
	sound := read(t, Fault{From: 0, To: 1}, 1)
	require.Len(t, sound, 2)
	for kind, c := range map[FaultKind]struct {
		left int // completions
		mod  func(h *tlp.Header)
	}{
		FaultUR:            {1, func(h *tlp.Header) { h.Kind, h.Length, h.Status = tlp.Cpl, 0, tlp.StatusUR }},
		FaultCA:            {1, func(h *tlp.Header) { h.Kind, h.Length, h.Status = tlp.Cpl, 0, tlp.StatusCA }},
		FaultCRS:           {1, func(h *tlp.Header) { h.Kind, h.Length, h.Status = tlp.Cpl, 0, tlp.StatusCRS }},
		FaultReserved:      {1, func(h *tlp.Header) { h.Kind, h.Length, h.Status = tlp.Cpl, 0, 5 }},
		FaultPoison:        {2, func(h *tlp.Header) { h.EP = true }},
		FaultByteCount:     {2, func(h *tlp.Header) { h.ByteCount++ }},
		FaultLowerAddr:     {2, func(h *tlp.Header) { h.LowerAddr += 4 }},
		FaultShort:         {2, func(h *tlp.Header) { h.Length-- }},
		FaultLong:          {2, func(h *tlp.Header) { h.Length++ }},
		FaultNoData:        {2, func(h *tlp.Header) { h.Kind, h.Length = tlp.Cpl, 0 }},
		FaultWrongData:     {1, func(h *tlp.Header) { h.Status = tlp.StatusUR }},
		FaultTag:           {2, func(h *tlp.Header) { h.Tag ^= 0x80 }},
		FaultRequester:     {2, func(h *tlp.Header) { h.RequesterID ^= 1 }},
		FaultPoisonedUR:    {1, func(h *tlp.Header) { h.Status, h.EP = tlp.StatusUR, true }},
		FaultPoisonedCount: {2, func(h *tlp.Header) { h.ByteCount++; h.EP = true }},
	} {
		want := append([]tlp.Header(nil), sound[:c.left]...)
		c.mod(&want[0])
		require.Equal(t, want, read(t, Fault{Kind: kind, From: 0x1000, To: 0x1001}, 1), "%v", kind)
	}
	require.Empty(t, read(t, Fault{Kind: FaultSilent, From: 0x1000, To: 0x1001}, 1))
	require.Len(t, read(t, Fault{Kind: FaultTwice, From: 0x1000, To: 0x1001}, 1), 3)
	second := read(t, Fault{Kind: FaultPoison, From: 0x1000, To: 0x1001, Nth: 7}, 1)
	require.True(t, !second[0].EP && second[1].EP, "the last completion when there are fewer")
	third := read(t, Fault{Kind: FaultSilent, From: 0x1000, To: 0x1001, Skip: 1, Count: 1}, 3)
	require.Len(t, third, 4)
	for _, h := range third {
		require.NotEqual(t, uint8(1), h.Tag)
	}
	late := read(t, Fault{From: 0x1000, To: 0x1001, Delay: simcore.Microsecond, Count: 1}, 2)
	require.EqualValues(t, 1, late[0].Tag)
	parted := read(t, Fault{From: 0x1000, To: 0x1001, Nth: 1, Gap: simcore.Microsecond, Count: 1}, 2)
	require.Equal(t, []uint8{0, 1, 1, 0}, []uint8{parted[0].Tag, parted[1].Tag, parted[2].Tag, parted[3].Tag})
}

func TestFaultsThatCannotBe(t *testing.T) {
	var f Faults
	require.ErrorContains(t, f.Add(Fault{Kind: numFaults, To: 1}), "kind")
	require.ErrorContains(t, f.Add(Fault{Kind: FaultUR, From: 5, To: 5}), "range")
	require.NoError(t, f.Add(Fault{Kind: FaultUR, To: 9}))
	require.Zero(t, f.Hits())
}

// What is struck is told, and every kind has a name that leads back to it.
func TestStruck(t *testing.T) {
	var f Faults
	var told []FaultKind
	f.Struck = func(x *Fault, h *tlp.Header) { told = append(told, x.Kind) }
	require.NoError(t, f.Add(Fault{Kind: FaultCA, From: 0x100, To: 0x200, Skip: 1}))
	h := tlp.Header{Kind: tlp.MRd, Length: 1, FirstBE: 0xf, Address: 0x100}
	require.Nil(t, f.meet(&h))
	require.NotNil(t, f.meet(&h))
	require.Equal(t, []FaultKind{FaultCA}, told)
	for k := range NumFaults {
		back, err := ParseFault(FaultKind(k).String())
		require.NoError(t, err)
		require.EqualValues(t, k, back)
	}
	_, err := ParseFault("nothing of the kind")
	require.ErrorContains(t, err, "nothing of the kind")
}
