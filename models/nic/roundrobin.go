package nic

import "math/bits"

// after returns the first member of a set after the one served last, wrapping around. The set must
// not be empty. A set makes round robin cheap: in most cycles most candidates have nothing to do and are not in it.
func after(set uint, last int) int {
	if m := set &^ (2<<last - 1); m != 0 {
		return bits.TrailingZeros(m)
	}
	return bits.TrailingZeros(set)
}

// bit returns the set of i alone if member is true, else the empty set.
func bit(i int, member bool) uint {
	if member {
		return 1 << i
	}
	return 0
}
