package contract

import (
	"encoding/binary"

	"github.com/stretchr/testify/require"

	"nictwin/models/msg"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// write writes a register.
func (r *rig) write(off uint32, v uint32) {
	r.t.Helper()
	require.NoError(r.t, r.b.Arm.Write32(off, v))
}

// write2 writes two registers with one TLP.
func (r *rig) write2(off uint32, lo, hi uint32) {
	r.t.Helper()
	b := binary.LittleEndian.AppendUint32(nil, lo)
	require.NoError(r.t, r.b.Arm.Write(off, binary.LittleEndian.AppendUint32(b, hi)))
}

// readLater reads 4 or 8 bytes of registers; done is called when time has gone on far enough.
func (r *rig) readLater(off uint32, n int, done func(uint64)) {
	r.t.Helper()
	ask := func() error {
		return r.b.Arm.Read(off, n, func(v uint64, err error) {
			require.NoError(r.t, err)
			done(v)
		})
	}
	if ask() == nil {
		return
	}
	r.until("a tag for a register read is free", func() bool { return ask() == nil })
}

func (r *rig) readN(off uint32, n int) uint64 {
	r.t.Helper()
	var v uint64
	there := false
	r.readLater(off, n, func(x uint64) { v, there = x, true })
	r.until("a register read is answered", func() bool { return there })
	return v
}

// read reads a register.
func (r *rig) read(off uint32) uint32 { r.t.Helper(); return uint32(r.readN(off, 4)) }

// read2 reads two registers, or one of 64 bits, with one TLP.
func (r *rig) read2(off uint32) uint64 { r.t.Helper(); return r.readN(off, 8) }

// send sends a TLP of any kind with n bytes of payload, of no meaning.
func (r *rig) send(h tlp.Header, data []byte) {
	r.t.Helper()
	p := new(msg.TLP)
	copy(p.Own(len(data)), data)
	require.NoError(r.t, p.SetHeader(&h))
	r.root.Send(p)
}

// sendRaw sends a TLP with a header that need not be one.
func (r *rig) sendRaw(hdr [tlp.HeaderBytes]byte, data []byte) {
	p := new(msg.TLP)
	copy(p.Own(len(data)), data)
	p.Hdr = hdr
	r.root.Send(p)
}

// synced waits until everything that was sent before has taken effect.
func (r *rig) synced() {
	r.t.Helper()
	r.read(nicspec.RegId)
	r.run(nicspec.VisibleCycles)
}

// tally is what the counters say, by index; ports as checks count them.
type tally [nicspec.RegCounterCount]uint64

// counters reads every counter of the build.
func (r *rig) counters() *tally {
	r.t.Helper()
	all, left := new(tally), 0
	for i := range nicspec.CountersOf(r.sizes.Ports) {
		left++
		r.readLater(nicspec.RegCounter(i), 8, func(v uint64) { all[r.counterOf(i)] = v; left-- })
	}
	r.until("the counters are read", func() bool { return left == 0 })
	return all
}

// steps is by how much counters are to have moved; those not named must not have.
type steps map[int]uint64

// free is in steps for a counter that the contract leaves open.
const free = ^uint64(0)

// Indices of the counters of a port, of port 0, and of the device.
func on(p int, c nicspec.PortCounter) int { return c.Index(p) }
func port(c nicspec.PortCounter) int      { return on(0, c) }
func dev(c nicspec.DevCounter) int        { return c.Index() }

// counted does something and demands that counters move by exactly that much.
func (r *rig) counted(what string, want steps, do func()) {
	r.t.Helper()
	r.quiet()
	before := r.counters()
	do()
	r.quiet()
	r.moved(what, before, want)
}

// moved demands that counters have moved by exactly that much.
func (r *rig) moved(what string, before *tally, want steps) {
	r.t.Helper()
	after := r.counters()
	for i := range after {
		if want[i] == free {
			continue
		}
		require.Equal(r.t, want[i], after[i]-before[i], "%s: steps of %s", what, nicspec.CounterName(r.counterOf(i)))
	}
}
