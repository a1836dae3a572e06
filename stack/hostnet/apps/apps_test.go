package apps

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/apps/kind"
)

// TestPattern checks that a message's bytes do not depend on the pieces in which they are asked for, and differ by
// message, offset and seed.
func TestPattern(t *testing.T) {
	whole := make([]byte, 300)
	pattern(1, 2, 0, whole)
	for from := range 40 {
		for to := from; to < len(whole); to += 37 {
			piece := make([]byte, to-from)
			pattern(1, 2, from, piece)
			require.Equal(t, whole[from:to], piece)
		}
	}
	other := make([]byte, 300)
	pattern(1, 3, 0, other)
	require.NotEqual(t, whole, other)
	pattern(2, 2, 0, other)
	require.NotEqual(t, whole, other)
	require.NotEqual(t, whole[:64], whole[64:128])
	other = bytes.Clone(whole)
	other[7]++
	require.ErrorContains(t, compare("x", 100, other, whole), "x: byte 107 is")
	require.ErrorContains(t, compare("x", 0, other[:9], whole), "x: 9 bytes: want 300")
}

func TestLoad(t *testing.T) {
	for says, l := range map[string]Load{
		"begin_ps -1: want 0 or more": {BeginPs: -1}, "end_ps 5: want more than begin_ps 5": {BeginPs: 5, EndPs: 5},
		"every_ps -1": {EveryPs: -1}, "requests: want a number, or end_ps": {},
	} {
		require.ErrorContains(t, l.Validate(), says)
	}
	s := schedule{Load: Load{Requests: 3, BeginPs: 100, EveryPs: 10, EndPs: 115}}
	require.False(t, s.due(99))
	require.Equal(t, Ps(100), s.Wake())
	require.True(t, s.due(105))
	require.False(t, s.due(109))
	require.True(t, s.due(110))
	require.True(t, s.Idle(), "the next one would be due at 120, after the end")
	require.Equal(t, never, s.Wake())
	require.False(t, s.due(130))
	s = schedule{Load: Load{Requests: 2}}
	for _, want := range []bool{true, true, false, false} {
		require.Equal(t, want, s.due(0))
	}
	require.True(t, s.Idle())
	s = schedule{Load: Load{EndPs: 10}}
	require.True(t, s.due(9) && !s.due(10) && s.Idle())
}

// TestKVAnswers checks that a client takes an answer with a version that its key could have, and no other.
func TestKVAnswers(t *testing.T) {
	spec := KVSpec{Pairs: 1, Puts: 1}
	c, err := NewKVClient(5, spec, 4, Load{Requests: 4})
	require.NoError(t, err)
	for id := range uint32(3) {
		n, ok := c.Next(0, id)
		require.True(t, ok)
		require.Equal(t, PutBytes, n)
	}
	answer := func(version uint32) []byte {
		b := make([]byte, KVAnswerBytes)
		b[0] = opPut
		valueOf(5, 0, version, b[2:])
		return b
	}
	require.NoError(t, c.Answered(0, 0, 1, answer(3)), "the third put overtook the second")
	require.ErrorContains(t, c.Answered(0, 0, 2, answer(2)), "version 2 of pair 0: want 3 to 3")
	require.ErrorContains(t, c.Answered(0, 0, 2, answer(4)), "version 4 of pair 0: want 3 to 3")
	b := answer(3)
	b[40]++
	require.ErrorContains(t, c.Answered(0, 0, 2, b), "kv: value: byte 38 is")
	for _, b := range [][]byte{answer(3)[:65], append([]byte{opGet}, answer(3)[1:]...),
		append([]byte{opPut, kvMissing}, answer(3)[2:]...), {opPut}} {
		require.ErrorContains(t, c.Answered(0, 0, 2, b), "want 66 bytes, operation 2, status 0")
	}
	require.Equal(t, KVStats{Puts: 1}, c.Stats())
	c.spec = KVSpec{Pairs: 1, Gets: 1}
	_, ok := c.Next(0, 3)
	require.True(t, ok)
	get := append([]byte{opGet}, answer(2)[1:]...)
	require.ErrorContains(t, c.Answered(0, 0, 3, get), "version 2 of pair 0: want 3 to 3", "an older value came before")
}

