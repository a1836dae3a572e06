package pipe

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/stack/verbs"
)

var place = Place{Ring: ringAt, Counter: counterAt}

// ends are both ends of a pipe or doorbell under test.
type ends struct {
	send   Sender
	recv   Receiver
	step   func() // delivers some of the bytes in flight
	settle func() // delivers all bytes in flight
}

// pipeKinds builds the ends of each kind of pipe over hostile movers.
var pipeKinds = map[string]func(t require.TestingT, s Spec, pick func(int) int) ends{
	"pipe": func(t require.TestingT, s Spec, pick func(int) int) ends {
		mem := new(plain)
		h := &hostile{mem: mem, pick: pick}
		p, err := NewProducer(s, place, h)
		require.NoError(t, err)
		c, err := NewConsumer(s, place, mem)
		require.NoError(t, err)
		return ends{p, c, h.step, h.settle}
	},
	"pushed doorbell": func(t require.TestingT, s Spec, pick func(int) int) ends {
		return doorbell(t, s, pick, Pushed)
	},
	"polled doorbell": func(t require.TestingT, s Spec, pick func(int) int) ends {
		return doorbell(t, s, pick, Polled)
	},
	"staged": func(t require.TestingT, s Spec, pick func(int) int) ends {
		e := &copies{a: new(plain), b: new(plain), pick: pick}
		there := Place{Ring: otherSide + ringAt, Counter: otherSide + counterAt}
		p, err := NewProducer(s, there, NewStaged(e.a, e, counterAt, otherSide+counterAt, memBytes-counterAt))
		require.NoError(t, err)
		c, err := NewConsumer(s, place, e.b)
		require.NoError(t, err)
		return ends{p, c, e.step, func() {
			for len(e.pending) > 0 {
				e.step()
			}
		}}
	},
}

func doorbell(t require.TestingT, s Spec, pick func(int) int, kind RecordKind) ends {
	host, arm := new(plain), new(plain)
	at := DoorbellPlace{Place: place, Kind: kind, Record: recordAt}
	out, in := &hostile{mem: arm, pick: pick}, &hostile{mem: host, pick: pick}
	d, err := NewDoorbell(s, at, host, out)
	require.NoError(t, err)
	f, err := NewFetcher(s, at, arm, in)
	require.NoError(t, err)
	step := func() {
		if pick(2) == 0 {
			out.step()
		} else {
			in.step()
		}
	}
	return ends{d, f, step, func() { out.settle(); in.settle() }}
}

// TestElementsAreWhole checks that every element is seen once, whole and in order, over many laps, in whatever order
// and pieces its bytes arrive.
func TestElementsAreWhole(t *testing.T) {
	for name, build := range pipeKinds {
		t.Run(name, func(t *testing.T) {
			laps := 0
			rapid.Check(t, func(t *rapid.T) { laps += hostileRun(t, build) })
			require.Greater(t, laps, 200, "laps of the ring in all runs")
		})
	}
}

// hostileRun sends drawn elements over a drawn pipe, checks each one received, and returns the number of laps.
func hostileRun(t *rapid.T, build func(require.TestingT, Spec, func(int) int) ends) (laps int) {
	s := Spec{LogLines: rapid.IntRange(0, 4).Draw(t, "log")}
	lines := 1 << s.LogLines
	s.Batch, s.Credit = rapid.IntRange(1, lines).Draw(t, "batch"), rapid.IntRange(1, lines).Draw(t, "credit")
	// The run draws from a generator with one drawn seed: drawing each choice from rapid would be too slow for many
	// laps.
	state := rapid.Uint64().Draw(t, "schedule")
	pick := func(n int) int {
		state = state*6364136223846793005 + 1442695040888963407
		return int(state >> 33 % uint64(n))
	}
	e := build(t, s, pick)
	sent, seen, pushed := []int(nil), 0, 0
	poll := func() {
		got, err := e.recv.Poll()
		require.NoError(t, err)
		if got != nil {
			require.Less(t, seen, len(sent))
			require.Equal(t, element(uint64(seen), sent[seen]), got, "element %d", seen)
			seen++
		}
	}
	for range 600 {
		switch pick(8) {
		case 0, 1:
			n := 1 + pick(min(lines, 5))
			room := e.send.Room()
			err := e.send.Push(element(uint64(len(sent)), n))
			require.Equal(t, room < n, errors.Is(err, verbs.ENOMEM), "%v", err)
			if err == nil {
				sent, pushed = append(sent, n), pushed+n
			} else {
				require.ErrorIs(t, err, ErrFull)
			}
		case 2:
			poll()
		case 3:
			if pick(4) == 0 {
				require.NoError(t, e.send.Flush())
			}
		default:
			e.step()
		}
	}
	require.NoError(t, e.send.Flush())
	for range 4 * len(sent) {
		e.settle()
		poll()
	}
	require.Equal(t, len(sent), seen, "nothing is lost")
	return pushed >> s.LogLines
}

