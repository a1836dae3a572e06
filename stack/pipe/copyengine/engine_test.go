package copyengine_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/root"
	"nictwin/models/format/msg"
	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/nic"
	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/driver/rootbus"
	"nictwin/stack/pipe"
	"nictwin/stack/pipe/copyengine"
)

// card is a Go NIC between two memories with latency, and an engine on it.
type card struct {
	*simcore.Engine
	space  *mem.Space
	engine *copyengine.Engine
	d      *driver.Driver
}

const (
	memBytes = 1 << 20
	arm      = uint64(0x10000)
	nowhere  = uint64(1) << 40 // covered by a key, but without memory
	host     = uint64(nicspec.EndpointHost)<<nicspec.EndpointShift | 0x20000
)

func newCard(t testing.TB) *card {
	e := simcore.NewEngine()
	space, err := mem.NewSpace(memBytes, memBytes)
	require.NoError(t, err)
	slow, err := inject.NewDelay("Delay", e,
		inject.DelaySpec{Latency: 300 * simcore.Nanosecond, Jitter: 200 * simcore.Nanosecond}, space)
	require.NoError(t, err)
	pool := new(msg.TLPs)
	rc, err := root.Builder{Scheduler: e, Spec: root.DefaultSpec(), Memory: slow, TLPs: pool}.Build("Root")
	require.NoError(t, err)
	n, err := nic.Builder{Scheduler: e, Spec: nic.DefaultSpec(), TLPs: pool}.Build("NIC")
	require.NoError(t, err)
	_, err = simcore.Connect("Link", e, simcore.LinkSpec{Latency: 10 * simcore.Nanosecond}, rc.PCIe(), n.PCIe())
	require.NoError(t, err)
	o := driver.DefaultOptions()
	o.Memory = [2]driver.Range{{From: 1 << 19, Bytes: 1 << 19}, {}}
	c := &card{Engine: e, space: space}
	c.d, err = driver.New(rootbus.Bus{Regs: rc.MMIO(nicspec.RequesterArm), Memory: space}, o)
	require.NoError(t, err)
	all := dma.Access{Read: true, Write: true}
	armKey, err := c.d.SetKey(driver.KeySpec{Index: 1, Bus: 0, Len: 1 << 19, Rights: all})
	require.NoError(t, err)
	hostKey, err := c.d.SetKey(driver.KeySpec{Index: 2, Bus: host &^ 0xfffff, Len: memBytes, Rights: all})
	require.NoError(t, err)
	noMemory, err := c.d.SetKey(driver.KeySpec{Index: 3, Bus: nowhere, Len: 4096, Rights: all})
	require.NoError(t, err)
	c.engine, err = copyengine.Open(c.d, driver.TxConfig{QueueConfig: driver.QueueConfig{Queue: 1, LogSize: 3}}, armKey,
		hostKey, noMemory)
	require.NoError(t, err)
	c.d.Enable(false, true)
	require.NoError(t, e.Run())
	require.NoError(t, c.d.Err())
	return c
}

func (c *card) Load(addr uint64, b []byte) error  { return c.space.Read(addr, b) }
func (c *card) Store(addr uint64, b []byte) error { return c.space.Write(addr, b) }

// TestPipe runs a CQ pipe from the Arm to the host by DMAs of the NIC, whose lines arrive at any time. The host polls
// between any two events and must see every element once, whole and in order, for many laps.
func TestPipe(t *testing.T) {
	c := newCard(t)
	spec := pipe.Spec{LogLines: 4, Batch: 3, Credit: 5}
	at := pipe.Place{Ring: host, Counter: host + uint64(spec.Bytes())}
	span := uint64(spec.Bytes()) + 8
	p, err := pipe.NewProducer(spec, at, pipe.NewStaged(c, c.engine, arm, host, span))
	require.NoError(t, err)
	r, err := pipe.NewConsumer(spec, at, c)
	require.NoError(t, err)
	sent, seen, full := 0, 0, 0
	poll := func() {
		e, err := r.Poll()
		require.NoError(t, err)
		if e != nil {
			require.Equal(t, element(seen), e)
			seen++
		}
	}
	for sent < 500 {
		for p.Push(element(sent)) == nil {
			sent++
		}
		full++
		now := c.Now()
		for range 8 {
			now += 100 * simcore.Nanosecond
			require.NoError(t, c.RunUntil(now))
			poll()
		}
	}
	require.NoError(t, p.Flush())
	for range sent {
		require.NoError(t, c.Run())
		poll()
	}
	require.Equal(t, sent, seen)
	require.Greater(t, full, 20)
	require.NoError(t, c.d.Err())
}

// element returns one to four lines that hold the element's number in every 8 bytes.
func element(id int) []byte {
	b := make([]byte, (1+id%4)*pipe.LineBytes)
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], uint64(id)<<16|uint64(i/8))
	}
	for i := pipe.LineBytes - 1; i < len(b); i += pipe.LineBytes {
		b[i] = 0
	}
	return b
}

// TestCopies checks that copies beyond the ring's capacity wait and end in order, and that invalid ones are reported.
func TestCopies(t *testing.T) {
	c := newCard(t)
	var ended []int
	for i := range 40 {
		require.NoError(t, c.Store(arm+uint64(8*i), []byte{byte(i + 1)}))
		c.engine.Copy(host+uint64(8*i), arm+uint64(8*i), 8, func(err error) {
			require.NoError(t, err)
			ended = append(
				ended, i)
		})
	}
	require.NoError(t, c.Run())
	for i := range 40 {
		var b [8]byte
		require.NoError(t, c.Load(host+uint64(8*i), b[:]))
		require.Equal(t, [8]byte{byte(i + 1)}, b)
		require.Equal(t, i, ended[i])
	}
	var errs []error
	keep := func(err error) { errs = append(errs, err) }
	c.engine.Copy(host, 1<<19-4, 8, keep)
	c.engine.Copy(host, nowhere, 8, keep)
	c.engine.Copy(host, arm, 8, keep)
	require.NoError(t, c.Run())
	require.Len(t, errs, 3)
	require.ErrorContains(t, errs[0], "want ranges that one key each covers")
	require.ErrorContains(t, errs[1], "a copy ended with status")
	require.NoError(t, errs[2])
	_, err := copyengine.Open(c.d, driver.TxConfig{OnEnd: func(*driver.TxQueue, *driver.TxEnd) {}})
	require.ErrorContains(t, err, "transmit queue 0: want no OnEnd and no OnEvent")
}

// TestNoAllocations checks that in steady state a copy allocates nothing.
func TestNoAllocations(t *testing.T) {
	c := newCard(t)
	bad := false
	done := func(err error) { bad = bad || err != nil }
	round := func() {
		for i := range uint64(12) {
			c.engine.Copy(host+64*i, arm+64*i, 64, done)
		}
		bad = c.Run() != nil || bad
	}
	for range 100 {
		round()
	}
	require.Zero(t, testing.AllocsPerRun(20, round))
	require.False(t, bad)
}
