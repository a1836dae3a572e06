package nic

import "math/bits"

// after returns the first member of a set after the one served last, around the end. The set is not empty. Those who
// take turns are not asked one by one: most of them have nothing in most cycles.
func after(set uint, last int) int {
	if m := set &^ (2<<last - 1); m != 0 {
		return bits.TrailingZeros(m)
	}
	return bits.TrailingZeros(set)
}

// bit is 1 if i is a member of a set, else 0.
func bit(i int, member bool) uint {
	if member {
		return 1 << i
	}
	return 0
}
