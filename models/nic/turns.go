package nic

import "math/bits"

// after returns the first member of a set after the one served last, wrapping around. The set must
// not be empty. A set saves asking each member: most have nothing to do in most cycles.
func after(set uint, last int) int {
	if m := set &^ (2<<last - 1); m != 0 {
		return bits.TrailingZeros(m)
	}
	return bits.TrailingZeros(set)
}

// bit returns the set with member i, or the empty set.
func bit(i int, member bool) uint {
	if member {
		return 1 << i
	}
	return 0
}
