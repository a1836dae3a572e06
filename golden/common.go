package golden

import (
	"nictwin/golden/cycles"
	"nictwin/golden/memory"
)

var ofPayload = memory.Of(memory.Buffer, memory.Copy) // that payload is written to

// Cycles before and after all others.
const (
	never   = cycles.Never
	forever = cycles.Forever
)
