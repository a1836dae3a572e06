package program

import (
	"nictwin/models/nic/nicspec"
)

// Parts of memory: host memory, Arm memory below 4 GB, Arm memory above.
const (
	RegionHost = iota
	RegionArm
	RegionHigh
	Regions
)

const (
	MemoryBytes = 1 << nicspec.EndpointShift // bytes of each endpoint that a bus address can name
	PieceBytes  = 4 << 20                    // bytes of each part for the pieces of work entries
)

// Default addresses of the low and the high part of memory, and the space that each needs.
const (
	LowAt  = 1 << 20
	HighAt = 1 << 33
	Room   = 1 << 33
)

// Masks of the bus address bits above those that programs use within a part of memory; Place.Far may flip these bits.
// An address whose highest bits are neither those of the host nor those of the Arm belongs to no endpoint.
const (
	FarLow     = 3 << 30
	FarHigh    = (MemoryBytes - 1) &^ (2*Room - 1)
	FarNowhere = 0x7f << 57
)

// Buffers that all entries share. In each part of memory, they lie at the end of the bytes for pieces (PieceBytes).
const (
	SharedBuffers = 4
	SharedBytes   = 16 << 10 // bytes of each buffer
)

func (p *Place) Region() int {
	switch {
	case p.Host:
		return RegionHost
	case p.High:
		return RegionHigh
	}
	return RegionArm
}

func (p *Place) FarBits() uint64 {
	if p.Region() == RegionArm {
		return FarLow | FarNowhere
	}
	return FarHigh | FarNowhere
}

func InlineSlots(n int) int { return (n + nicspec.WqeSlotBytes - 1) / nicspec.WqeSlotBytes }