// TestShortAnswers checks that a client with short answers takes the first bytes of its request, and nothing else.
func TestShortAnswers(t *testing.T) {
	c, err := NewEchoClient(3, 100, Load{Requests: 9})
	require.NoError(t, err)
	b := make([]byte, 100)
	c.Fill(5, 0, b)
	require.NoError(t, c.Answered(0, 0, 5, b))
	c.AnswerBytes = 64
	require.NoError(t, c.Answered(0, 0, 5, b[:64]))
	require.ErrorContains(t, c.Answered(0, 0, 5, b), "echo: 100 bytes: want 64")
	require.ErrorContains(t, c.Answered(0, 0, 5, b[:63]), "echo: 63 bytes: want 64")
	require.ErrorContains(t, c.Answered(0, 0, 5, b[1:65]), "echo: byte 0 is")
}

// TestRequests checks the bytes of a put, as a whole and in pieces: its frame has 144 bytes (ce.kv).
func TestRequests(t *testing.T) {
	c, err := NewKVClient(1, KVSpec{Pairs: 9, Puts: 1}, 4, Load{Requests: 4})
	require.NoError(t, err)
	c.Next(0, 0)
	b, piece := make([]byte, PutBytes), make([]byte, 10)
	c.Fill(0, 0, b)
	require.EqualValues(t, opPut, b[0])
	require.EqualValues(t, 1, binary.BigEndian.Uint32(b[2:]))
	require.EqualValues(t, 1, binary.BigEndian.Uint32(b[GetBytes:]), "the value begins with its version")
	c.Fill(0, 20, piece)
	require.Equal(t, b[20:30], piece)
	const headers = 14 + 20 + 8 + 16
	require.Equal(t, 144, headers+PutBytes)
}

func TestVXLANSink(t *testing.T) {
	source, err := NewVXLANSource(3, Load{Requests: 9})
	require.NoError(t, err)
	var all [][]byte
	for range 9 {
		b := make([]byte, 100)
		n, ok := source.Next(0, b)
		require.True(t, ok)
		all = append(all, b[:n])
	}
	_, ok := source.Next(0, make([]byte, 100))
	require.False(t, ok)
	s := NewVXLANSink(3, Wire{})
	for _, i := range []int{0, 1, 4, 5} { // 2 and 3 are lost
		require.NoError(t, s.Take(nil, all[i], vxlanBytes))
	}
	require.EqualValues(t, 2, s.Stats().Missing)
	require.Equal(t, []uint64{1, 2, 1}, s.Networks())
	require.ErrorContains(t, s.Take(nil, all[3], vxlanBytes), "datagram 3 came behind 5")
	require.ErrorContains(t, s.Take(nil, all[8][:21], 21), "a datagram of 21 bytes")
	for _, at := range []int{0, 1, 6, 7, 8 + 6, 8 + 12} {
		b := bytes.Clone(all[8])
		b[at] ^= 4
		require.ErrorContains(t, s.Take(nil, b, vxlanBytes), "vxlan: ", "byte %d", at)
	}
}

