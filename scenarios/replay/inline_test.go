package replay

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/traffic/craft"
)

// paddedFrames returns RoCE frames with every pad count and pad bytes of zero.
func paddedFrames() (frames [][]byte) {
	tags := []uint32{0x8100_0005, 0x8100_0007}
	for i := range 96 {
		pad := i % 4
		f := craft.Frame{L3: 4 + 2*(i/4%2), Tags: tags[:i%3], Proto: craft.ProtoUDP, DPort: wire.Port, Roce: true,
			Op: uint8(wire.RCSendMiddle), PKey: 0xffff,
			Flags: uint8(pad) << 4, Payload: 40 + 7*i + pad, Seed: uint64(i)}
		b := f.Build()
		clear(b[len(b)-wire.ICRCSize-pad : len(b)-wire.ICRCSize])
		frames = append(frames, b)
	}
	return frames
}

func inlineOptions(nic string, inline int, from Trailer) Options {
	o := options(nic, nil)
	o.Frames, o.Dir, o.Fix, o.Loop = paddedFrames(), "tx", Recompute{ICRC: true}, 3
	o.Shape = everyKind()
	o.Shape.TxLog, o.Shape.Inline, o.Shape.Trailer = 4, inline, from
	return o
}

// Frames with inline bytes, in entries of one to four blocks, come out complete, whatever the source of their trailer,
// even if a ring has room for only a few of these entries.
func TestFramesThatBeginInTheirEntry(t *testing.T) {
	for _, nic := range []string{"model", "rtl"} {
		for _, inline := range []int{1, 54, 64, 120, nicspec.InlineMaxLong} {
			for from := TrailerInPayload; from <= TrailerAppended; from++ {
				t.Run(fmt.Sprintf("%s/%d B/trailer %d", nic, inline, from), func(t *testing.T) {
					o := inlineOptions(nic, inline, from)
					o.Stall = 10 * (inline % 3)
					play(t, o)
				})
			}
		}
	}
}

// A frame that is too long is refused, also among frames with inline bytes.
func TestTooLongBesideInline(t *testing.T) {
	o := inlineOptions("model", 54, TrailerAppended)
	o.Frames = append(o.Frames, make([]byte, nicspec.FrameMax+1))
	res := play(t, o)
	require.Equal(t, o.Loop, res.Tx.Refused)
}

func TestShapesWithInlineThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		mod  func(*Options)
		want string
	}{
		{func(o *Options) { o.Shape.Inline = 177 }, "shape: 177 B inline: want 0 to 176"},
		{func(o *Options) { o.Shape.Inline = -1 }, "shape: -1 B inline: want 0 to 176"},
		{func(o *Options) { o.Shape.Header = 54 }, "shape: 54 B inline and header pieces of 54 B: want one of them"},
		{func(o *Options) { o.Shape.TxLog = 3 },
			"shape: 54 B inline in transmit rings of 2^3 blocks: want 2^4 or more"},
		{func(o *Options) { o.Shape.Trailer = 3 }, "shape: trailer 3: want 0 to 2"},
		{func(o *Options) { o.Shape.Inline = 0 }, "shape: trailers apart from the payload: want bytes inline"},
		{func(o *Options) { o.Fix = Recompute{} }, "shape: trailers apart from the payload: want the ICRC recomputed"},
	} {
		o := inlineOptions("model", 54, TrailerAppended)
		c.mod(&o)
		_, err := New(context.Background(), o)
		require.ErrorContains(t, err, c.want)
	}
}

func TestFramesWithoutTrailerToAppend(t *testing.T) {
	for _, c := range []struct {
		frame func(b []byte) []byte
		want  string
	}{
		{func(b []byte) []byte { return append(b, 0, 0) }, "frame 1: UDP length 88 of 90 bytes: want a frame that " +
			"ends with its ICRC"},
		{func(b []byte) []byte { b[len(b)-5] = 1; return b }, "frame 1: pad byte 0x01: want 0"},
		{func([]byte) []byte { return make([]byte, 100) }, "frame 1: a trailer apart from the payload: want a RoCE " +
			"frame"},
	} {
		o := inlineOptions("model", 54, TrailerAppended)
		good := paddedFrames()[3]
		o.Frames = [][]byte{good, c.frame(append([]byte(nil), good...))}
		_, err := start(t, o).Play()
		require.ErrorContains(t, err, c.want)
	}
}
