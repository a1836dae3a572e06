package rpc

import "fmt"

// Receiver is the receiving end of a flow.
type Receiver struct {
	next    uint32              // first packet that has not arrived
	arrived [Window / 64]uint64 // packets from next on, by number modulo Window
	marked  uint32
	first   uint32 // number behind the highest packet that arrived by its first transmission
	stats   ReceiverStats
}

// ReceiverStats counts what a receiver took.
type ReceiverStats struct {
	Packets, Again, Marked uint64 // new packets; packets that had arrived before; packets with CE
}

// OrderError reports a packet that was not sent again and arrived behind a later one.
type OrderError struct{ Number, After uint32 }

func (e *OrderError) Error() string {
	return fmt.Sprintf("rpc: packet %d, which was sent once, arrived behind packet %d", e.Number, e.After)
}

// Take takes a data packet, which carried a congestion mark if `ce` is set, and reports whether it is new. Every
// packet, new or not, has to be acknowledged, alone or together with others. An OrderError is returned for a packet
// that has been taken all the same: where the network may change the order, the caller ignores it.
func (r *Receiver) Take(h *Header, ce bool) (fresh bool, err error) {
	if h.Kind != Data {
		return false, fmt.Errorf("rpc: kind %d: want data", h.Kind)
	}
	ahead := h.Number - r.next
	switch {
	case int32(ahead) < 0 || ahead < Window && r.has(h.Number):
		r.stats.Again++
		return false, nil
	case ahead >= Window:
		return false, fmt.Errorf("rpc: packet %d: want %d packets from %d on, the window", h.Number, Window, r.next)
	}
	if !h.Again {
		if int32(h.Number-r.first) < 0 {
			err = &OrderError{h.Number, r.first - 1}
		} else {
			r.first = h.Number + 1
		}
	}
	if ce {
		r.marked++
		r.stats.Marked++
	}
	r.stats.Packets++
	r.arrived[h.Number%Window/64] |= 1 << (h.Number % 64)
	for ; r.has(r.next); r.next++ {
		r.arrived[r.next%Window/64] &^= 1 << (r.next % 64)
	}
	return true, err
}

// has reports whether a packet of the window has arrived.
func (r *Receiver) has(number uint32) bool { return r.arrived[number%Window/64]>>(number%64)&1 == 1 }

// Ack returns an acknowledgement of everything that arrived.
func (r *Receiver) Ack() Header {
	h := Header{Kind: Ack, Number: r.next, Marked: r.marked}
	word, shift := r.next%Window/64, r.next%64
	for i := range h.Map {
		h.Map[i] = r.arrived[word] >> shift
		word = (word + 1) % uint32(len(r.arrived))
		h.Map[i] |= r.arrived[word] << (64 - shift) // nothing for shift 0
	}
	return h
}

// Stats returns the receiver's counters.
func (r *Receiver) Stats() ReceiverStats { return r.stats }