// TestVXLANOrder checks that a sink takes copies and late datagrams where the network makes them, and nowhere else.
func TestVXLANOrder(t *testing.T) {
	source, err := NewVXLANSource(3, Load{Requests: 200})
	require.NoError(t, err)
	var all [][]byte
	for range 200 {
		b := make([]byte, vxlanBytes)
		source.Next(0, b)
		all = append(all, b)
	}
	for _, x := range []struct {
		wire  Wire
		order []int
		want  string
		stats VXLANStats
	}{
		{Wire{}, []int{0, 1, 1}, "datagram 1 came behind 1: want ascending numbers", VXLANStats{}},
		{Wire{Doubles: true}, []int{0, 1, 1, 2, 5, 5}, "", VXLANStats{Missing: 2, Copies: 2}},
		{Wire{Doubles: true}, []int{0, 1, 2, 1}, "datagram 1 came again behind 2: want a copy right behind it",
			VXLANStats{}},
		{Wire{Doubles: true}, []int{0, 2, 1}, "datagram 1 came behind 2: want ascending numbers",
			VXLANStats{Missing: 1}},
		{Wire{Reorders: true}, []int{0, 2, 3, 1, 199, 100}, "", VXLANStats{Missing: 194, Late: 2}},
		{Wire{Reorders: true}, []int{0, 2, 2}, "datagram 2 came twice: want it once", VXLANStats{Missing: 1}},
		{Wire{true, true}, []int{0, 2, 3, 1, 2, 1}, "", VXLANStats{Late: 1, Copies: 2}},
	} {
		s, err := NewVXLANSink(3, x.wire), error(nil)
		for i, n := range x.order {
			err = s.Take(nil, all[n], vxlanBytes)
			require.Equal(t, x.want != "" && i == len(x.order)-1, err != nil, "%+v: %d-th, %v", x, i, err)
			require.EqualValues(t, n, s.Latest())
		}
		if x.want != "" {
			require.EqualError(t, err, "vxlan: "+x.want)
		}
		require.Equal(t, x.stats, s.Stats(), "%+v", x)
	}
}

// TestSpecs checks that each wrong field is named.
func TestSpecs(t *testing.T) {
	ok := ChunkSpec{kind.ChunkSpec{File: 8, Segment: 100, RunBytes: 100}, 1000, 4}
	for says, change := range map[string]func(*ChunkSpec){
		"chunks.segment 0":             func(s *ChunkSpec) { s.Segment = 0 },
		"0 bytes: want 1 to 16777216":  func(s *ChunkSpec) { s.ChunkBytes = 0 },
		"3 outstanding: want a power":  func(s *ChunkSpec) { s.Outstanding = 3 },
		"chunks.file 4: a chunk might": func(s *ChunkSpec) { s.File = 4 },
		"chunks.run_bytes 0":           func(s *ChunkSpec) { s.RunBytes = 0 },
		"chunks.line_cycles -1":        func(s *ChunkSpec) { s.LineCycles = -1 },
		"chunks.line_cycles 1: no":     func(s *ChunkSpec) { s.LineCycles, s.Copy = 1, false },
		"chunks.ahead 5: want 0 to":    func(s *ChunkSpec) { s.Ahead, s.Copy = 5, true },
		"chunks.ahead 1: no":           func(s *ChunkSpec) { s.Ahead, s.Copy = 1, false },
	} {
		s := ok
		require.NoError(t, s.Validate())
		change(&s)
		require.ErrorContains(t, s.Validate(), says)
		_, err := NewChunkServer(ChunkServerConfig{Spec: s})
		require.ErrorContains(t, err, says)
	}
	_, err := NewChunkServer(ChunkServerConfig{Spec: ok})
	require.ErrorContains(t, err, "no Peek")
	_, err = NewKVServer(1, KVSpec{})
	require.ErrorContains(t, err, "kv.pairs 0: want 1 to")
	_, err = NewKVClient(1, KVSpec{Pairs: 1}, 4, Load{Requests: 1})
	require.ErrorContains(t, err, "kv.gets 0: and no kv.puts: want one of them")
	_, err = NewKVClient(1, DefaultKV(), 0, Load{Requests: 1})
	require.ErrorContains(t, err, "kv: 0 requests outstanding: want 1 or more")
	_, err = NewEchoClient(1, 0, Load{Requests: 1})
	require.ErrorContains(t, err, "echo: requests of 0 bytes")
	_, err = NewVXLANSource(0, Load{Requests: 1})
	require.ErrorContains(t, err, "vxlan: 0 networks")
}
