package pipe

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/stack/verbs"
)

// draw draws a valid send element.
func draw(t *rapid.T) SendElement {
	e := SendElement{
		Opcode: rapid.SampledFrom([]verbs.Opcode{verbs.WRSend, verbs.WRWriteImm, verbs.WRRead, verbs.WRCmpSwap,
			verbs.WRSendInv}).Draw(t, "opcode"),
		Flags: verbs.SendFlags(rapid.IntRange(0, 7).Draw(t, "flags")),
		QPN:   rapid.Uint32().Draw(t, "qpn"), ID: rapid.Uint64().Draw(t, "id"), Imm: rapid.Uint32().Draw(t, "imm"),
		Spans: []Span{},
	}
	if e.Datagram = rapid.Bool().Draw(t, "datagram"); e.Datagram {
		e.QKey, e.DestQPN, e.AH = rapid.Uint32().Draw(t, "qkey"), rapid.Uint32().Draw(t, "dest"),
			rapid.Uint32().Draw(t, "ah")
	} else {
		e.RKey, e.RemoteAddr = rapid.Uint32().Draw(t, "rkey"), rapid.Uint64().Draw(t, "remote")
	}
	switch {
	case e.Opcode.IsAtomic():
		e.CompareAdd, e.Swap = rapid.Uint64().Draw(t, "compare"), rapid.Uint64().Draw(t, "swap")
		e.Spans = []Span{{rapid.Uint64().Draw(t, "addr"), 8}}
	case rapid.Bool().Draw(t, "inline"):
		e.Flags |= verbs.SendInline
		e.Inline = rapid.SliceOfN(rapid.Byte(), 0, MaxInline).Draw(t, "bytes")
	default:
		for range rapid.IntRange(0, 40).Draw(t, "spans") {
			e.Spans = append(e.Spans,
				Span{rapid.Uint64().Draw(t, "addr"), uint32(rapid.IntRange(0, 1<<20).Draw(t, "n"))})
		}
	}
	return e
}

// TestSendElements checks that decoding returns every field that was encoded, from as many lines as Lines says.
func TestSendElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := draw(t)
		b, err := e.Encode(make([]byte, MaxLines*LineBytes))
		require.NoError(t, err)
		require.Len(t, b, e.Lines()*LineBytes)
		for i := tagAt; i < len(b); i += LineBytes {
			require.Zero(t, b[i], "a tag's place")
		}
		got := SendElement{Spans: []Span{}}
		require.NoError(t, got.Decode(b))
		if e.Flags&verbs.SendInline != 0 {
			e.Spans = nil
			got.Inline = append([]byte{}, got.Inline...)
		}
		require.Equal(t, e, got)
	})
}

// TestSendElementLines checks that an element takes one line at least, and more for inline payload and long lists.
func TestSendElementLines(t *testing.T) {
	for inline, want := range map[int]int{0: 1, 27: 1, 28: 2, 64: 2, 90: 2, 91: 3, 4096: 66, MaxInline: MaxLines} {
		e := SendElement{Flags: verbs.SendInline, Inline: make([]byte, inline)}
		require.Equal(t, want, e.Lines(), "%d B inline", inline)
	}
	for spans, want := range map[int]int{0: 1, 1: 1, 2: 1, 3: 2, 7: 2, 8: 3} {
		e := SendElement{Spans: make([]Span, spans)}
		require.Equal(t, want, e.Lines(), "%d spans", spans)
	}
	buf := make([]byte, MaxLines*LineBytes)
	for _, c := range []struct {
		e    SendElement
		buf  []byte
		says string
	}{
		{SendElement{Flags: verbs.SendInline, Inline: make([]byte, MaxInline+1)}, buf,
			"7966 B inline or 0 spans: want 7965 and 255 at most"},
		{SendElement{Spans: make([]Span, 256)}, buf, "0 B inline or 256 spans"},
		{SendElement{Opcode: verbs.WRFetchAdd, Spans: make([]Span, 2)}, buf, "an atomic with 2 spans: want one of 8 B"},
		{SendElement{Spans: []Span{{0, 1 << 31}, {0, 1 << 31}}}, buf,
			"an element of 4294967296 B: want less than 2^32"},
		{SendElement{Spans: make([]Span, 3)}, buf[:64], "an element of 2 lines into 64 B"},
	} {
		_, err := c.e.Encode(c.buf)
		require.ErrorContains(t, err, c.says)
	}
}

