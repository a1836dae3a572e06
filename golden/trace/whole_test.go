package trace

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/ether"
	"nictwin/models/nic/boundary"
)

// stages is a file in memory that records its size after each write.
type stages struct {
	bytes.Buffer
	sizes []int
}

func (s *stages) Write(b []byte) (int, error) {
	n, err := s.Buffer.Write(b)
	s.sizes = append(s.sizes, s.Len())
	return n, err
}

// observe logs frames of many lengths. The log contains only lengths and checksums of their bytes.
func observe(l *Log, frames int) {
	e := l.Of("a")
	for i := range frames {
		e.Observe(boundary.Crossing{Kind: boundary.FrameIn, First: int64(i), Last: int64(i),
			Frame: &ether.Frame{Data: make([]byte, 60+i%1000)}})
	}
}

// After each write, events are whole lines, and a pcapng file opens in tshark: the program may be killed then.
func TestFilesAreWholeAfterEachWrite(t *testing.T) {
	var events, png stages
	l, p := NewLog(&events, 0), NewPcapng(&png, 0)
	require.Len(t, png.sizes, 1, "a file without frames opens, too")
	observe(l, 5000)
	for i := range 120 {
		p.Packet(i%2, &Frame{Ns: int64(i), ID: NoID}, make([]byte, 60+i*20))
	}
	p.Packet(DUT, &Frame{Ns: 120, ID: NoID}, make([]byte, 1<<17)) // longer than the buffer
	require.NoError(t, l.Close())
	require.NoError(t, p.Close())
	require.Greater(t, len(events.sizes), 3)
	require.Greater(t, len(png.sizes), 3)
	for _, n := range events.sizes {
		require.True(t, bytes.HasSuffix(events.Bytes()[:n], []byte("}\n")), "%d bytes", n)
	}
	before := -1
	for _, n := range png.sizes {
		packets := len(fields(t, png.Bytes()[:n]))
		require.Greater(t, packets, before)
		before = packets
	}
	require.Equal(t, 121, before)
}

// small is a file on a disk that is full after some bytes.
type small struct {
	*os.File
	left int
}

func (s *small) Write(b []byte) (int, error) {
	n, err := s.File.Write(b[:min(len(b), s.left)])
	if s.left -= n; err == nil && n < len(b) {
		err = syscall.ENOSPC
	}
	return n, err
}

// On a disk that gets full, files lose the record that is there in part, and say so.
func TestFilesAreWholeOnAFullDisk(t *testing.T) {
	const room = 100_000
	path := filepath.Join(t.TempDir(), "events.jsonl")
	open := func() *small {
		f, err := os.Create(path)
		require.NoError(t, err)
		t.Cleanup(func() { _ = f.Close() }) // nothing is read of it any more
		return &small{f, room}
	}
	l := NewLog(open(), 0)
	observe(l, 5000)
	require.ErrorIs(t, l.Close(), syscall.ENOSPC)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Greater(t, len(text), room/2)
	for line := range bytes.Lines(text) {
		require.True(t, json.Valid(line) && line[len(line)-1] == '\n', "%q", line)
	}

	p := NewPcapng(open(), 0)
	for i := range 3000 {
		p.Packet(DUT, &Frame{Ns: int64(i), ID: NoID}, make([]byte, 60+i%100))
	}
	require.ErrorIs(t, p.Close(), syscall.ENOSPC)
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Greater(t, len(fields(t, text)), 100)
}
