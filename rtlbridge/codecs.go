package rtlbridge

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/ether"
	"nictwin/models/simcore"
	"nictwin/models/tlp"
)

// EtherBinding carries ether.Frame messages. Side-band bytes of an output, if its stream has any, are the frame's queue,
// little-endian; inputs have none. Outputs come from pool, accepted inputs go back to it if recycle is set.
func EtherBinding(port, in, out string, ethPort int, pool *ether.Pool, recycle bool) Binding {
	b := Binding{Port: port, In: in, Out: out}
	b.Encode = func(msg sim.Msg) (side, data []byte, err error) {
		f, ok := msg.(*ether.Frame)
		if !ok {
			return nil, nil, fmt.Errorf("an Ethernet port takes *ether.Frame, not %T", msg)
		}
		return nil, f.Data, nil
	}
	var seq uint64
	b.Decode = func(side, data []byte) (simcore.Timed, error) {
		if len(side) > 2 {
			return nil, fmt.Errorf("an Ethernet output has %d side-band bytes: want 0 to 2 (its queue)", len(side))
		}
		f := pool.Copy(data)
		f.Port, f.Seq = ethPort, seq
		seq++
		for i, v := range side {
			if i == 0 {
				f.Queue = 0
			}
			f.Queue |= int(v) << (8 * i)
		}
		return f, nil
	}
	if recycle {
		b.Release = func(msg sim.Msg) { pool.Put(msg.(*ether.Frame)) }
	}
	return b
}

// TLPBinding carries tlp.Packet messages; the side-band bytes are the 16 bytes of the header. Outputs come from pool,
// accepted inputs go back to it if recycle is set.
func TLPBinding(port, in, out string, pool *tlp.Pool, recycle bool) Binding {
	b := Binding{Port: port, In: in, Out: out, Backpressure: true}
	b.Encode = func(msg sim.Msg) (side, data []byte, err error) {
		p, ok := msg.(*tlp.Packet)
		if !ok {
			return nil, nil, fmt.Errorf("a TLP port takes *tlp.Packet, not %T", msg)
		}
		return p.Hdr[:], p.Data, nil
	}
	var seq uint64
	b.Decode = func(side, data []byte) (simcore.Timed, error) {
		if len(side) != tlp.HeaderBytes {
			return nil, fmt.Errorf("a TLP output has %d side-band bytes: want its header of %d", len(side), tlp.HeaderBytes)
		}
		p := pool.Get()
		copy(p.Hdr[:], side)
		if len(data) != 0 {
			copy(p.Own(len(data)), data)
		}
		p.TrafficBytes = tlp.HeaderBytes + len(data)
		if h, err := p.Header(); err == nil { // a header that makes no sense is for the referee to judge
			p.TrafficBytes = h.SizeDW()*tlp.DWBytes + len(data)
		}
		p.Seq = seq
		seq++
		return p, nil
	}
	if recycle {
		b.Release = func(msg sim.Msg) { pool.Put(msg.(*tlp.Packet)) }
	}
	return b
}
