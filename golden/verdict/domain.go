package verdict

import (
	"fmt"
	"math"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
)

// DomainKind says what a domain belongs to: a queue, a port, the registers, the counters or the device.
type DomainKind uint8

// Kinds of domain. DomainDevice takes what belongs to no other domain.
const (
	DomainDevice DomainKind = iota
	DomainRegisters
	DomainCounters
	DomainPort // frames that came in on an Ethernet port
	DomainRxq
	DomainTxq
)

// Domain is an ordering domain; Index is the port or queue.
type Domain struct {
	Kind  DomainKind `json:"kind"`
	Index int        `json:"index"`
}

var domainNames = [...]string{"device", "registers", "counters", "port", "rxq", "txq"}

func (d Domain) String() string {
	if d.Kind >= DomainPort {
		return fmt.Sprintf("%s %d", domainNames[d.Kind], d.Index)
	}
	return domainNames[d.Kind]
}

var (
	Device    = Domain{Kind: DomainDevice}
	Registers = Domain{Kind: DomainRegisters}
	Counting  = Domain{Kind: DomainCounters}
)

// Port returns the domain of frames that come in on a port.
func Port(i int) Domain { return Domain{Kind: DomainPort, Index: i} }

// Rxq returns the domain of a receive queue, which includes the completion queue of the same
// number.
func Rxq(q int) Domain { return Domain{Kind: DomainRxq, Index: q} }

// Txq returns the domain of a transmit queue.
func Txq(q int) Domain { return Domain{Kind: DomainTxq, Index: q} }

// historyLen is the number of a domain's crossings that a mismatch shows.
const historyLen = 16

const headBytes = 16

// record is a crossing as kept for reports.
type record struct {
	first, last int64
	kind        boundary.Kind
	port        uint8
	queue       int16
	len         int32
	hdr         [tlp.HeaderBytes]byte
	head        [headBytes]byte // first bytes of the frame or payload
}

func (c *record) fill(x *boundary.Crossing) {
	c.first, c.last, c.kind, c.port, c.queue = x.First, x.Last, x.Kind, uint8(x.Port), -1
	if x.Kind.IsTLP() {
		c.hdr, c.len = x.TLP.Hdr, int32(len(x.TLP.Data))
		copy(c.head[:], x.TLP.Data)
		return
	}
	c.queue, c.len = int16(x.Frame.Queue), int32(len(x.Frame.Data))
	copy(c.head[:], x.Frame.Data)
}

func (c *record) String() string {
	head := c.head[:min(int(c.len), headBytes)]
	if c.kind.IsTLP() {
		h := tlp.Parse(&c.hdr)
		if c.len == 0 {
			return fmt.Sprintf("cycle %d..%d %v: %v", c.first, c.last, c.kind, h)
		}
		return fmt.Sprintf("cycle %d..%d %v: %v, %d B %x", c.first, c.last, c.kind, h, c.len, head)
	}
	queue := ""
	if c.queue >= 0 {
		queue = fmt.Sprintf(" queue %d", c.queue)
	}
	return fmt.Sprintf("cycle %d..%d %v: port %d%s, %d B %x", c.first, c.last, c.kind, c.port, queue, c.len, head)
}

// history holds the latest crossings of every domain.
type history struct {
	at    [len(domainNames)]int // index of the first domain of each kind
	rings []pastRing
}

type pastRing struct {
	n    uint64
	past [historyLen]record
}

func newHistory(ports, rxqs, txqs int) history {
	var h history
	n := 0
	for k, count := range [...]int{1, 1, 1, ports, rxqs, txqs} {
		h.at[k] = n
		n += count
	}
	h.rings = make([]pastRing, n)
	return h
}

func (h *history) ring(d Domain) *pastRing { return &h.rings[h.at[d.Kind]+d.Index] }

// note adds a crossing to a domain.
func (h *history) note(d Domain, x *boundary.Crossing) {
	r := h.ring(d)
	r.past[r.n%historyLen].fill(x)
	r.n++
}

// latest returns the cycle of a domain's latest crossing, or math.MinInt64.
func (h *history) latest(d Domain) int64 {
	r := h.ring(d)
	if r.n == 0 {
		return math.MinInt64
	}
	return r.past[(r.n-1)%historyLen].last
}

// list returns a domain's latest crossings, oldest first.
func (h *history) list(d Domain) []string {
	r := h.ring(d)
	var out []string
	for i := r.n - min(r.n, historyLen); i < r.n; i++ {
		out = append(out, r.past[i%historyLen].String())
	}
	return out
}
