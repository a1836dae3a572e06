package drivertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
)

// Rig is a NIC and its surroundings, before any simulated time has passed. Its build has every part.
type Rig struct {
	Bus     driver.Bus
	Options driver.Options

	// Settle runs until the NIC and the bus are idle.
	Settle func() error

	// Receive delivers a frame to a port.
	Receive func(port int, frame []byte)

	// FailReads makes the NIC's reads of bus addresses in [from, to) end with UR from now on.
	FailReads func(from, to uint64) error

	// ApartRoots says that each endpoint has its own root, so the NIC's writes to host memory may arrive after the
	// completion entry in Arm memory.
	ApartRoots bool

	Sent     []Frame  // transmitted frames, in order
	Messages [][]byte // payloads of the messages to the Arm cache, in order
}

// Frame is a transmitted frame.
type Frame struct {
	Port, Queue int
	Data        []byte
}

// bench is a rig with a driver, in a test.
type bench struct {
	*testing.T
	*Rig
	d *driver.Driver
}

// RunContract runs every check, each on its own rig; build makes one.
func RunContract(t *testing.T, build func(t *testing.T) *Rig) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			r := build(t)
			d, err := driver.New(r.Bus, r.Options)
			require.NoError(t, err)
			b := &bench{t, r, d}
			c.run(b)
			b.settle()
		})
	}
}

// settle runs until nothing is in flight, and checks that nothing went wrong.
func (b *bench) settle() {
	b.Helper()
	require.NoError(b, b.Settle())
	require.NoError(b, b.d.Err())
	require.True(b, b.d.Idle(), "all commands were carried out")
}

func (b *bench) must(err error) {
	b.Helper()
	require.NoError(b, err)
}

// alloc allocates memory.
func (b *bench) alloc(endpoint, n int) uint64 {
	b.Helper()
	addr, err := b.d.Alloc(endpoint, uint64(n), nicspec.LineBytes)
	require.NoError(b, err)
	return addr
}

// besideEntry returns an endpoint whose payload is in memory as soon as its completion entry has arrived in Arm memory.
func (b *bench) besideEntry() int {
	if b.ApartRoots {
		return nicspec.EndpointArm
	}
	return nicspec.EndpointHost
}

// write stores bytes in memory, and runs until nothing is in flight.
func (b *bench) write(addr uint64, p []byte) {
	b.Helper()
	b.Bus.Write(addr, p, func(err error) { require.NoError(b, err) })
	b.settle()
}

// read reads bytes of memory, and runs until nothing is in flight.
func (b *bench) read(addr uint64, n int) []byte {
	b.Helper()
	p := make([]byte, n)
	b.Bus.Read(addr, p, func(err error) { require.NoError(b, err) })
	b.settle()
	return p
}

// reg reads a register, and runs until nothing is in flight.
func (b *bench) reg(off uint32, n int) (v uint64) {
	b.Helper()
	b.d.ReadReg(off, n, func(x uint64) { v = x })
	b.settle()
	return v
}

// counter reads a counter of the device.
func (b *bench) counter(c nicspec.DevCounter) int {
	b.Helper()
	return int(b.reg(nicspec.RegCounter(c.Index()), 8))
}

// key allocates n bytes and sets up a memory key for them with all rights.
func (b *bench) key(index, endpoint, n int) *driver.Key {
	b.Helper()
	bus := b.alloc(endpoint, n)
	k, err := b.d.SetKey(driver.KeySpec{
		Index: index, Variant: uint8(index * 7), VA: 0x7000_0000_0000 + uint64(index)<<32, Bus: bus, Len: uint64(n),
		Rights: all,
	})
	require.NoError(b, err)
	return k
}
