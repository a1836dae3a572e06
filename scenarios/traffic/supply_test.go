package traffic

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/format/ether"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/scenarios/traffic/capture"
)

// numbered returns n different frames of a size.
func numbered(n, size int) [][]byte {
	list := make([][]byte, n)
	for i := range list {
		list[i] = bytes.Repeat([]byte{byte(i), byte(i >> 8), byte(i >> 16)}, size/3+1)[:size]
	}
	return list
}

// saved writes frames into a pcap file, a second apart.
func saved(t testing.TB, frames [][]byte) string {
	t.Helper()
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 0xa1b2c3d4)
	b = le.AppendUint32(b, 2|4<<16) // version 2.4 of the format
	b = append(b, make([]byte, 8)...)
	b = le.AppendUint32(b, 1<<19)
	b = le.AppendUint32(b, 1) // link type Ethernet
	for i, f := range frames {
		for _, v := range []int{i, 0, len(f), len(f)} {
			b = le.AppendUint32(b, uint32(v))
		}
		b = append(b, f...)
	}
	path := filepath.Join(t.TempDir(), "some.pcap")
	require.NoError(t, os.WriteFile(path, b, 0o600))
	return path
}

func supply(t testing.TB, spec SupplySpec) *Supply {
	t.Helper()
	s, err := NewSupply(t.Context(), spec)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// Frames carry the file and packet they come from, even behind packets that are left out.
func TestOrigins(t *testing.T) {
	a, b := saved(t, [][]byte{{1}, {}, {2}}), saved(t, [][]byte{{3}, {4}})
	const loops = 2
	s := supply(t, SupplySpec{Captures: []string{a, b}, Frames: [][]byte{{5}}, Loop: loops, Pad: true})
	require.Equal(t, Tally{Frames: 5, Longest: 60, Empty: 1}, s.Tally)
	x := s.Playlists()[0]
	require.Equal(t, 10, x.Total())
	for range loops {
		for i, want := range []capture.Origin{{File: a, Packet: 1}, {File: a, Packet: 3}, {File: b, Packet: 1},
			{File: b, Packet: 2}, {}} {
			f, err := x.Next()
			require.NoError(t, err)
			require.Equal(t, want.File, f.Origin.File)
			require.Equal(t, want.Packet, f.Origin.Packet)
			require.Equal(t, append([]byte{byte(i + 1)}, make([]byte, 59)...), f.Data)
		}
	}
}

// Each pass has the same frames, whether they are kept in memory or read again.
func TestPasses(t *testing.T) {
	for _, n := range []int{100, keptBytes/1500 + 100} {
		frames := numbered(n, 1500)
		const loops = 3
		x := supply(t, SupplySpec{Captures: []string{saved(t, frames[:50]), saved(t, frames[50:])},
			Loop: loops}).Playlists()[0]
		for range loops {
			for i := range frames {
				f, err := x.Next()
				require.NoError(t, err)
				require.Equal(t, frames[i], f.Data)
			}
		}
		require.Equal(t, n == 100, len(x.kept) == n)
		_, err := x.Next()
		require.ErrorIs(t, err, io.EOF)
	}
}

// Turns takes one frame from each port in turn, skips ports whose frames are used up, and starts again in each pass.
func TestTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 3).Filter(func(n []int) bool {
			return len(n) > 0 && n[0]+n[len(n)-1] > 0
		}).Draw(t, "frames")
		loops := rapid.IntRange(1, 3).Draw(t, "loops")
		var want []byte
		for range loops {
			for i := range 5 {
				for p, n := range of {
					if i < n {
						want = append(want, byte(p<<4|i))
					}
				}
			}
		}
		var ports []*Playlist
		for p, n := range of {
			var parts []part
			if n > 0 {
				var list [][]byte
				for i := range n {
					list = append(list, []byte{byte(p<<4 | i)})
				}
				parts = []part{{list: list, n: n}}
			}
			ports = append(ports, newPlaylist(parts, loops, false))
		}
		turns := NewTurns(ports)
		for i := range want {
			f, err := turns.Next()
			require.NoError(t, err)
			require.Equal(t, want[i:i+1], f.Data)
			require.EqualValues(t, want[i]>>4, f.Port)
		}
		_, err := turns.Next()
		require.ErrorIs(t, err, io.EOF)
	})
}

// Captures and frames are distributed over the ports in turn, and the packets that Limit leaves out are counted.
func TestLimitAndPorts(t *testing.T) {
	files := []string{saved(t, numbered(3, 70)), saved(t, numbered(4, 80)), saved(t, numbered(5, 90))}
	s := supply(t, SupplySpec{Captures: files, Frames: numbered(1, 100), Ports: 2, Loop: 1, Limit: 8})
	require.Equal(t, Tally{Frames: 9, Longest: 100, LeftOut: 4}, s.Tally)
	lists := s.Playlists()
	require.Equal(t, []int{5, 4}, []int{lists[0].Pass(), lists[1].Pass()}, "3 and 1 of the files and the frame; 4")
}

func TestSupplyErrors(t *testing.T) {
	_, err := NewSupply(t.Context(), SupplySpec{Ports: -1, Limit: -1})
	require.EqualError(t, err, "ports -1: want 1 or more\nloop 0: want 1 or more\nlimit -1: want 0 (all) or more")
	long := saved(t, [][]byte{make([]byte, ether.MaxOffered+1)})
	s, err := NewSupply(t.Context(), SupplySpec{Captures: []string{long, "none.pcap"}, Loop: 1})
	require.ErrorContains(t, err, "262145 bytes, at most 262144 can be played")
	require.ErrorContains(t, err, "none.pcap")
	require.NoError(t, s.Close())
	s, err = NewSupply(t.Context(), SupplySpec{Captures: []string{saved(t, [][]byte{{}})}, Loop: 1})
	require.ErrorContains(t, err, "the captures hold no frame that could be played")
	require.NoError(t, s.Close())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err = NewSupply(ctx, SupplySpec{Captures: []string{saved(t, numbered(1, 60))}, Loop: 1})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, s.Close())
}