// TestLayouts checks each layout byte by byte, because the ends of a pipe may be different programs.
func TestLayouts(t *testing.T) {
	e := SendElement{Opcode: verbs.WRWriteImm, Flags: verbs.SendSignaled, QPN: 0x010203, ID: 0x1112131415161718,
		Imm:  0x21222324,
		RKey: 0x31323334, RemoteAddr: 0x4142434445464748, Spans: []Span{{0x5152535455565758, 0x61626364}}}
	b, err := e.Encode(make([]byte, 64))
	require.NoError(t, err)
	require.Equal(t, []byte{
		1, 2, 1, 0, 3, 2, 1, 0, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0x24, 0x23, 0x22, 0x21, 0x34, 0x33,
		0x32, 0x31,
		0x48, 0x47, 0x46, 0x45, 0x44, 0x43, 0x42, 0x41, 0x64, 0x63, 0x62, 0x61, 0x58, 0x57, 0x56, 0x55, 0x54, 0x53,
		0x52, 0x51,
		0x64, 0x63, 0x62, 0x61, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	}, b)
	r := RecvEntry{Addr: 0x010203040506, Bytes: 0x11121314, QPN: 0x212223, More: true}
	require.NoError(t, r.Encode(b))
	require.Equal(t, []byte{6, 5, 4, 3, 2, 1, 0x14, 0x13, 0x12, 0x11, 0x23, 0x22, 0x21, 3, 0, 0}, b[:16])
	c := Completion{0x1112131415161718, verbs.WCFlushErr, verbs.WCRecv, verbs.WCWithImm, true, true, 0x21222324,
		0x31323334, 0x41, 0x51}
	c.Encode(b)
	require.Equal(t, []byte{0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 5, 128, 2, 3, 0x24, 0x23, 0x22, 0x21, 0x34,
		0x33, 0x32, 0x31, 0x41, 0, 0, 0, 0x51, 0, 0, 0}, b[:28])
	var decoded Completion
	require.NoError(t, decoded.Decode(b))
	require.Equal(t, c, decoded)
}

// TestPacker checks that entries are sent in groups of four, one to three remaining ones by a flush, and that a request
// is taken whole or not at all.
func TestPacker(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := new(plain)
		s := Spec{LogLines: 3, Batch: 1, Credit: rapid.IntRange(1, 8).Draw(t, "credit")}
		p, err := NewProducer(s, place, mem)
		require.NoError(t, err)
		c, err := NewConsumer(s, place, mem)
		require.NoError(t, err)
		pack := NewPacker(p)
		var want, got []RecvEntry
		sent := 0
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				require.NoError(t, pack.Flush())
				sent = len(want)
			case 1:
				b, err := c.Poll()
				require.NoError(t, err)
				if b != nil {
					got, err = DecodeRecv(got, b)
					require.NoError(t, err)
				}
			default:
				spans := make([]Span, rapid.IntRange(0, 6).Draw(t, "pieces"))
				for i := range spans {
					spans[i] = Span{uint64(len(want) + i), uint32(i)}
				}
				waiting := pack.Waiting()
				if err := pack.Push(9, spans); err != nil {
					require.ErrorIs(t, err, verbs.ENOMEM)
					require.Equal(t, waiting, pack.Waiting())
					continue
				}
				for i := range max(1, len(spans)) {
					e := RecvEntry{QPN: 9, More: i+1 < len(spans)}
					if i < len(spans) {
						e.Addr, e.Bytes = spans[i].Addr, spans[i].Bytes
					}
					want = append(want, e)
				}
				sent = len(want) - pack.Waiting()
			}
		}
		require.NoError(t, pack.Flush())
		for range 10 {
			b, err := c.Poll()
			require.NoError(t, err)
			if b != nil {
				got, err = DecodeRecv(got, b)
				require.NoError(t, err)
			}
		}
		require.LessOrEqual(t, sent, len(want))
		require.Equal(t, want, got)
	})
	full := NewPacker(mustProducer(t, Spec{0, 1, 1}))
	require.NoError(t, full.Push(1, make([]Span, 4)))
	require.ErrorIs(t, full.Push(1, nil), verbs.ENOMEM)
	far := NewPacker(mustProducer(t, DefaultSpec()))
	require.ErrorContains(t, far.Push(1, []Span{{0, 1}, {1 << 48, 1}}),
		"want addresses below 2^48 and numbers below 2^24")
	require.Zero(t, far.Waiting(), "nothing of it was taken")
	require.ErrorContains(t, far.Push(1<<24, nil), "of queue pair 0x1000000")
}

