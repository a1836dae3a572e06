package cells

import "math/rand/v2"

// Bits of a step of a stream of words.
const (
	push, pop    = 0, 1 // input bits
	ready, valid = 0, 1 // output bits
	word         = 4    // lowest bit of the word
)

// streamSteps returns a generator of steps: for a while the queue fills, empties, or passes words on.
func streamSteps(rng *rand.Rand) func() step {
	left, pushes, pops := 0, 0, 0
	return func() step {
		if left == 0 {
			left = 1 + rng.IntN(40)
			pushes, pops = []int{0, 20, 50, 80, 100}[rng.IntN(5)], []int{0, 20, 50, 80, 100}[rng.IntN(5)]
		}
		left--
		return bit(push, rng.IntN(100) < pushes) | bit(pop, rng.IntN(100) < pops) | step(rng.Uint32())<<word
	}
}

// seen returns a queue's outputs: ready if it takes words, and valid with the first word if it has one.
func seen(takes bool, head []step) step {
	if len(head) == 0 {
		return bit(ready, takes)
	}
	return bit(ready, takes) | bit(valid, true) | head[0]<<word
}

// queue models a FIFO of up to `depth` words: a word is at the output in the cycle after it was taken.
type queue struct {
	depth int
	words []step
}

func (q *queue) cycle(in step) step {
	out := seen(len(q.words) < q.depth, q.words)
	takes := len(q.words) < q.depth && in&(1<<push) != 0
	if len(q.words) > 0 && in&(1<<pop) != 0 {
		q.words = q.words[1:]
	}
	if takes {
		q.words = append(q.words, in>>word)
	}
	return out
}

// ramQueue models a FIFO of up to `depth` words in memory and one at the output; a word moves to the output, at the
// earliest, one cycle after it was taken in.
type ramQueue struct {
	depth  int
	memory []step
	head   []step // the word at the output; at most one
}

func (q *ramQueue) cycle(in step) step {
	out := seen(len(q.memory) < q.depth, q.head)
	takes := len(q.memory) < q.depth && in&(1<<push) != 0
	if in&(1<<pop) != 0 {
		q.head = nil
	}
	if len(q.head) == 0 && len(q.memory) > 0 {
		q.head, q.memory = q.memory[:1], q.memory[1:]
	}
	if takes {
		q.memory = append(q.memory, in>>word)
	}
	return out
}
