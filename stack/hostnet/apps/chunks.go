package apps

import (
	"encoding/binary"
	"fmt"

	"nictwin/models/server/cpu"
)

// ChunkSpec describes large messages, chunks of a file that is written from its beginning to its end, again and again.
type ChunkSpec struct {
	ChunkBytes int `yaml:"chunk_bytes"` // length of a message
	Chunks     int `yaml:"chunks"`      // of the file

	// Outstanding is the most chunks without an answer. It must be less than Chunks; otherwise a chunk might be
	// overwritten before it is checked.
	Outstanding int `yaml:"outstanding"`

	// Segment is the payload of a packet: the flow's rpc segment.
	Segment int `yaml:"segment"`

	// RunBytes is the most bytes that one step of the server's core copies: the payload of packets that follow each
	// other in the file.
	RunBytes int `yaml:"run_bytes"`
}

// Validate returns an error of the spec.
func (s *ChunkSpec) Validate() error {
	const most = 1 << 24
	switch {
	case s.Segment < 1 || s.Segment > 9000:
		return fmt.Errorf("chunks: segments of %d bytes: want 1 to 9000", s.Segment)
	case s.ChunkBytes < 1 || s.ChunkBytes > most:
		return fmt.Errorf("chunks: %d bytes: want 1 to %d", s.ChunkBytes, most)
	case s.Outstanding < 1 || s.Outstanding > 1<<10 || s.Outstanding&(s.Outstanding-1) != 0:
		return fmt.Errorf("chunks: %d outstanding: want a power of two, 1 to 1024", s.Outstanding)
	case s.Chunks <= s.Outstanding || s.Chunks > 1<<20:
		return fmt.Errorf("chunks: a file of %d: want more than the %d outstanding, 2^20 at most", s.Chunks,
			s.Outstanding)
	case s.RunBytes < 1:
		return fmt.Errorf("chunks: runs of %d bytes: want 1 or more", s.RunBytes)
	}
	return nil
}

// packets returns the number of packets of a chunk.
func (s *ChunkSpec) packets() int { return (s.ChunkBytes + s.Segment - 1) / s.Segment }

// ChunkAnswerBytes is the length of an answer: the number of the chunk, and its length.
const ChunkAnswerBytes = 8

// ChunkClient sends chunks.
type ChunkClient struct {
	schedule
	spec ChunkSpec
	seed uint64

	// OnAnswer, if set, is called for each answer with the times at which the chunk was queued and answered.
	OnAnswer func(queued, answered Ps)
}

// NewChunkClient returns a client.
func NewChunkClient(seed uint64, s ChunkSpec, l Load) (*ChunkClient, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("chunks: %w", err)
	}
	return &ChunkClient{schedule: schedule{Load: l}, spec: s, seed: seed}, nil
}

// Next implements hostnet.Client.
func (c *ChunkClient) Next(now Ps, _ uint32) (int, bool) { return c.spec.ChunkBytes, c.due(now) }

// Fill implements hostnet.Client.
func (c *ChunkClient) Fill(id uint32, offset int, b []byte) { pattern(c.seed, id, offset, b) }

// Answered implements hostnet.Client.
func (c *ChunkClient) Answered(now, queued Ps, id uint32, b []byte) error {
	be := binary.BigEndian
	if len(b) != ChunkAnswerBytes || be.Uint32(b) != id || int(be.Uint32(b[4:])) != c.spec.ChunkBytes {
		return fmt.Errorf("chunks: answer % x: want chunk %d of %d bytes", b, id, c.spec.ChunkBytes)
	}
	if c.OnAnswer != nil {
		c.OnAnswer(queued, now)
	}
	return nil
}

// ChunkServerConfig configures a server of chunks.
type ChunkServerConfig struct {
	Seed uint64
	Spec ChunkSpec

	// Copy moves each chunk from its receive buffers into the file. Without it, chunks stay where they landed until
	// they have been checked, as data that an RDMA NIC has placed does.
	Copy bool

	// Engine, if set, is the portal of the host's copy engine (models/server/host/dsa), which copies in place of the
	// core.
	Engine cpu.Registers

	// OnChunk, if set, is called for each chunk that was checked, before its answer.
	OnChunk func(number uint32)

	// Peek reads memory without simulated time, to check every byte.
	Peek func(addr uint64, b []byte) error
}
