package apps

import (
	"fmt"

	"nictwin/stack/apps/kind"
	"nictwin/stack/verbs"
)

// Engine runs handlers on a server's card (package offload), which answer the messages of queue pairs given to them. It
// also encodes and decodes these messages.
type Engine interface {
	// Serve gives a connected queue pair to the handler of a kind. The handler accepts at most the given number of
	// requests at a time and may read the region.
	Serve(k Kind, qp verbs.QP, mr verbs.MR, requests int, done func(error))

	Lengths(k Kind, bytes int) (request, answer int) // returns the message lengths for an entry of Spec.Sizes
	Request(b []byte, q *Query)                      // encodes a request
	// encodes the expected answer and returns its length; nodes is the number of nodes read; value nil: no node has the
	// key
	Answer(b []byte, q *Query, nodes int, value []byte) int
	// encodes the expected answer to a request whose addresses the handler may not read
	Refusal(b []byte, q *Query) int
	Number(answer []byte) (number uint32, err error) // returns the request number of an answer
}

// Query is a request to a handler.
type Query struct {
	Kind   Kind
	Number uint32

	Head, Key uint64   // ListWalk: the first node's address, and the key to search for
	MaxNodes  uint32   // ListWalk: the most nodes that the handler reads
	Addrs     []uint64 // BatchedRead: the addresses of the values
}

// valueBytes is the length of a node's value, and of a value of a batched READ.
const valueBytes = kind.ValueBytes

// defaultHops is the number of nodes that a walk visits if the spec does not say.
const defaultHops = 8

// hops returns the number of nodes that walk m visits. A result of 0 means that the walk looks for a key that no node
// has, so it visits the whole list.
func (s *Spec) hops(m int) int {
	if len(s.Hops) == 0 {
		return defaultHops
	}
	return s.Hops[m%len(s.Hops)]
}

// nodes returns the length of a flow's list.
func (s *Spec) nodes() int {
	n := 1
	for m := range max(len(s.Hops), 1) {
		n = max(n, s.hops(m))
	}
	return n
}

// spread returns the number of slots over which a list or the values of batched READs are spread, a
// power of two.
func (s *Spec) spread() int {
	least := s.nodes()
	if s.Kind == BatchedRead {
		const share = 4 // slots for each value of the largest batched READ
		least = share * s.largest() / valueBytes
	}
	n := 1
	for n < least {
		n *= 2
	}
	return n
}

// slot returns the slot of list node i: neighbors in the list are not neighbors in memory.
func (s *Spec) slot(i int) int {
	const step = 5 // odd, so that no two nodes get the same slot
	return (i*step + int(s.Seed&0xff)) & (s.spread() - 1)
}

// key returns the key of node i of a flow's list. The keys of one flow all differ.
func (s *Spec) key(flow, i int) uint64 {
	return mix(mix(s.Seed+golden*uint64(flow+1)) + uint64(i))
}

// fillLookup writes the list or the values that requests ask for. Value i of a flow has the bytes of
// message i.
func (s *server) fillLookup() error {
	value, node := make([]byte, valueBytes), make([]byte, NodeBytes)
	write := func(slot int, b []byte) error { return s.side.Memory.Write(s.exposed.pieceAddr(slot, 0), b) }
	if s.spec.Kind == BatchedRead {
		for i := range s.exposed.slots {
			pattern(value, s.spec.Seed, s.flow, request, i)
			if err := write(i, value); err != nil {
				return err
			}
		}
		return nil
	}
	n := s.spec.nodes()
	for i := range n {
		next := uint64(0)
		if i+1 < n {
			next = s.exposed.pieceAddr(s.spec.slot(i+1), 0)
		}
		pattern(value, s.spec.Seed, s.flow, request, i)
		EncodeNode(node, s.spec.key(s.flow, i), value, next)
		if err := write(s.spec.slot(i), node); err != nil {
			return err
		}
	}
	return nil
}

// served is the state of a client whose requests are answered by a handler.
type served struct {
	engine  Engine
	query   Query
	slots   []int  // BatchedRead: slots of query.Addrs
	arrived []bool // answers received, by message
	value   []byte
}

// buildQuery builds the query of request m; it is valid until the next call.
func (c *client) buildQuery(m int) *Query {
	s, q := c.spec, &c.served.query
	q.Kind, q.Number = s.Kind, uint32(m)
	faulty := s.Misuse != nil && s.Misuse.What == RemoteBounds && c.flow == 0 && m == s.Misuse.Message
	if s.Kind == ListWalk {
		q.Head, q.MaxNodes = c.remote.pieceAddr(s.slot(0), 0), uint32(s.nodes()+1)
		if q.Key = s.key(c.flow, s.hops(m)-1); faulty {
			q.Head = c.remoteEnd - NodeBytes + 1
		}
		return q
	}
	n := s.size(m) / valueBytes
	q.Addrs, c.served.slots = q.Addrs[:0], c.served.slots[:0]
	last := uint64(s.spread() - 1)
	draw := mix(s.Seed+golden*uint64(c.flow+1)) + golden*uint64(m)
	for i := range n {
		slot := int(mix(draw+uint64(i)) & last)
		c.served.slots, q.Addrs = append(c.served.slots, slot), append(q.Addrs, c.remote.pieceAddr(slot, 0))
	}
	if faulty {
		q.Addrs[n-1] = c.remoteEnd - valueBytes + 1
	}
	return q
}

