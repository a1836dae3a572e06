package kind

import "nictwin/models/sim/field"

// Chunks is the kind of large messages in the manner of LineFS: chunks of a file, which land in receive buffers and are
// answered once they are in the file. No software looks at their packets one by one (CPU-bypass).
const Chunks Name = "chunks"

// ChunkSpec describes how chunks travel, and what the server does with them.
type ChunkSpec struct {
	Segment  int   `yaml:"segment" unit:"bytes"`   // payload of a packet
	File     int   `yaml:"file"`                   // chunks of the file, which are written again and again
	Copy     bool  `yaml:"copy"`                   // the core copies chunks into the file; false: they stay in place
	RunBytes int   `yaml:"run_bytes" unit:"bytes"` // most that one step of the core copies: adjacent packets together
	Cycles   int64 `yaml:"rx_cycles"`              // cost of a packet for the server's core

	// LineCycles is the cost for the server's core of each 64 B of a run that is copied, rounded up, beside the copy,
	// such as that of a check sum or of a log.
	LineCycles int64 `yaml:"line_cycles"`

	// Ahead is the number of whole chunks, the one that is being copied among them, that keep the server from taking
	// further packets. 0: it takes what comes.
	Ahead int `yaml:"ahead"`
}

// DefaultChunks returns chunks in packets of 1,400 B that are copied into a file of 16 chunks.
func DefaultChunks() ChunkSpec { return ChunkSpec{Segment: 1400, File: 16, Copy: true, RunBytes: 8192} }

// Packets returns the number of packets of a chunk.
func (s *ChunkSpec) Packets(bytes int) int { return (bytes + s.Segment - 1) / max(s.Segment, 1) }

type chunks struct{ plain }

func (chunks) Name() Name              { return Chunks }
func (chunks) Traits() Traits          { return Traits{Sends: true, Receives: true, TwoWay: true} }
func (chunks) Transports() []Transport { return []Transport{UDP} }
func (chunks) Options() []Option       { return []Option{ChunksOption, SizesOption, DepthOption} }

func (chunks) validate(f *Fields, bad *Faults) {
	oneSize(Chunks, f, MaxBytes, bad)
	bad.Check(f.Depth < 1 || f.Depth&(f.Depth-1) == 0, "depth", "%d: want a power of two for kind %s", f.Depth, Chunks)
	bad.Check(f.Depth <= MaxChunks, "depth", "%d: want %d at most for kind %s", f.Depth, MaxChunks, Chunks)
	bad.Add(field.Under("chunks", f.Chunks.Validate(f.Depth)))
}

// MaxChunks is the most chunks of a flow without an answer.
const MaxChunks = 1 << 10

// Validate returns every error of the spec for so many chunks without an answer, each a field.Error.
func (s *ChunkSpec) Validate(depth int) error {
	const mostFile, mostRun, mostCycles = 1 << 20, 1 << 24, 1 << 20
	var bad Faults
	bad.Check(s.Segment >= 1 && s.Segment <= MaxPayload, "segment", "%d: want 1 to %d", s.Segment, MaxPayload)
	bad.Check(s.File > depth && s.File <= mostFile, "file", "%d: a chunk might be written over before it was checked: "+
		"want more than depth, %d, and %d at most", s.File, depth, mostFile)
	bad.Add(field.Within("run_bytes", s.RunBytes, 1, mostRun))
	bad.Check(s.Cycles >= 0 && s.Cycles <= mostCycles, "rx_cycles", "%d: want 0 to %d", s.Cycles, mostCycles)
	bad.Check(s.Copy || s.LineCycles == 0, "line_cycles", "%d: no chunk is copied with copy false: want none",
		s.LineCycles)
	bad.Check(s.LineCycles >= 0 && s.LineCycles <= mostCycles, "line_cycles", "%d: want 0 to %d", s.LineCycles,
		mostCycles)
	bad.Check(s.Copy || s.Ahead == 0, "ahead", "%d: no chunk waits for its copy with copy false: want 0", s.Ahead)
	bad.Check(s.Ahead >= 0 && s.Ahead <= depth, "ahead", "%d: want 0 to depth, %d", s.Ahead, depth)
	return bad.Err()
}
