package driver

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
)

// TestWorkEntryChecks checks that the driver refuses the work entries that the NIC would refuse.
func TestWorkEntryChecks(t *testing.T) {
	_, d := newFake(t, false)
	q, err := d.OpenTx(TxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: 2}})
	require.NoError(t, err)
	all := dma.Access{Read: true, Write: true}
	r := &Key{KeySpec: KeySpec{Index: 3, Len: 1 << 30, Rights: dma.Access{Read: true}}}
	w := &Key{KeySpec: KeySpec{Index: 4, Len: 1 << 30, Rights: dma.Access{Write: true}}}
	host := &Key{KeySpec: KeySpec{Index: 5, Bus: 1 << 56, Len: 1 << 30, Rights: all}}
	for _, x := range []struct {
		text string
		e    Entry
	}{
		{"frame of 0 B: want 1 to 9216", &Send{}},
		{"frame of 59 B: want 60 or more, or Pad", &Send{Pieces: []Span{{r, 0, 59}}}},
		{"frame of 9217 B", &Send{Pieces: []Span{{r, 0, 9217}}}},
		{"9 pieces: want 8 at most", &Send{Pieces: slices.Repeat([]Span{{r, 0, 60}}, 9)}},
		{"177 B inline: want 176 at most", &Send{Inline: make([]byte, 177)}},
		{"113 B inline and 8 pieces: want 15 slots at most",
			&Send{Inline: make([]byte, 113), Pieces: slices.Repeat([]Span{{r, 0, 60}}, 8)}},
		{"frame of 9210 B: want 1 to 9209, before what is appended",
			&Send{Pieces: []Span{{r, 0, 9210}}, Offloads: Offloads{ICRC: true, Append: true}}},
		{"frame of 55 B: want 56 or more, before what is appended, or Pad",
			&Send{Pieces: []Span{{r, 0, 55}}, Offloads: Offloads{ICRC: true, Append: true}}},
		{"want ICRC with Append [T3]", &Send{Pieces: []Span{{r, 0, 60}}, Offloads: Offloads{Append: true}}},
		{"port 1: want 0 to 0", &Send{Port: 1, Pieces: []Span{{r, 0, 60}}}},
		{"no memory key (piece 0)", &Send{Pieces: []Span{{nil, 0, 60}}}},
		{"0 bytes: want 1 or more (piece 1)", &Send{Pieces: []Span{{r, 0, 60}, {r, 0, 0}}}},
		{"are not inside memory key 3", &Send{Pieces: []Span{{r, 1 << 30, 60}}}},
		{"memory key 4 does not allow reads", &Send{Pieces: []Span{{w, 0, 60}}}},
		{"want one of them", &Send{Pieces: []Span{{r, 0, 60}}, Offloads: Offloads{UDPChecksum: true, UDPZero: true}}},
		{"copy of 5 B to 6 B: want equal lengths", &Copy{Src: Span{r, 0, 5}, Dst: Span{w, 0, 6}}},
		{"copy of 16777217 B: want 16777216 at most", &Copy{Src: Span{r, 0, 1<<24 + 1}, Dst: Span{w, 0, 1<<24 + 1}}},
		{"destination: memory key 3 does not allow writes", &Copy{Src: Span{r, 0, 5}, Dst: Span{r, 0, 5}}},
		{"source: memory key 3 does not allow writes",
			&Copy{Src: Span{r, 0, 64}, Dst: Span{w, 0, 64}, Invalidate: true}},
		{"want whole lines of 64 B in Arm memory",
			&Copy{Src: Span{host, 0, 64}, Dst: Span{w, 0, 64}, Invalidate: true}},
		{"invalidation of 65 B", &Invalidate{Range: Span{w, 0, 65}}},
		{"range: memory key 3 does not allow writes", &Invalidate{Range: Span{r, 0, 64}}},
	} {
		require.ErrorContains(t, q.Post(x.e), x.text)
		require.ErrorContains(t, q.Push(x.e), x.text)
	}
	require.Zero(t, q.Next())
	b := d.Build()
	b.Parts = 0
	require.ErrorContains(t, (&Copy{}).Check(&b), "part copy")
	require.ErrorContains(t, (&Invalidate{}).Check(&b), "part copy")
	require.ErrorContains(t, (&Send{Pieces: []Span{{r, 0, 60}}, Offloads: Offloads{CRC32C: true}}).Check(&b),
		"part crc32c")
	require.ErrorContains(t,
		(&Send{Pieces: []Span{{r, 0, 60}}, Offloads: Offloads{ICRC: true, Append: true}}).Check(&b), "part append")
	require.ErrorContains(t, (&Send{Inline: make([]byte, 33), Pieces: []Span{{r, 0, 60}}}).Check(&b),
		"33 B inline and 1 pieces: want 3 slots at most, of 16 inline bytes or a piece each; more want a NIC with "+
			"part long, which this one lacks [N1]")
	b.Parts = nicspec.PartCopy
	require.ErrorContains(t, (&Copy{Src: Span{r, 0, 5}, Dst: Span{w, 0, 5}, Fence: true}).Check(&b), "part fence")
	require.NoError(t, q.Post(&Nop{}))
	require.NoError(t, q.Post(&Nop{}))
	long := Send{Inline: make([]byte, 112)}
	require.Equal(t, 2, long.Blocks())
	long.Inline = make([]byte, 113)
	require.ErrorContains(t, q.Post(&long), "transmit queue 1 has room for 2 blocks, the work entry takes 3: wait "+
		"for completions")
	for range 2 {
		require.NoError(t, q.Post(&Nop{}))
	}
	require.ErrorContains(t, q.Post(&Nop{}), "transmit queue 1 is full: wait for completions")
}

