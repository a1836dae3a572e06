package rtlbridge

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/sim/simcore"
)

// EtherBinding returns a binding for msg.Frame messages. Side-band bytes of an output, if its stream has any,
// are the frame's queue, little-endian; inputs have none. Outputs come from pool; accepted inputs return to it
// if recycle is set.
func EtherBinding(port, in, out string, ethPort int, pool *msg.Frames, recycle bool) Binding {
	b := Binding{Port: port, In: in, Out: out}
	b.Encode = func(m sim.Msg) (side, data []byte, err error) {
		f, ok := m.(*msg.Frame)
		if !ok {
			return nil, nil, fmt.Errorf("an Ethernet port takes *msg.Frame, not %T", m)
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
		b.Release = func(m sim.Msg) { pool.Put(m.(*msg.Frame)) }
	}
	return b
}

// TLPBinding returns a binding for msg.TLP messages; the side-band bytes are the 16 bytes of the header. Outputs
// come from pool; accepted inputs return to it if recycle is set.
func TLPBinding(port, in, out string, pool *msg.TLPs, recycle bool) Binding {
	b := Binding{Port: port, In: in, Out: out, Backpressure: true}
	b.Encode = func(m sim.Msg) (side, data []byte, err error) {
		p, ok := m.(*msg.TLP)
		if !ok {
			return nil, nil, fmt.Errorf("a TLP port takes *msg.TLP, not %T", m)
		}
		return p.Hdr[:], p.Data, nil
	}
	var seq uint64
	b.Decode = func(side, data []byte) (simcore.Timed, error) {
		if len(side) != tlp.HeaderBytes {
			return nil, fmt.Errorf("a TLP output has %d side-band bytes: want its header of %d", len(side),
				tlp.HeaderBytes)
		}
		p := pool.Get()
		copy(p.Hdr[:], side)
		if len(data) != 0 {
			copy(p.Own(len(data)), data)
		}
		p.Seq = seq
		seq++
		return p, nil
	}
	if recycle {
		b.Release = func(m sim.Msg) { pool.Put(m.(*msg.TLP)) }
	}
	return b
}