// TestTornElements checks that an element of three lines is not seen before its last line has arrived whole, in any
// order of arrival.
func TestTornElements(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		mem, wire := new(plain), new(plain)
		p, err := NewProducer(DefaultSpec(), place, wire)
		require.NoError(t, err)
		c, err := NewConsumer(DefaultSpec(), place, mem)
		require.NoError(t, err)
		for lap := range 30 { // 30 laps of 3 lines in a ring of 64: elements wrap around its end, too
			e := element(uint64(lap), 3)
			require.NoError(t, p.Push(e))
			for i, line := range order {
				at := ringAt + (lap*3+line)%64*LineBytes
				for _, cut := range []int{8, 56, 63, 64} {
					copy(mem.b[at:at+cut], wire.b[at:])
					got, err := c.Poll()
					require.NoError(t, err)
					if i == 2 && cut == 64 {
						require.Equal(t, e, got)
					} else {
						require.Nil(t, got, "%v lap %d: line %d, %d B", order, lap, line, cut)
					}
				}
			}
			copy(wire.b[counterAt:][:8], mem.b[counterAt:])
		}
	}
}

// TestFull checks that a full pipe returns ENOMEM, takes nothing, and continues once the consumer's counter has been
// read.
func TestFull(t *testing.T) {
	mem := new(plain)
	s := Spec{LogLines: 2, Batch: 4, Credit: 4}
	reads := 0
	p, err := NewProducer(s, place, counted{mem, &reads})
	require.NoError(t, err)
	c, err := NewConsumer(s, place, mem)
	require.NoError(t, err)
	require.NoError(t, p.Push(element(0, 3)))
	require.ErrorIs(t, p.Push(element(1, 2)), verbs.ENOMEM, "and what was held back goes out")
	require.EqualError(t, p.Push(element(1, 2)), "verbs: push: ENOMEM: the pipe is full: want its consumer to take "+
		"some of it first")
	got, err := c.Poll()
	require.NoError(t, err)
	require.Equal(t, element(0, 3), got)
	require.ErrorIs(t, p.Push(element(1, 2)), verbs.ENOMEM)
	require.NoError(t, p.Push(element(1, 2)))
	require.Equal(t, 3, reads)
	for _, n := range []int{0, 5, 1 << 9} {
		require.ErrorIs(t, p.Push(make([]byte, n*LineBytes)), verbs.EINVAL)
	}
	require.ErrorContains(t, p.Push(make([]byte, 63)), "an element of 63 B: want 1 to 4 lines of 64 B")
}

// counted is memory that counts reads.
type counted struct {
	*plain
	reads *int
}

func (c counted) Read(addr uint64, b []byte, done func(error)) {
	*c.reads++
	c.plain.Read(addr, b, done)
}

// TestDMAs checks that one DMA carries a batch, and that the counter is read once for every Spec.Credit lines.
func TestDMAs(t *testing.T) {
	for _, s := range []struct {
		Spec
		writes, reads int
	}{{Spec{6, 1, 32}, 640, 20}, {Spec{6, 8, 16}, 80, 40}} {
		mem := new(plain)
		m := &tally{plain: mem}
		p, err := NewProducer(s.Spec, place, m)
		require.NoError(t, err)
		c, err := NewConsumer(s.Spec, place, mem)
		require.NoError(t, err)
		for range 10 {
			for range 64 {
				require.NoError(t, p.Push(element(1, 1)))
				got, err := c.Poll()
				require.NoError(t, err)
				for got != nil {
					got, err = c.Poll()
					require.NoError(t, err)
				}
			}
		}
		require.Equal(t, []int{s.writes, s.reads}, []int{m.writes, m.reads}, "%+v", s)
	}
}

// tally is memory that counts writes and reads.
type tally struct {
	*plain
	writes, reads int
}

func (m *tally) Write(addr uint64, b []byte, done func(error)) {
	m.writes++
	m.plain.Write(addr, b, done)
}

func (m *tally) Read(addr uint64, b []byte, done func(error)) {
	m.reads++
	m.plain.Read(addr, b, done)
}

// TestNonsense checks that a line which no producer writes is an error that names the line, and so are impossible
// counters and records.
func TestNonsense(t *testing.T) {
	mem := new(plain)
	newConsumer := func() *Consumer {
		c, err := NewConsumer(DefaultSpec(), place, mem)
		require.NoError(t, err)
		return c
	}
	mem.b[ringAt+63] = 0x80
	_, err := newConsumer().Poll()
	require.EqualError(t, err, "pipe: line 0 has tag 0x80: want an element of 1 to 64 lines")
	mem.b[ringAt+63], mem.b[ringAt+127] = 0x83, 0x81
	c := newConsumer()
	_, err = c.Poll()
	require.EqualError(t, err, "pipe: line 1 has tag 0x81: want 2 lines left of 3")
	_, again := c.Poll()
	require.Equal(t, err, again, "the pipe has ended")
	p, err := NewProducer(Spec{6, 1, 1}, place, mem)
	require.NoError(t, err)
	mem.b[counterAt] = 2
	require.ErrorContains(t, p.Push(element(0, 1)), "the counter at 0x800 says that 2 lines were taken: want 0 to 0")
	require.ErrorContains(t, p.Push(element(0, 1)), "the counter")
	f, err := NewFetcher(DefaultSpec(), DoorbellPlace{Place: place, Record: recordAt}, mem, mem)
	require.NoError(t, err)
	mem.b[recordAt] = 65
	_, err = f.Poll()
	require.EqualError(t, err, "pipe: the record at 0x880 announces 65 lines: want 0 to 64")
	f, err = NewFetcher(DefaultSpec(), DoorbellPlace{Place: place, Record: recordAt}, mem, mem)
	require.NoError(t, err)
	mem.b[recordAt], mem.b[ringAt+63] = 1, 0x01
	_, err = f.Poll()
	require.EqualError(t, err, "pipe: line 0 has tag 0x1: want the flag of its lap: the record announces it")
}

