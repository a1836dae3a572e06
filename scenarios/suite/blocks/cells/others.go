package cells

import "math/rand/v2"

// arbRequests is the number of request inputs of the played arbiter, which is not a power of two.
const arbRequests = 6

const arbTake = 8 // bit of a step: the arbiter's selected request is taken

func arbSteps(rng *rand.Rand) func() step {
	stay := step(0)
	return func() step {
		if rng.IntN(8) == 0 {
			stay = step(rng.Uint32() & rng.Uint32()) // requests that stay asserted until the next such draw
		}
		return (stay|step(rng.Uint32()&rng.Uint32()&rng.Uint32()))&(1<<arbRequests-1) | bit(arbTake, rng.IntN(3) > 0)
	}
}

// arbiter selects the first request after the one served last.
type arbiter struct{ served int }

func (a *arbiter) cycle(in step) step {
	for i := 1; i <= arbRequests; i++ {
		n := (a.served + i) % arbRequests
		if in&(1<<n) == 0 {
			continue
		}
		if in&(1<<arbTake) != 0 {
			a.served = n
		}
		return 1 | step(n)<<1
	}
	return 0
}

// memoryWords is the number of words of the played memory.
const memoryWords = 8

// Bits of a step of the memory.
const (
	memWrite, memRead            = 0, 1
	memWaddr, memRaddr           = 2, 5
	memData, memMask, memAllOnes = 8, 12, 0xf
)

// memorySteps writes every word before it reads any.
func memorySteps(rng *rand.Rand) func() step {
	n := 0
	return func() step {
		n++
		in := step(rng.Uint32())
		if n > memoryWords {
			return in
		}
		return in&(memAllOnes<<memData) | memAllOnes<<memMask | step(n-1)<<memWaddr | 1<<memWrite
	}
}

// memory outputs the word read last. A read sees the word as it was before a write in the same cycle.
type memory struct {
	words [memoryWords]step
	last  step
}

func (m *memory) cycle(in step) step {
	out := m.last
	if in&(1<<memRead) != 0 {
		m.last = m.words[in>>memRaddr%memoryWords]
	}
	if in&(1<<memWrite) != 0 {
		w, mask := &m.words[in>>memWaddr%memoryWords], in>>memMask
		*w = *w&^mask | in>>memData&mask
	}
	return out
}

// gateSteps draws a clock gate's inputs: long and short stretches in which the clock is enabled or not, and test mode.
func gateSteps(rng *rand.Rand) func() step {
	left, on := 0, false
	return func() step {
		if left == 0 {
			left, on = 1+rng.IntN(1+rng.IntN(12)), !on
		}
		left--
		return bit(0, on) | bit(1, rng.IntN(10) == 0)
	}
}

// edges counts the edges of a gated clock. The edge at the end of a cycle passes if the clock is enabled in it, or in
// test mode.
type edges struct{ passed uint8 }

func (e *edges) cycle(in step) step {
	out := step(e.passed)<<8 | step(e.passed)
	if in&3 != 0 {
		e.passed++
	}
	return out
}
