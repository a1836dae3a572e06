package ref

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// mistaken requires that f panics with a Mistake that contains want.
func mistaken(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		m, ok := recover().(*Mistake)
		require.True(t, ok, "want a mistake: %s", want)
		require.ErrorContains(t, m, want)
	}()
	f()
}

// Transactions that a reference subscribed to, expected or compared are counted by stream.
func TestTallies(t *testing.T) {
	s, o, e := record("s", true, Field{"v", 8}), record("o", false, Field{"v", 8}), record("e", false, Field{"v", 8})
	u := record("u", false, Field{"v", 8})
	p, _ := newBench(s, o, e, u)
	p.On("s", func(m *Msg) { p.Expect("o", Fields{"v": m.U("v")}, nil) })
	p.On("u", func(m *Msg) { p.Want(m, Fields{"v": 7}) })
	p.Nothing("e")
	for n, v := range []byte{1, 2} {
		p.Deliver(&Msg{Of: s, N: uint64(n), Side: []byte{v}})
	}
	out(p, o, 0, 1)
	out(p, u, 1, 7)
	require.Nil(t, p.Failed())
	require.Equal(t, []Tally{
		{Stream: "s", In: true, Told: 2, Covered: true},
		{Stream: "o", Told: 1, Expected: 2, Compared: 1, Covered: true},
		{Stream: "e", Covered: true, Nothing: true},
		{Stream: "u", Told: 1, Compared: 1, Covered: true},
	}, p.Tallies())
	require.Equal(t, 2, p.Judged())
	require.Zero(t, p.Memories())
	p.Same(p.NewMemory("a"), 0, p.NewMemory("b"), 0, 0, "nothing")
	require.Equal(t, 1, p.Memories())
}

// Serving a port with a memory does not cover it: the requests are compared with the rules of AXI only.
func TestServedPortsAreNotCovered(t *testing.T) {
	port := []*Stream{
		record("a.aw", false, Field{"awaddr", 16}), record("a.w", false, Field{"wdata", 32}, Field{"wstrb", 4}),
		record("a.b", true, Field{"bresp", 2}),
		record("a.ar", false, Field{"araddr", 16}), record("a.r", true, Field{"rdata", 32}, Field{"rresp", 2}),
	}
	p, b := newBench(port...)
	p.ServeAXI("a", p.NewMemory("memory"), 0)
	p.Deliver(&Msg{Of: port[3], Side: []byte{8, 0}})
	require.Len(t, b.offers, 1)
	for _, x := range p.Tallies() {
		require.False(t, x.Covered, x.Stream)
		require.Equal(t, x.Told, x.Compared, x.Stream)
	}
}

// Nil functions, data that a stream cannot carry and endless transactions are refused by the call that gets them.
func TestWrongCalls(t *testing.T) {
	s, r, o := &Stream{Name: "s", In: true, Unit: 2, Most: 8}, record("r", true, Field{"v", 8}),
		record("o", false, Field{"v", 8})
	p, _ := newBench(s, r, o)
	mistaken(t, "On of stream s: the function is nil", func() { p.On("s", nil) })
	mistaken(t, "Draw of stream s: the function is nil", func() { p.Draw("s", nil) })
	mistaken(t, "Done: the function is nil", func() { p.Done(nil) })
	mistaken(t, "End: the function is nil", func() { p.End(nil) })
	mistaken(t, "OnReset: the function is nil", func() { p.OnReset(nil) })
	mistaken(t, "OnSegments of stream o: the function is nil", func() { p.OnSegments("o", Segments{}, nil) })
	mistaken(t, "stream s: a packet needs data", func() { p.Give("s", 0, nil, nil) })
	mistaken(t, "stream s: 3 bytes of data: want a multiple of 2", func() { p.Give("s", 0, nil, make([]byte, 3)) })
	mistaken(t, "stream s: 10 bytes of data: want at most 8", func() { p.Answer("s", 0, nil, make([]byte, 10)) })
	mistaken(t, "stream r has only fields: want no data, got 1 bytes", func() { p.Give("r", 0, nil, make([]byte, 1)) })
	mistaken(t, "stream s: a delay of 1048577 cycles: want at most 1048576",
		func() { p.Give("s", MaxDelay+1, nil, make([]byte, 2)) })
	p.Expect("o", nil, nil)
	mistaken(t, "stream o: Drops with Above comes after Expect", func() { p.Drops("o", Drops{Whole: true, Above: 1}) })
	p.Bound(3)
	p.Give("s", MaxDelay, nil, make([]byte, 2))
	p.Job()
	mistaken(t, "it drew, gave and expected more than 3 transactions in a run", func() { p.Expect("o", nil, nil) })
}

// A mistake in a function's results is reported with the position of that function.
func TestDrawnMistakes(t *testing.T) {
	p, _ := newBench(&Stream{Name: "s", In: true, Fields: []Field{{"v", 8}}})
	empty := func() (Fields, []byte) { return nil, nil }
	p.Draw("s", empty)
	defer func() {
		m, ok := recover().(*Mistake)
		require.True(t, ok)
		file, line := Place(empty)
		require.Equal(t, Mistake{"stream s: a packet needs data", file, line}, *m)
	}()
	p.Drawn("s")
}

// Where captures provide the data of an input, Draw draws its fields only.
func TestDrawnBesideCaptures(t *testing.T) {
	p, _ := newBench(&Stream{Name: "s", In: true, Fields: []Field{{"v", 8}}})
	p.Declare(&Declared{Carried: []string{"s"}})
	p.Draw("s", func() (Fields, []byte) { return Fields{"v": 5}, nil })
	side, data, ok := p.Drawn("s")
	require.True(t, ok)
	require.Equal(t, []byte{5}, side)
	require.Empty(t, data)
}

// Watch reports each call before it is made, with file and line of the function that was passed.
func TestWatch(t *testing.T) {
	s := record("s", true, Field{"v", 8})
	p, _ := newBench(s)
	var calls []Call
	p.Watch(func(c Call) { calls = append(calls, c) })
	f := func(*Msg) { require.Len(t, calls, 1) }
	p.On("s", f)
	p.Done(func() bool { return true })
	p.Deliver(&Msg{Of: s, Side: []byte{1}})
	p.Over()
	file, line := Place(f)
	require.Equal(t, Call{"On", "s", file, line}, calls[0])
	require.Equal(t, "Done", calls[1].What)
}