// TestMoverErrors checks that an error of the mover ends the pipe.
func TestMoverErrors(t *testing.T) {
	mem := new(plain)
	far := Place{Ring: memBytes, Counter: memBytes}
	p, err := NewProducer(DefaultSpec(), far, mem)
	require.NoError(t, err)
	require.ErrorContains(t, p.Push(element(0, 1)), "pipe: writing up to line 1: no memory at 0x4000")
	c, err := NewConsumer(DefaultSpec(), far, mem)
	require.NoError(t, err)
	_, err = c.Poll()
	require.ErrorContains(t, err, "pipe: line 0: no memory")
	_, err = NewProducer(DefaultSpec(), Place{Ring: 32}, mem)
	require.ErrorContains(t, err, "ring at 0x20, counter at 0x0: want multiples of 64 and 8")
	_, err = NewProducer(Spec{LogLines: 3}, place, mem)
	require.ErrorContains(t, err, "batch 0: want 1 to 8, the lines of the ring")
	require.ErrorContains(t, err, "credit 0: want 1 to 8")
	require.ErrorContains(t, Spec{LogLines: 25}.Validate(), "log_lines 25: want 0 to 24")
	s := NewStaged(mem, &copies{}, 0, otherSide, 64)
	s.Write(otherSide+1, make([]byte, 64), func(err error) {
		require.ErrorContains(t, err, "want bytes of 0x10000 to "+
			"0x10040, which are staged")
	})
}

// TestMMIO checks that the lines of a pipe over MMIO are register writes of 64 B.
func TestMMIO(t *testing.T) {
	mem := new(plain)
	regs := &window{mem: mem}
	p, err := NewProducer(DefaultSpec(), place, NewMMIO(regs))
	require.NoError(t, err)
	c, err := NewConsumer(DefaultSpec(), place, mem)
	require.NoError(t, err)
	for i := range 200 {
		e := element(uint64(i), 1+i%3)
		require.NoError(t, p.Push(e))
		got, err := c.Poll()
		require.NoError(t, err)
		require.Equal(t, e, got)
	}
	require.Equal(t, 399, regs.writes)
	NewMMIO(regs).Read(0, make([]byte, 4), func(err error) {
		require.ErrorContains(t, err, "a read of 4 B by MMIO: "+
			"want 8 B")
	})
}

// window is memory behind registers, which counts writes.
type window struct {
	mem    *plain
	writes int
}

func (w *window) WriteReg(off uint32, b []byte) error {
	w.writes++
	return w.mem.Store(uint64(off), b)
}

func (w *window) ReadReg(off uint32, n int, done func(uint64, error)) {
	done(binary.LittleEndian.Uint64(w.mem.b[off:]), nil)
}

// TestNoAllocations checks that pushing, polling, packing and decoding allocate nothing in steady state.
func TestNoAllocations(t *testing.T) {
	mem := new(plain)
	p, err := NewProducer(DefaultSpec(), place, mem)
	require.NoError(t, err)
	c, err := NewConsumer(DefaultSpec(), place, mem)
	require.NoError(t, err)
	at := DoorbellPlace{Place: Place{Ring: 0x3000, Counter: 0x900}, Record: recordAt, Kind: Polled}
	d, err := NewDoorbell(DefaultSpec(), at, mem, mem)
	require.NoError(t, err)
	f, err := NewFetcher(DefaultSpec(), at, mem, mem)
	require.NoError(t, err)
	var got SendElement
	w := SendElement{Opcode: verbs.WRSend, Flags: verbs.SendInline, Inline: make([]byte, 100)}
	buf := make([]byte, MaxLines*LineBytes)
	active := NewActive()
	failed := false
	round := func() {
		b, err := w.Encode(buf)
		failed = failed || err != nil || p.Push(b) != nil || d.Push(b) != nil
		one, err := c.Poll()
		failed = failed || err != nil || got.Decode(one) != nil
		two, err := f.Poll()
		failed = failed || err != nil || got.Decode(two) != nil
		active.Add(7, 1)
		active.Next()
		failed = failed || active.Done(7, 1) != nil
	}
	for range 100 {
		round()
	}
	require.Zero(t, testing.AllocsPerRun(100, round))
	require.False(t, failed)
}
