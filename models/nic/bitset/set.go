package bitset

import "math/bits"

// Set is a set of queue numbers; Next returns its members round robin.
type Set struct {
	w    [4]uint64
	last int // member returned last by Next
}

// Set adds i to the set, Clear removes it.
func (b *Set) Set(i int)   { b.w[i>>6] |= 1 << (i & 63) }
func (b *Set) Clear(i int) { b.w[i>>6] &^= 1 << (i & 63) }

// Add adds i and reports whether that changed the set.
func (b *Set) Add(i int) bool {
	if b.Has(i) {
		return false
	}
	b.Set(i)
	return true
}

// Remove removes i and reports whether that changed the set.
func (b *Set) Remove(i int) bool {
	if !b.Has(i) {
		return false
	}
	b.Clear(i)
	return true
}

// Has reports whether i is in the set, Empty whether nothing is.
func (b *Set) Has(i int) bool { return b.w[i>>6]>>(i&63)&1 != 0 }
func (b *Set) Empty() bool    { return b.w[0]|b.w[1]|b.w[2]|b.w[3] == 0 }

// Next returns the first member after the one returned last, wrapping around; -1 if the set is
// empty.
func (b *Set) Next() int {
	start := b.last + 1
	for k := range len(b.w) + 1 {
		i := start>>6 + k
		w := b.w[i&3]
		if k == 0 {
			w &= ^uint64(0) << (start & 63)
		} else if k == len(b.w) {
			w &= 1<<(start&63) - 1
		}
		if w != 0 {
			b.last = (i&3)<<6 + bits.TrailingZeros64(w)
			return b.last
		}
	}
	return -1
}
