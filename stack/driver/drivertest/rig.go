package drivertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
)

// Rig is a NIC and what stands around it, before time starts. Its build has every part.
type Rig struct {
	Bus     driver.Bus
	Options driver.Options

	// Settle lets time pass until the NIC and the bus are at rest.
	Settle func() error

	// Receive has a frame come in on a port.
	Receive func(port int, frame []byte)

	// FailReads lets the NIC's reads of bus addresses from one on, to another that is not included, end with UR, from
	// now on.
	FailReads func(from, to uint64) error

	// ApartRoots says that each endpoint has a root of its own, so that what the NIC writes to host memory may come
	// after the completion entry in Arm memory that tells of it.
	ApartRoots bool

	Sent     []Frame  // that left, in order
	Messages [][]byte // payloads of the messages to the Arm cache, in order
}

// Frame is a frame that left.
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

// RunContract runs every check on a rig of its own.
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

// settle lets everything come to its end, and demands that all went well.
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

// alloc takes memory.
func (b *bench) alloc(endpoint, n int) uint64 {
	b.Helper()
	addr, err := b.d.Alloc(endpoint, uint64(n), nicspec.LineBytes)
	require.NoError(b, err)
	return addr
}

// besideEntry is the endpoint for payload that is read when its completion entry in Arm memory has come.
func (b *bench) besideEntry() int {
	if b.ApartRoots {
		return nicspec.EndpointArm
	}
	return nicspec.EndpointHost
}

// write stores bytes in memory, and settles.
func (b *bench) write(addr uint64, p []byte) {
	b.Helper()
	b.Bus.Write(addr, p, func(err error) { require.NoError(b, err) })
	b.settle()
}

// read returns bytes of memory, and settles.
func (b *bench) read(addr uint64, n int) []byte {
	b.Helper()
	p := make([]byte, n)
	b.Bus.Read(addr, p, func(err error) { require.NoError(b, err) })
	b.settle()
	return p
}

// reg returns a register, and settles.
func (b *bench) reg(off uint32, n int) (v uint64) {
	b.Helper()
	b.d.ReadReg(off, n, func(x uint64) { v = x })
	b.settle()
	return v
}

// counter returns a counter of the device.
func (b *bench) counter(c nicspec.DevCounter) int {
	b.Helper()
	return int(b.reg(nicspec.RegCounter(c.Index()), 8))
}

// key makes n bytes of fresh memory a memory key with every right.
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
