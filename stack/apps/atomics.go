package apps

import (
	"encoding/binary"
	"fmt"

	"nictwin/stack/apps/kind"
	"nictwin/stack/verbs"
)

const counterLen = kind.CounterLen

// counter is a client's model of the counter that its atomics change.
type counter struct {
	shared bool     // other clients change the counter, too
	value  uint64   // value of the counter after all requests built so far
	built  int      // number of requests built
	before []uint64 // the value that each request in flight must return, by message modulo depth
	ops    []atomic // operands of the requests in flight
}

// atomic holds the operands of a request.
type atomic struct{ compareAdd, swap uint64 }

// atomic returns the opcode of request m; a shared counter is only added to.
func (s *Spec) atomic(m int) verbs.Opcode {
	if s.SharedCounter || m%3 == 0 {
		return verbs.WRFetchAdd
	}
	return verbs.WRCmpSwap
}

// fill sets the operands of request m: additions, swaps that succeed, and swaps whose comparison fails.
func (c *counter) fill(w *verbs.SendWR, m int) {
	o := &c.ops[m%len(c.ops)]
	if m == c.built {
		c.built++
		c.before[m%len(c.before)] = c.value
		switch {
		case c.shared:
			*o = atomic{compareAdd: 1}
			c.value++
		case m%3 == 0:
			*o = atomic{compareAdd: mix(uint64(m) + golden)}
			c.value += o.compareAdd
		case m%3 == 1:
			*o = atomic{c.value, mix(uint64(m))}
			c.value = o.swap
		default:
			*o = atomic{^c.value, mix(uint64(m))}
		}
	}
	w.CompareAdd, w.Swap = o.compareAdd, o.swap
}

// checkAtomic checks the value that the atomic of message m returned.
func (c *client) checkAtomic(m int) {
	b := c.got(counterLen)
	if !c.check("load", c.out.load(c.side.Core, m, 0, counterLen, b)) {
		return
	}
	got := binary.LittleEndian.Uint64(b)
	at := c.out.pieceAddr(m, 0)
	if !c.counter.shared {
		if want := c.counter.before[m%len(c.counter.before)]; got != want {
			c.fail(Finding{What: "counter", Message: m, Addr: at,
				Text: fmt.Sprintf("atomic %d (%v) returned %#x to %#x: expected %#x", m, c.spec.atomic(m), got, at,
					want)})
			return
		}
	} else if seen := c.side.seen; got >= uint64(len(seen)) || seen[got] {
		c.fail(Finding{What: "counter", Message: m, Addr: at,
			Text: fmt.Sprintf("atomic %d returned %d to %#x: expected "+
				"a value below %d that no other atomic returned", m, got, at, len(seen))})
		return
	} else {
		seen[got] = true
	}
	c.messages++
	c.bytes += counterLen
}