// TestLongEntryEnds checks that an entry of several blocks completes as a whole, at the index of its first block; a
// completion with another index, or of an entry for which the queue has reported an event, is a breach.
func TestLongEntryEnds(t *testing.T) {
	for _, x := range []struct {
		index      uint16
		event      bool // the device has reported an event at block 4
		rule, text string
	}{
		{1, false, "T10", "completion of entry 1, where no entry begins"},
		{2, true, "T2", "completion of entry 2 after an event at entry 4"},
		{6, false, "T10", "completion of entry 6, but 0 to 4 are in progress"},
		{0, true, "", ""},
	} {
		nic, d := newFake(t, false)
		var ends []TxEnd
		q, err := d.OpenTx(TxConfig{QueueConfig: QueueConfig{Queue: 1, LogSize: 3},
			OnEnd:   func(_ *TxQueue, e *TxEnd) { ends = append(ends, TxEnd{e.First, e.N, e.Blocks, nil}) },
			OnEvent: func(*TxQueue, Event) {}})
		require.NoError(t, err)
		for _, inline := range []int{100, 176} { // two blocks, then three
			require.NoError(t, q.Post(&Send{Inline: make([]byte, inline)}))
		}
		require.NoError(t, q.Ring())
		cqe := nicspec.TxCqe(make([]byte, nicspec.CqeBytes))
		cqe.SetQueue(1)
		if x.event {
			cqe.SetType(nicspec.CqeTypeEvent)
			cqe.SetStatus(nicspec.StatusCplAbort)
			cqe.SetIndex(4)
			nic.complete(&nic.tx[1], cqe)
		}
		cqe.SetType(nicspec.CqeTypeTx)
		cqe.SetStatus(nicspec.StatusOk)
		cqe.SetIndex(x.index)
		nic.complete(&nic.tx[1], cqe)
		if x.rule != "" {
			breaks(t, d, x.rule, x.text)
			continue
		}
		require.NoError(t, d.Err())
		require.Equal(t, []TxEnd{{0, 1, 2, nil}}, ends)
		require.NoError(t, q.Disable(nil))
		first, n := q.Unended()
		require.Equal(t, [2]int{2, 1}, [2]int{int(first), n})
	}
}

// former is a NIC of an earlier revision of the contract.
type former struct{ *fakeNIC }

func (f former) ReadReg(off uint32, n int, done func(uint64, error)) {
	switch off {
	case nicspec.RegId:
		done(nicspec.DeviceMagic, nil)
	case nicspec.RegVersion:
		done(0x10000, nil)
	default:
		f.fakeNIC.ReadReg(off, n, done)
	}
}

// TestFormerRevisionIsRefused checks that Probe ends the driver of a NIC of another major revision.
func TestFormerRevisionIsRefused(t *testing.T) {
	nic, _ := newFake(t, false)
	d, err := New(former{nic}, DefaultOptions())
	require.NoError(t, err)
	d.Probe(func(nicspec.Build) { t.Error("it was taken for one of revision 2") })
	require.ErrorContains(t, d.Err(), "the NIC follows revision 1.0 of the contract: want revision 2.x")
}
