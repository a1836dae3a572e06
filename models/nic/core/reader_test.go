package core

import (
	"nictwin/models/nic/nictest"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// TestReaderReassembles: a transfer arrives whole however it is split into requests and
// completions, and in whatever order the completions of different requests come.
func TestReaderReassembles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9216).Draw(t, "n")
		addr := uint64(0x1_0000_0000) + uint64(rapid.IntRange(0, 8192).Draw(t, "addr"))
		mrrs := 128 << rapid.IntRange(0, 5).Draw(t, "mrrs")
		memory := nictest.Pattern(32768, 3)
		cpl, err := tlp.NewCompleter(0, tlp.Limits{MPS: 128, MRRS: 4096, RCB: 64}, tlp.CplRandom,
			rapid.Uint64().Draw(t, "seed"))
		require.NoError(t, err)
		mem := func(a uint64, dst []byte) error { copy(dst, memory[a-0x1_0000_0000:]); return nil }
		r := NewReader(rapid.IntRange(1, 8).Draw(t, "tags"))
		var rd Read
		rd.Begin(addr, make([]byte, n))
		var replies []tlp.Reply
		cycle := int64(0)
		for !rd.Done() {
			cycle++
			if rd.Wants() && r.CanIssue(cycle) && rapid.Bool().Draw(t, "issue") {
				h := r.Issue(&rd, mrrs)
				var hdr [16]byte
				require.NoError(t, h.Encode(&hdr))
				require.LessOrEqual(t, int(h.Length)*4, mrrs)
				r.Accepted(h.Tag, cycle, 1<<20)
				reply, err := cpl.Begin(&h)
				require.NoError(t, err)
				replies = append(replies, reply)
				continue
			}
			if len(replies) == 0 {
				continue
			}
			i := rapid.IntRange(0, len(replies)-1).Draw(t, "which")
			var p tlp.Packet
			require.NoError(t, replies[i].Fill(&p, mem))
			if !replies[i].More() {
				replies = append(replies[:i], replies[i+1:]...)
			}
			var h tlp.Header
			require.Equal(t, InCompletion, DecodeInbound(&p.Hdr, &h))
			h.RequesterID = nicspec.RequesterNic
			_, res := r.Complete(&h, p.Data, cycle, cycle, 1<<20)
			require.Contains(t, []CplResult{CplProgress, CplEnded}, res)
		}
		require.Equal(t, nicspec.StatusOk, rd.Status)
		require.Equal(t, memory[addr-0x1_0000_0000:][:n], rd.Dst)
		require.Zero(t, r.Outstanding())
	})
}

