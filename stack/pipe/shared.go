package pipe

import "fmt"

// Shared assigns the send queues of a context to cores. The context has one SQ pipe per core, so a core polls one pipe
// of each context, however many queues there are (FN 3.2).
type Shared struct {
	queues []int // number of send queues, by core
}

// NewShared returns a Shared without queues for a context on the given number of cores.
func NewShared(cores int) (*Shared, error) {
	if cores < 1 {
		return nil, fmt.Errorf("pipe: a context on %d cores: want 1 or more", cores)
	}
	return &Shared{queues: make([]int, cores)}, nil
}

// Assign assigns a new send queue to the core with the fewest send queues; of several, to the first.
func (s *Shared) Assign() (core int) {
	for i, n := range s.queues {
		if n < s.queues[core] {
			core = i
		}
	}
	s.queues[core]++
	return core
}

// Release removes a send queue from its core.
func (s *Shared) Release(core int) error {
	if core < 0 || core >= len(s.queues) || s.queues[core] == 0 {
		return fmt.Errorf("pipe: core %d of %d has no send queue to release", core, len(s.queues))
	}
	s.queues[core]--
	return nil
}

// Queues returns the number of send queues of a core.
func (s *Shared) Queues(core int) int { return s.queues[core] }

// Active is a core's table of queues with unfinished entries (FN 3.2). Queues take turns in the order in which they
// were added.
type Active struct {
	at    map[uint32]int // index in nodes, by queue
	nodes []node         // node 0 is the head of the circular list
	free  []int
}

// node is a queue in the circular list, with its number of unfinished entries.
type node struct {
	queue      uint32
	work       int
	prev, next int
}

// NewActive returns an empty table.
func NewActive() *Active { return &Active{at: map[uint32]int{}, nodes: make([]node, 1)} }

// Add adds n entries to a queue's count. A queue that is not in the table enters it.
func (a *Active) Add(queue uint32, n int) {
	if n < 1 {
		return
	}
	if i, ok := a.at[queue]; ok {
		a.nodes[i].work += n
		return
	}
	i := len(a.nodes)
	if k := len(a.free); k > 0 {
		i, a.free = a.free[k-1], a.free[:k-1]
	} else {
		a.nodes = append(a.nodes, node{})
	}
	a.at[queue] = i
	a.nodes[i] = node{queue: queue, work: n}
	a.link(i)
}

// link appends a node.
func (a *Active) link(i int) {
	last := a.nodes[0].prev
	a.nodes[i].prev, a.nodes[i].next = last, 0
	a.nodes[last].next, a.nodes[0].prev = i, i
}

func (a *Active) unlink(i int) {
	n := &a.nodes[i]
	a.nodes[n.prev].next, a.nodes[n.next].prev = n.next, n.prev
}

// Done removes n finished entries of a queue. With its last one the queue leaves the table.
func (a *Active) Done(queue uint32, n int) error {
	i, ok := a.at[queue]
	if !ok || n < 0 || n > a.nodes[i].work {
		return fmt.Errorf("pipe: %d entries of queue %d are done: it has %d", n, queue, a.Work(queue))
	}
	if a.nodes[i].work -= n; a.nodes[i].work == 0 {
		a.Remove(queue)
	}
	return nil
}

// Remove removes a queue with all of its entries.
func (a *Active) Remove(queue uint32) {
	if i, ok := a.at[queue]; ok {
		a.unlink(i)
		delete(a.at, queue)
		a.free = append(a.free, i)
	}
}

// Next returns the queue whose turn it is, and advances the turn.
func (a *Active) Next() (queue uint32, ok bool) {
	i := a.nodes[0].next
	if i == 0 {
		return 0, false
	}
	a.unlink(i)
	a.link(i)
	return a.nodes[i].queue, true
}

// Len returns the number of active queues.
func (a *Active) Len() int { return len(a.at) }

// Work returns the number of unfinished entries of a queue.
func (a *Active) Work(queue uint32) int {
	if i, ok := a.at[queue]; ok {
		return a.nodes[i].work
	}
	return 0
}
