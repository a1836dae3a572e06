package program

import (
	"nictwin/models/nic/nicspec"
)

// Parts of memory: host, Arm below 4 GB, Arm above.
const (
	RegionHost = iota
	RegionArm
	RegionHigh
	Regions
)

const (
	MemoryBytes = 1 << nicspec.EndpointShift // of each endpoint: all that bus addresses can name
	PieceBytes  = 4 << 20                    // of each part, for pieces of work entries
)

// Default addresses of the parts, and the room that each needs.
const (
	LowAt  = 1 << 20
	HighAt = 1 << 33
	Room   = 1 << 33
)

// High bits of bus addresses, above what programs use of a part of memory; Place.Far may flip them. An address whose
// highest bits are not those of host or Arm belongs to no endpoint.
const (
	FarLow     = 3 << 30
	FarHigh    = (MemoryBytes - 1) &^ (2*Room - 1)
	FarNowhere = 0x7f << 57
)

// Buffers that all entries share lie at the end of the regions of pieces.
const (
	SharedBuffers = 4
	SharedBytes   = 16 << 10 // of each
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