func TestCompletionsThatDoNotFit(t *testing.T) {
	good := tlp.Header{Kind: tlp.CplD, RequesterID: nicspec.RequesterNic, Length: 3, ByteCount: 10, LowerAddr: 2}
	for _, c := range []struct {
		name string
		mod  func(*tlp.Header)
		data int
		want nicspec.Status
		held bool // the tag stays held
	}{
		{"whole", func(*tlp.Header) {}, 12, nicspec.StatusOk, false},
		{"UR", func(h *tlp.Header) { h.Kind, h.Status = tlp.Cpl, tlp.StatusUR }, 0, nicspec.StatusCplUnsupported,
			false},
		{"CA", func(h *tlp.Header) { h.Kind, h.Status = tlp.Cpl, tlp.StatusCA }, 0, nicspec.StatusCplAbort, false},
		{"CRS", func(h *tlp.Header) { h.Kind, h.Status = tlp.Cpl, tlp.StatusCRS }, 0, nicspec.StatusCplAbort, false},
		{"reserved status, with data", func(h *tlp.Header) { h.Status = 7 }, 12, nicspec.StatusCplAbort, false},
		{"poison", func(h *tlp.Header) { h.EP = true }, 12, nicspec.StatusCplPoison, true},
		{"poison in the middle", func(h *tlp.Header) { h.EP, h.Length = true, 1 }, 4, nicspec.StatusCplPoison, true},
		{"UR before poison", func(h *tlp.Header) { h.EP, h.Status = true, tlp.StatusUR }, 12,
			nicspec.StatusCplUnsupported, false},
		{"poison before misfit", func(h *tlp.Header) { h.EP, h.ByteCount = true, 9 }, 12, nicspec.StatusCplPoison,
			true},
		{"byte count", func(h *tlp.Header) { h.ByteCount = 9 }, 12, nicspec.StatusCplMalformed, true},
		{"lower address", func(h *tlp.Header) { h.LowerAddr = 0 }, 12, nicspec.StatusCplMalformed, true},
		{"too long", func(h *tlp.Header) { h.Length = 4 }, 16, nicspec.StatusCplMalformed, true},
		{"payload short", func(*tlp.Header) {}, 8, nicspec.StatusCplMalformed, true},
		{"no data", func(h *tlp.Header) { h.Kind, h.Length = tlp.Cpl, 0 }, 0, nicspec.StatusCplMalformed, true},
	} {
		r := NewReader(1)
		var rd Read
		rd.Begin(0x1002, make([]byte, 10))
		h := r.Issue(&rd, 128)
		require.Equal(t, [...]uint8{0xc, 0xf}, [...]uint8{h.FirstBE, h.LastBE})
		r.Accepted(h.Tag, 5, 1024)
		cpl := good
		c.mod(&cpl)
		got, res := r.Complete(&cpl, make([]byte, c.data), 10, 10, 1024)
		require.Equal(t, &rd, got, c.name)
		require.Equal(t, c.want, rd.Status, c.name)
		require.Equal(t, c.want != nicspec.StatusOk, res == CplFailed, c.name)
		require.True(t, rd.Done(), c.name)
		require.Equal(t, !c.held, r.CanIssue(11), c.name)
		require.Equal(t, !c.held, r.CanIssue(10+1023), c.name)
		require.True(t, r.CanIssue(10+1024), c.name)
		_, res = r.Complete(&good, make([]byte, 12), 12, 12, 1024)
		require.Equal(t, CplUnexpected, res, c.name)
	}
}

// TestCompletionsTooEarly: a completion that began no later than its request was accepted does not
// belong to it [P7].
func TestCompletionsTooEarly(t *testing.T) {
	r := NewReader(1)
	var rd Read
	rd.Begin(0x1000, make([]byte, 4))
	tag := r.Issue(&rd, 128).Tag
	cpl := tlp.Header{Kind: tlp.CplD, RequesterID: nicspec.RequesterNic, Tag: tag, Length: 1, ByteCount: 4}
	_, res := r.Complete(&cpl, make([]byte, 4), 3, 4, 1024)
	require.Equal(t, CplUnexpected, res)
	r.Accepted(tag, 5, 1024)
	for _, first := range []int64{4, 5} {
		_, res = r.Complete(&cpl, make([]byte, 4), first, 9, 1024)
		require.Equal(t, CplUnexpected, res, "first beat in cycle %d", first)
	}
	_, res = r.Complete(&cpl, make([]byte, 4), 6, 9, 1024)
	require.Equal(t, CplEnded, res)
}

func TestTimeouts(t *testing.T) {
	r := NewReader(4)
	var a, b Read
	a.Begin(0, make([]byte, 256))
	b.Begin(4096, make([]byte, 8))
	h0 := r.Issue(&a, 128)
	h1 := r.Issue(&b, 128)
	h2 := r.Issue(&a, 128)
	r.Accepted(h0.Tag, 100, 1024)
	r.Accepted(h1.Tag, 101, 1024)
	r.Accepted(h2.Tag, 102, 1024)
	require.Nil(t, r.Expire(1123, 1024))
	require.Equal(t, &a, r.Expire(1124, 1024))
	require.False(t, a.Done())
	require.Nil(t, r.Expire(1124, 1024))
	require.Equal(t, &b, r.Expire(1200, 1024))
	require.Equal(t, &a, r.Expire(1200, 1024))
	require.Nil(t, r.Expire(1200, 1024))
	require.True(t, a.Done() && b.Done())
	require.Equal(t, nicspec.StatusCplTimeout, b.Status)
	require.EqualValues(t, Never, r.Deadline())
	require.True(t, r.CanIssue(1201), "the fourth tag")
	for _, h := range []tlp.Header{h0, h1, h2} {
		require.NotEqual(t, *r.free.Front(), h.Tag)
	}
	require.True(t, r.CanIssue(1124+1024))
	require.Equal(t, 2, r.free.Len())
	require.EqualValues(t, 1200+1024, r.Held())
}
