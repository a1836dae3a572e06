package transport

const psnMask = 1<<24 - 1

// psnAdd returns the PSN that comes n after p.
func psnAdd(p, n uint32) uint32 { return (p + n) & psnMask }

// psnDiff returns how far a is after b, -2^23 to 2^23-1 (IBTA 9.7.2: the later
// half of the space counts as before).
func psnDiff(a, b uint32) int { return int(int32((a-b)<<8) >> 8) }
