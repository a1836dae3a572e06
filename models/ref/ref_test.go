package ref

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
)

// bench is the player of a run without a device.
type bench struct {
	offers []Offer
	jobs   int
}

func (b *bench) Offer(o Offer)                   { b.offers = append(b.offers, o) }
func (b *bench) Job() bool                       { b.jobs++; return true }
func (b *bench) Now() uint64                     { return 0 }
func (b *bench) Observed(string) (uint64, bool)  { return 0, false }
func (b *bench) Parameter(string) (string, bool) { return "", false }

func newBench(streams ...*Stream) (*Player, *bench) {
	b := &bench{}
	return New(b, rand.New(rand.NewPCG(1, 2)), streams, true), b
}

func record(name string, in bool, fields ...Field) *Stream {
	return &Stream{Name: name, In: in, Kind: Record, Fields: fields}
}

// out delivers transaction n of an output with these side bytes.
func out(p *Player, s *Stream, n uint64, side ...byte) {
	p.Deliver(&Msg{Of: s, N: n, First: n, Last: n, Side: side})
}

// Transactions must be the expected ones, in the order of each source. Where two sources expect the same, either
// may be next.
func TestExpect(t *testing.T) {
	run := func(prepare func(p *Player), came ...byte) error {
		o := record("o", false, Field{"v", 8}, Field{"id", 8})
		p, _ := newBench(o)
		prepare(p)
		for i, v := range came {
			out(p, o, uint64(i), v, v>>4)
		}
		if p.Failed() == nil && !p.Over() {
			p.Stuck(99, "nothing")
		}
		if f := p.Failed(); f != nil {
			return f
		}
		return nil
	}
	two := func(p *Player) {
		for _, v := range []int{1, 2, 3} {
			p.ExpectFrom("a", "o", Fields{"v": v}, nil)
		}
		for _, v := range []int{1, 4} {
			p.ExpectFrom("b", "o", Fields{"v": v}, nil)
		}
	}
	require.NoError(t, run(two, 1, 2, 3, 1, 4))
	require.NoError(t, run(two, 1, 4, 1, 2, 3), "the first 1 is that of b, as turns out later")
	require.ErrorContains(t, run(two, 1, 3), "o[1] field v: expected 0x2, got 0x3")
	require.ErrorContains(t, run(two, 1, 2, 3, 1), "o[4] transaction: expected v=0x4, got nothing")
	require.ErrorContains(t, run(two, 1, 2, 3, 1, 4, 5), "expected none, got v=0x5")
	whole := func(p *Player) { p.Drops("o", Drops{Whole: true}); two(p) }
	require.NoError(t, run(whole, 3, 4))
	require.ErrorContains(t, run(whole, 3, 2), "o[1] field v: expected 0x1, got 0x2")
	ordered := func(p *Player) {
		p.Order("o", "id")
		for _, v := range []int{0x10, 0x20, 0x11, 0x21} {
			p.Expect("o", Fields{"v": v, "id": v >> 4}, nil)
		}
	}
	require.NoError(t, run(ordered, 0x20, 0x21, 0x10, 0x11))
	require.Error(t, run(ordered, 0x21))
}

func TestDropsAbove(t *testing.T) {
	s := &Stream{Name: "o", Kind: Packets}
	p, _ := newBench(s)
	p.Drops("o", Drops{Whole: true, Above: 30})
	for i := range 4 {
		p.Expect("o", nil, []byte(fmt.Sprintf("packet %d..", i)))
	}
	require.False(t, p.Over(), "the first two may not be missing: less was under way")
	p.Deliver(&Msg{Of: s, Data: []byte("packet 0..")})
	p.Deliver(&Msg{Of: s, N: 1, Data: []byte("packet 1..")})
	require.True(t, p.Over())
	require.Equal(t, 2, p.Dropped("o"))
	p.Deliver(&Msg{Of: s, N: 2, Data: []byte("packet 3..")})
	require.Nil(t, p.Failed())
	require.Equal(t, 1, p.Dropped("o"))
}

