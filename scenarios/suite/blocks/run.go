package blocks

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"

	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/emulation"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
	"nictwin/scenarios/suite/blocks/kit"
)

// Names of a block's streams.
const (
	requests = "req"
	results  = "rsp"
)

// Run describes what is played.
type Run struct {
	Seed         uint64
	Stall        int // percent of cycles with gaps and back-pressure, 0 to 90; below 0: drawn from the seed
	Transactions int
}

// Limits of a run.
const (
	MaxStall = 90
	silence  = 50_000 // cycles without any event after which the block counts as silent
	after    = 4096   // cycles after the last result for which no more results may come
	quantum  = 2048
	longest  = 256 << 10 // maximum length of a result in bytes
)

// Result is the outcome of a run.
type Result struct {
	Requests int
	Compared int // number of results compared
	Cycles   uint64
	Digest   uint64
	Mismatch *Mismatch // first mismatch; nil: the run passed
}

// Mismatch is a block's first deviation from its reference.
type Mismatch struct {
	Block       *kit.Block
	Seed        uint64
	Stall       int
	Transaction int    // number of the request, from 0
	Op          string // kind of the request
	Request     string // fields of the request
	Field       string
	Expected    string
	Got         string
	Cycle       uint64
}

func (m *Mismatch) Error() string {
	s := fmt.Sprintf("%s transaction %d (%s): %s: expected %s, got %s, at cycle %d of seed %d, stall %d", m.Block.Name,
		m.Transaction, m.Op,
		m.Field, m.Expected, m.Got, m.Cycle, m.Seed, m.Stall)
	return fmt.Sprintf("%s\n  request: %s\n  %s, %s", s, m.Request, m.Block.RTL, m.Block.Go)
}

var _ error = (*Mismatch)(nil)

// Device is a running block.
type Device struct {
	Block    *kit.Block
	Build    string // hash of the build
	conn     *rtlbridge.Conn
	req, rsp int
}

// Open builds a block and starts it, behind a link if there is one. Errors: those of rtlbridge.
func Open(ctx context.Context, b *kit.Block, path string, link *emulation.Link, variant build.Variant,
	log io.Writer) (*Device, error) {
	m, err := manifest.Load(path)
	if err != nil {
		return nil, err
	}
	built, err := link.Build(m, build.Options{Variant: variant, Log: log, Context: ctx})
	if err != nil {
		return nil, err
	}
	c, err := rtlbridge.Launch(built, rtlbridge.LaunchOptions{})
	if err != nil {
		return nil, err
	}
	d := &Device{Block: b, Build: built.HashString(), conn: c}
	var in, out bool
	d.req, in = c.StreamIndex(requests)
	d.rsp, out = c.StreamIndex(results)
	if !in || !out {
		_ = c.Close() // the manifest's error is the one to report
		return nil, &manifest.Error{Path: path, Msg: fmt.Sprintf("streams: expected %s and %s", requests, results)}
	}
	return d, nil
}

// Close ends the device.
func (d *Device) Close() error { return d.conn.Close() }

// played is the state of a run.
type played struct {
	*Device
	Run
	Result
	requests []kit.Packet
	expected []kit.Packet
	owner    []int // number of the request to which each result belongs
	taken    int   // number of requests taken by the block
	digest   protocol.Digest
	latest   uint64 // cycle of the latest event
}

// Play powers up the block and plays a run on it. A mismatch is reported in the result, not as an error.
func (d *Device) Play(ctx context.Context, r Run) (*Result, error) {
	p := &played{Device: d, Run: r, digest: protocol.NewDigest()}
	if err := p.begin(); err != nil {
		return nil, err
	}
	for left := after / quantum; left > 0 && p.Mismatch == nil; {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		switch {
		case p.Compared == len(p.expected) && p.taken == len(p.requests):
			left--
		case p.Cycles > p.latest+silence:
			p.silent()
		}
	}
	p.Result.Requests, p.Result.Digest = p.taken, p.digest.Sum()
	return &p.Result, nil
}

