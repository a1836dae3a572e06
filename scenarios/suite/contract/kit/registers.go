package kit

import (
	"encoding/binary"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// Write writes a register.
func (r *Rig) Write(off uint32, v uint32) {
	r.T.Helper()
	require.NoError(r.T, r.Bed.Arm.Write32(off, v))
}

// Write2 writes two registers with one TLP.
func (r *Rig) Write2(off uint32, lo, hi uint32) {
	r.T.Helper()
	b := binary.LittleEndian.AppendUint32(nil, lo)
	require.NoError(r.T, r.Bed.Arm.Write(off, binary.LittleEndian.AppendUint32(b, hi)))
}

// ReadLater reads 4 or 8 bytes of registers; done is called with the value when the answer comes.
func (r *Rig) ReadLater(off uint32, n int, done func(uint64)) {
	r.T.Helper()
	ask := func() error {
		return r.Bed.Arm.Read(off, n, func(v uint64, err error) {
			require.NoError(r.T, err)
			done(v)
		})
	}
	if ask() == nil {
		return
	}
	r.Until("a tag for a register read is free", func() bool { return ask() == nil })
}

func (r *Rig) readN(off uint32, n int) uint64 {
	r.T.Helper()
	var v uint64
	there := false
	r.ReadLater(off, n, func(x uint64) { v, there = x, true })
	r.Until("a register read is answered", func() bool { return there })
	return v
}

// Read reads a register.
func (r *Rig) Read(off uint32) uint32 { r.T.Helper(); return uint32(r.readN(off, 4)) }

// Read2 reads two registers, or one of 64 bits, with one TLP.
func (r *Rig) Read2(off uint32) uint64 { r.T.Helper(); return r.readN(off, 8) }

// Send sends a TLP of any kind with n arbitrary bytes of payload.
func (r *Rig) Send(h tlp.Header, data []byte) {
	r.T.Helper()
	p := new(msg.TLP)
	copy(p.Own(len(data)), data)
	require.NoError(r.T, p.SetHeader(&h))
	r.Root.Send(p)
}

// SendRaw sends a TLP whose header need not be valid.
func (r *Rig) SendRaw(hdr [tlp.HeaderBytes]byte, data []byte) {
	p := new(msg.TLP)
	copy(p.Own(len(data)), data)
	p.Hdr = hdr
	r.Root.Send(p)
}

// Synced waits until everything sent before has taken effect.
func (r *Rig) Synced() {
	r.T.Helper()
	r.Read(nicspec.RegId)
	r.Run(nicspec.VisibleCycles)
}

// Tally holds all counter values by index, with the port numbers of checks (see PortOf).
type Tally [nicspec.RegCounterCount]uint64

// Counters reads every counter of the build.
func (r *Rig) Counters() *Tally {
	r.T.Helper()
	all, left := new(Tally), 0
	for i := range nicspec.CountersOf(r.Sizes.Ports) {
		left++
		r.ReadLater(nicspec.RegCounter(i), 8, func(v uint64) { all[r.CounterOf(i)] = v; left-- })
	}
	r.Until("the counters are read", func() bool { return left == 0 })
	return all
}

// Steps is the expected increase of each counter; counters not named must not change.
type Steps map[int]uint64

// Free stands for a counter step that the contract leaves open.
const Free = ^uint64(0)

// CounterOn, PortCounter and DevCounter return the index of a counter of a port, of port 0, and of the device.
func CounterOn(p int, c nicspec.PortCounter) int { return c.Index(p) }
func PortCounter(c nicspec.PortCounter) int      { return CounterOn(0, c) }
func DevCounter(c nicspec.DevCounter) int        { return c.Index() }

// Counted calls `do` and checks that it moved the counters by exactly `want`.
func (r *Rig) Counted(what string, want Steps, do func()) {
	r.T.Helper()
	r.Quiet()
	before := r.Counters()
	do()
	r.Quiet()
	r.Moved(what, before, want)
}

// Moved checks that counters have moved since `before` by exactly `want`.
func (r *Rig) Moved(what string, before *Tally, want Steps) {
	r.T.Helper()
	after := r.Counters()
	for i := range after {
		if want[i] == Free {
			continue
		}
		require.Equal(r.T, want[i], after[i]-before[i], "%s: steps of %s", what, nicspec.CounterName(r.CounterOf(i)))
	}
}
