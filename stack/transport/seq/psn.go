package seq

const Mask = 1<<24 - 1

// Add returns the PSN n after p.
func Add(p, n uint32) uint32 { return (p + n) & Mask }

// Diff returns the distance from b to a, -2^23 to 2^23-1 (IBTA 9.7.2: the later half of the space counts as before).
func Diff(a, b uint32) int { return int(int32((a-b)<<8) >> 8) }