// begin starts the run and hands over all requests.
func (p *played) begin() error {
	h := fnv.New64a()
	_, _ = h.Write([]byte(p.Block.Name)) // never fails
	rng := rand.New(rand.NewPCG(p.Seed, h.Sum64()))
	if p.Stall < 0 {
		p.Stall = []int{0, 10, 30, 60}[rng.IntN(4)]
	}
	p.requests = p.Block.Stimulus(rng, p.Transactions)
	reference := p.Block.Reference()
	for i, r := range p.requests {
		for _, x := range reference(r) {
			p.expected, p.owner = append(p.expected, x), append(p.owner, i)
		}
	}
	s := p.conn.NewStart(p.Seed)
	s.Poison, s.Watchdog = true, silence
	s.Streams[p.rsp].MaxBytes = longest
	for i := range s.Streams {
		s.Streams[i].StallPercent, s.Streams[i].BurstLog2 = p.Stall, rng.IntN(4)
	}
	if err := p.conn.Start(s); err != nil {
		return err
	}
	cycle := uint64(0)
	for _, r := range p.requests {
		if p.Stall > 0 && rng.IntN(100) < p.Stall/2 {
			cycle += uint64(rng.IntN(64))
		}
		if err := p.conn.Add(p.req, cycle, r.Side, p.padded(r.Data)); err != nil {
			return fmt.Errorf("block %s: %w", p.Block.Name, err)
		}
	}
	return nil
}

// padded fills up the last beat of a packet, if the stream always sends whole beats.
func (p *played) padded(data []byte) []byte {
	info := &p.conn.Hello().Streams[p.req]
	if rest := len(data) % info.DataBytes; info.KeepUnit == 0 && rest != 0 {
		return append(data[:len(data):len(data)], make([]byte, info.DataBytes-rest)...)
	}
	return data
}

// advance runs a quantum and processes its events.
func (p *played) advance() error {
	if err := p.conn.SendRun(quantum); err != nil {
		return err
	}
	for more := true; more; {
		ran, err := p.conn.Recv()
		if err != nil {
			return err
		}
		p.Cycles, more = ran.Start+uint64(ran.Cycles), ran.Flags&protocol.RanMore != 0
		if err := p.events(ran); err != nil {
			return err
		}
		if ran.Flags&protocol.RanPartial != 0 {
			return p.conn.WaitStop()
		}
	}
	return nil
}

func (p *played) events(ran *protocol.Ran) error {
	var e protocol.Record
	for {
		ok, err := p.conn.Next(ran, &e)
		if err != nil || !ok {
			return err
		}
		if e.Kind == protocol.EventHeld {
			continue
		}
		p.digest.Add(&e)
		p.latest = max(p.latest, e.First)
		if p.Mismatch != nil {
			continue
		}
		switch e.Kind {
		case protocol.EventIn:
			if e.Flags&protocol.InEnd != 0 {
				p.taken++
			}
		case protocol.EventOut:
			p.compare(&e)
		case protocol.EventViolation:
			p.fault(p.due(), "stream "+p.conn.Hello().Streams[e.Stream].Name, "the rules of AXI-Stream",
				e.Rule.String(), e.First)
		}
	}
}

// due returns the ordinal, from 0, of the request that the next result belongs to.
func (p *played) due() int {
	if p.Compared < len(p.owner) {
		return p.owner[p.Compared]
	}
	return len(p.requests) - 1
}

// compare compares the next result with the reference.
func (p *played) compare(e *protocol.Record) {
	if p.Compared == len(p.expected) {
		p.fault(p.due(), "results", "no more", fmt.Sprintf("one more: %s", p.Block.Op(e.Data).Result.Text(e.Data)),
			e.Last)
		return
	}
	want, data := p.expected[p.Compared], e.Data
	whole := p.conn.Hello().Streams[p.rsp].KeepUnit == 0
	if p.Block.Settle != nil {
		data, whole = p.Block.Settle(data), false
	}
	field, exp, got, same := p.Block.Op(want.Data).Result.DiffPacket(want.Data, data, whole)
	if !same {
		p.fault(p.due(), field, exp, got, e.Last)
		return
	}
	p.Compared++
}

// silent reports the mismatch of a block that stopped responding.
func (p *played) silent() {
	got := fmt.Sprintf("nothing in %d cycles", silence)
	if p.Compared < len(p.expected) {
		want := p.expected[p.Compared].Data
		p.fault(p.due(), "result", p.Block.Op(want).Result.Text(want), got, p.Cycles)
		return
	}
	p.fault(p.taken, "request", "to be taken", got, p.Cycles)
}

func (p *played) fault(transaction int, field, want, got string, cycle uint64) {
	r := p.requests[transaction]
	op := p.Block.Op(r.Data)
	shown := r.Side
	if len(shown) == 0 {
		shown = r.Data
	}
	p.Mismatch = &Mismatch{
		Block: p.Block, Seed: p.Seed, Stall: p.Stall, Transaction: transaction, Op: op.Name,
		Request: op.Request.Text(shown),
		Field:   field, Expected: want, Got: got, Cycle: cycle,
	}
}