// expectedAnswer encodes the answer to request m and returns its length.
func (c *client) expectedAnswer(m int, b []byte) int {
	s, q, v := c.spec, c.buildQuery(m), &c.served
	if x := s.Misuse; x != nil && x.What == RemoteBounds && c.flow == 0 && m == x.Message {
		return v.engine.Refusal(b, q)
	}
	if s.Kind == BatchedRead {
		for i, slot := range v.slots {
			pattern(v.value[i*valueBytes:][:valueBytes], s.Seed, c.flow, request, slot)
		}
		return v.engine.Answer(b, q, 0, v.value[:len(v.slots)*valueBytes])
	}
	n := s.hops(m)
	if n == 0 {
		return v.engine.Answer(b, q, s.nodes(), nil)
	}
	pattern(v.value[:valueBytes], s.Seed, c.flow, request, n-1)
	return v.engine.Answer(b, q, n, v.value[:valueBytes])
}

// takeAnswer checks a handler's answer. It may answer any outstanding request, because handlers finish in any order.
func (c *client) takeAnswer(slot int, wc *verbs.WC) {
	n, a, before := int(wc.ByteLen), &c.recvs.area, c.messages
	if n > len(c.side.got) {
		c.fail(Finding{What: "length", Message: -1, Text: fmt.Sprintf("an answer of %d B: expected %d at most", n,
			len(c.side.got))})
		return
	}
	got := c.got(n)
	if !c.check("load", a.load(c.side.Core, slot, 0, a.piece, got)) {
		return
	}
	number, err := c.served.engine.Number(got)
	m := int(number)
	if err != nil || m >= c.posted || c.served.arrived[m] {
		c.fail(Finding{What: "answer", Message: -1, Text: fmt.Sprintf("an answer to request %d (%d B, %v): expected "+
			"one below %d without an answer", m, n, err, c.posted)})
		return
	}
	c.served.arrived[m] = true
	c.answered++
	c.noteMessage(m)
	want := c.side.want[:c.expectedAnswer(m, c.side.want)]
	c.compareBytes(got, want, m, func(off int) uint64 { return a.byteAddr(slot, off, a.piece) })
	c.tookMessage(m, before)
}

// startHandlers gives the queue pairs of a server to the handlers of its card.
func (u *setup) startHandlers(s *side) error {
	if !u.spec.Served() {
		return nil
	}
	var mine []*end
	for _, e := range s.ends {
		if !e.client {
			mine = append(mine, e)
		}
	}
	return u.runVerbs(s, "serve", len(mine), func(i int, done func(error)) {
		s.Engine.Serve(u.spec.Kind, mine[i].qp, s.mr, u.spec.Depth, done)
	})
}

// checkEngines rejects kinds whose server lacks an offload engine.
func (r *Run) checkEngines() error {
	for _, s := range r.sides {
		if r.spec.Served() && s.Engine == nil && (s.server == 1 || r.spec.BothWays) {
			return verbs.Errorf(string(r.spec.Kind), verbs.EOPNOTSUPP, "server %s has no offload engine", s.Name)
		}
	}
	return nil
}

// lengths returns the lengths of the longest request and answer.
func (s *side) lengths() (request, answer int) {
	spec := s.run.spec
	if spec.traits().Pattern == kind.Lookups {
		n := max(spec.largest(), NodeBytes)
		return n, n
	}
	if !spec.Served() {
		return spec.prefix() + spec.largest(), spec.largest()
	}
	for _, x := range s.run.sides { // both engines use the same format
		if x.Engine != nil {
			request, answer = x.Engine.Lengths(spec.Kind, spec.largest())
		}
	}
	return request, answer
}

// newServed returns the initial state of a client of handlers.
func (u *setup) newServed() served {
	v := served{}
	if !u.spec.traits().Lookup {
		return v
	}
	for _, s := range u.sides {
		if s.Engine != nil {
			v.engine = s.Engine
		}
	}
	n := u.spec.largest() / valueBytes
	v.arrived, v.value = make([]bool, u.spec.Count), make([]byte, n*valueBytes)
	v.query.Addrs, v.slots = make([]uint64, 0, n), make([]int, 0, n)
	return v
}