// caught returns the error that f panics with, nil if it does not.
func caught(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

func TestMistakes(t *testing.T) {
	in, o := record("i", true, Field{"v", 4}, Field{"w", 72}), record("o", false, Field{"v", 8})
	p, b := newBench(in, o)
	for want, f := range map[string]func(){
		`the device has no stream "x": it has [i o]`:          func() { p.On("x", nil) },
		"stream o is an output":                               func() { p.Give("o", 0, nil, nil) },
		"stream i is an input: want an output to expect from": func() { p.Expect("i", nil, nil) },
		`stream i has no field "q": it has [v w]`:             func() { p.Give("i", 0, Fields{"q": 1}, nil) },
		"field v of 4 bits cannot be 0x10":                    func() { p.Give("i", 0, Fields{"v": 16}, nil) },
		"a value of type string: want a whole number":         func() { p.Give("i", 0, Fields{"v": "x"}, nil) },
		"stream i has only fields: want no data, got 1 bytes": func() { p.Give("i", 0, nil, []byte{1}) },
		"has 72 bits: ask for its bytes":                      func() { (&Msg{Of: in, Side: make([]byte, 10)}).U("w") },
		`"busy" is not among the manifest's observe`:          func() { p.Observed("busy") },
	} {
		require.ErrorContains(t, caught(f), want)
	}
	p.Give("i", 7, Fields{"v": 9, "w": []byte{1, 2, 3, 4, 5, 6, 7, 8, 9}}, nil)
	require.Equal(t, []byte{9, 1, 2, 3, 4, 5, 6, 7, 8, 9}, b.offers[len(b.offers)-1].Side)
}

// Packets that Beats packs into segments, with gaps, must come out of OnSegments unchanged.
func TestSegments(t *testing.T) {
	for _, valid := range []string{"", "valid"} {
		s := record("s", false, Field{"data", 256}, Field{"valid", 2}, Field{"sop", 2}, Field{"eop", 2},
			Field{"end", 4})
		seg := Segments{Count: 2, Data: "data", Valid: valid, Start: "sop", End: "eop", Last: "end"}
		p, _ := newBench(s)
		var got, sent [][]byte
		p.OnSegments("s", seg, func(_ *Msg, b []byte) { got = append(got, b) })
		r := rand.New(rand.NewPCG(3, 4))
		for range 200 {
			b := make([]byte, 4*(1+r.IntN(20)))
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			sent = append(sent, b)
		}
		for n, f := range seg.Beats(s, sent, func() bool { return r.IntN(4) == 0 }) {
			p.Deliver(&Msg{Of: s, N: uint64(n), Side: s.Pack(f)})
		}
		require.Nil(t, p.Failed())
		require.Equal(t, sent, got)
		require.True(t, p.Over())
		p.Deliver(&Msg{Of: s, Side: s.Pack(Fields{"sop": 3, "eop": 0, "valid": 3})})
		require.ErrorContains(t, p.Failed(), "no start before the end")
	}
	require.Equal(t, 2, DWs(16))
}

// The completions of a read cover all of its bytes, end at multiples of the read completion boundary, and have the
// right byte counts.
func TestComplete(t *testing.T) {
	m := (&Player{rand: rand.New(rand.NewPCG(5, 6))}).NewMemory("m")
	r := rand.New(rand.NewPCG(7, 8))
	p, _ := newBench(record("c", false))
	for range 500 {
		at, n := r.Uint64N(1<<20), 1+r.IntN(1000)
		n = min(n, int(4096-at%4096))
		length, first, last := tlp.Enables(at, n)
		req := TLP{Kind: tlp.MRd, Length: length, FirstBE: first, LastBE: last, Address: at &^ 3, Tag: 9}
		var got []byte
		for _, b := range Complete(r, req, m.Read(at, n), 256, 64, 0x100) {
			h, payload, ok := p.ParseTLP(&Msg{Of: p.Stream("c")}, b)
			require.True(t, ok)
			require.Equal(t, n-len(got), int(h.ByteCount))
			skip := int(h.LowerAddr & 3)
			got = append(got, payload[skip:min(len(payload), skip+n-len(got))]...)
		}
		require.Equal(t, m.Read(at, n), got)
	}
}

func TestSpans(t *testing.T) {
	var s Spans
	require.True(t, s.Add(100, 50))
	require.False(t, s.Add(149, 5))
	require.True(t, s.Add(150, 10))
	require.True(t, s.Take(140, 15))
	require.False(t, s.Take(150, 1))
	require.Equal(t, 45, s.Bytes())
	require.True(t, s.Take(100, 40))
	require.True(t, s.Take(155, 5))
	require.Zero(t, s.Bytes())
}
