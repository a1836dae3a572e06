package golden

import (
	"math"

	"nictwin/golden/memory"
)

// owner says whose a range of memory is.
type owner = memory.Owner[txEntry]

// extents is the ranges that the device may touch, and whose they are.
type extents = memory.Map[txEntry]

var (
	ofBuffers = memory.Of(memory.Buffer)
	ofPayload = memory.Of(memory.Buffer, memory.Copy) // that payload is written to
)

// Cycles before and after all others.
const (
	never   = math.MinInt64
	forever = math.MaxInt64
)
