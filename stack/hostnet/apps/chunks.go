package apps

import (
	"encoding/binary"
	"errors"
	"fmt"

	"nictwin/models/server/cpu"
	"nictwin/models/sim/field"
	"nictwin/stack/apps/kind"
)

// ChunkSpec describes large messages, chunks of a file that is written from its beginning to its end, again and again.
type ChunkSpec struct {
	kind.ChunkSpec // Segment is the flow's rpc segment; a flow takes Cycles by its FlowConfig

	ChunkBytes  int // length of a message
	Outstanding int // most chunks without an answer
}

// Validate returns every error of the spec.
func (s *ChunkSpec) Validate() error {
	errs := []error{field.Under("chunks", s.ChunkSpec.Validate(s.Outstanding))}
	if s.ChunkBytes < 1 || s.ChunkBytes > kind.MaxBytes {
		errs = append(errs, fmt.Errorf("chunks: %d bytes: want 1 to %d", s.ChunkBytes, kind.MaxBytes))
	}
	if n := s.Outstanding; n < 1 || n > kind.MaxChunks || n&(n-1) != 0 {
		errs = append(errs, fmt.Errorf("chunks: %d outstanding: want a power of two, 1 to %d", n, kind.MaxChunks))
	}
	return errors.Join(errs...)
}

// packets returns the number of packets of a chunk.
func (s *ChunkSpec) packets() int { return s.Packets(s.ChunkBytes) }

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
	// Spec.Copy moves each chunk from its receive buffers into the file. Without it, chunks stay where they landed
	// until they have been checked, as data that an RDMA NIC has placed does.
	Spec ChunkSpec

	// Engine, if set, is the portal of the host's copy engine (models/server/host/dsa), which copies in place of the
	// core.
	Engine cpu.Registers

	// OnChunk, if set, is called for each chunk that was checked, before its answer.
	OnChunk func(number uint32)

	// Peek reads memory without simulated time, to check every byte.
	Peek func(addr uint64, b []byte) error
}