func mustProducer(t *testing.T, s Spec) *Producer {
	p, err := NewProducer(s, place, new(plain))
	require.NoError(t, err)
	return p
}

// FuzzElements checks that decoding arbitrary bytes does not panic, and accepts only what encoding writes.
func FuzzElements(f *testing.F) {
	for _, e := range []SendElement{
		{}, {Opcode: verbs.WRCmpSwap, Spans: []Span{{1, 8}}}, {Flags: verbs.SendInline, Inline: make([]byte, 100)},
		{Datagram: true, Spans: make([]Span, 9)},
	} {
		b, err := e.Encode(make([]byte, MaxLines*LineBytes))
		require.NoError(f, err)
		f.Add(b)
	}
	p := NewPacker(mustSender{f})
	require.NoError(f, p.Push(3, make([]Span, 2)))
	require.NoError(f, p.Flush())
	line := make([]byte, 64)
	(&Completion{ID: 1, Flags: verbs.WCGRH}).Encode(line)
	f.Add(line)
	f.Fuzz(func(t *testing.T, b []byte) {
		for i := tagAt; i < len(b); i += LineBytes {
			b[i] = 0 // the pipe itself writes the last byte of each line
		}
		var e SendElement
		if e.Decode(b) == nil {
			encoded, err := e.Encode(make([]byte, len(b)))
			require.NoError(t, err)
			var decoded SendElement
			require.NoError(t, decoded.Decode(encoded))
			require.Equal(t, e, decoded)
		}
		if list, err := DecodeRecv(nil, b); err == nil {
			var line [LineBytes]byte
			for i := range list {
				require.NoError(t, list[i].Encode(line[i*entryBytes:]))
			}
			require.Equal(t, b, line[:])
		}
		var c Completion
		if c.Decode(b) == nil {
			line := make([]byte, LineBytes)
			c.Encode(line)
			require.Equal(t, b, line)
		}
	})
}

// mustSender is a Sender that adds everything sent to a fuzz corpus.
type mustSender struct{ f *testing.F }

func (m mustSender) Push(b []byte) error { m.f.Add(bytes.Clone(b)); return nil }
func (m mustSender) Flush() error        { return nil }
func (m mustSender) Room() int           { return 1 }
func (m mustSender) Refresh()            {}

// FuzzConsumer checks that the consumer of a ring with arbitrary bytes does not panic, and returns whole lines or an
// error.
func FuzzConsumer(f *testing.F) {
	f.Add([]byte{0x81, 0x82, 0x81, 0x01})
	f.Add([]byte{0x83, 0x82, 0x80})
	f.Fuzz(func(t *testing.T, tags []byte) {
		mem := new(plain)
		c, err := NewConsumer(Spec{3, 1, 1}, place, mem)
		require.NoError(t, err)
		for i, tag := range tags {
			mem.b[ringAt+i%8*LineBytes+tagAt] = tag
			e, err := c.Poll()
			if err != nil {
				require.Nil(t, e)
				return
			}
			require.Zero(t, len(e)%LineBytes)
			require.LessOrEqual(t, len(e), 8*LineBytes)
		}
	})
}
