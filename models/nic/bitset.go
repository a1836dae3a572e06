package nic

import "math/bits"

// bitset is a set of queue numbers, from which the next one in turn is taken.
type bitset struct {
	w    [4]uint64
	last int // taken last
}

func (b *bitset) set(i int)   { b.w[i>>6] |= 1 << (i & 63) }
func (b *bitset) clear(i int) { b.w[i>>6] &^= 1 << (i & 63) }

// add and remove tell whether that changed the set.
func (b *bitset) add(i int) bool {
	if b.has(i) {
		return false
	}
	b.set(i)
	return true
}

func (b *bitset) remove(i int) bool {
	if !b.has(i) {
		return false
	}
	b.clear(i)
	return true
}

func (b *bitset) has(i int) bool { return b.w[i>>6]>>(i&63)&1 != 0 }
func (b *bitset) empty() bool    { return b.w[0]|b.w[1]|b.w[2]|b.w[3] == 0 }

// next returns the first member after the one taken last, around the end; -1
// if there is none.
func (b *bitset) next() int {
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
