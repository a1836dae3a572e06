package pair

import (
	"errors"
	"fmt"
	"hash/crc32"

	"nictwin/golden"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/observe/result"
	"nictwin/stack/driver"
)

// Tally counts frames and sums up their contents, independent of their order.
type Tally struct {
	Frames uint64 `json:"frames"`
	Bytes  uint64 `json:"bytes"`
	Sum    uint64 `json:"sum"` // of their CRC-32C
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crossed counts a frame that crosses the NIC's boundary.
func (s *server) crossed(c boundary.Crossing) {
	if c.Frame == nil {
		return
	}
	t := &s.wire[0]
	if c.Kind == boundary.FrameIn {
		t = &s.wire[1]
	}
	t.Frames++
	t.Bytes += uint64(len(c.Frame.Data))
	t.Sum += uint64(crc32.Checksum(c.Frame.Data, castagnoli))
}

// post sends the next frame; queues and ports take turns.
func (s *server) post() {
	if s.posted == s.opts.Count || s.failed != nil {
		return
	}
	data, ports := s.opts.Frames[(s.first+s.posted)%len(s.opts.Frames)], max(s.opts.Rack.Servers[0].Cards[0].Ports, 1)
	q := s.tx[s.posted%len(s.tx)]
	off := q.at + uint64(q.next%ringSlots*frameSlot)
	q.next++
	s.check(s.card.Memory.Write(s.memory+off, data))
	q.span[0].Off, q.span[0].Len = off, uint32(len(data))
	s.entry = driver.Send{Order: driver.Order{Complete: true}, Port: s.posted % ports, Pieces: q.span[:]}
	s.posted++
	s.check(q.Post(&s.entry))
	s.check(q.Ring())
}

func (s *server) check(err error) {
	if s.failed == nil {
		s.failed = err
	}
}

// state returns the server's progress.
func (s *server) state() state {
	n := s.opts.Count
	return state{
		ready: s.ready, played: s.received >= n && s.ended >= n, counted: s.counted,
		progress: uint64(s.posted) + uint64(s.received) + uint64(s.ended),
	}
}

// enter starts a phase.
func (s *server) enter(p phase) {
	switch p {
	case phaseTraffic:
		s.start()
	case phaseCounters:
		s.count()
	}
}

// count reads the counters once the NIC is idle; the referee compares them with its own.
func (s *server) count() {
	s.drv.ReadReg(nicspec.RegStatus, 4, func(busy uint64) {
		if busy != 0 {
			s.drv.Then(s.count)
			return
		}
		s.drv.ReadCounters(func(driver.Counters) { s.counted = true })
	})
}

// err returns the first failure of the server, or nil.
func (s *server) err() error {
	err := errors.Join(s.failed, s.drv.Err(), s.card.Err(), s.card.Overdue())
	if err != nil {
		return fmt.Errorf("server %s: %w", s.name, err)
	}
	return nil
}

// Report is the outcome of one server.
type Report struct {
	result.ServerPlayed
	Findings []result.Finding `json:"findings,omitempty"`
	Out      Tally            `json:"out"` // frames that left the NIC
	In       Tally            `json:"in"`  // frames that arrived at the NIC
	SimPs    simcore.Ps       `json:"sim_ps"`
}

// report finishes the referee and returns the report.
func (s *server) report(how judge.Ending) (*Report, error) {
	r := &Report{ServerPlayed: result.ServerPlayed{Name: s.name, Sent: s.ended, Received: s.received}, Out: s.wire[0],
		In: s.wire[1]}
	if s.judge == nil {
		return r, s.err()
	}
	r.Cycles = s.judge.Cycles()
	r.SimPs = simcore.Ps(r.Cycles) * s.card.NIC.Period()
	rep := s.judge.Finish(how)
	if rep == nil {
		return r, errors.Join(s.err(), fmt.Errorf("server %s: the referee has no report", s.name))
	}
	r.Digest, r.Checked, r.Mismatches = rep.Digest, rep.Checked, rep.Mismatches
	for _, m := range rep.List {
		r.Findings = append(r.Findings, result.OfMismatch(m))
	}
	if len(rep.List) == 0 && !rep.Passed() {
		if rep.Result == golden.Infrastructure {
			return r, fmt.Errorf("server %s: the run cannot be judged: %s", s.name, rep.Reason)
		}
		r.Findings = append(r.Findings, result.Finding{NIC: s.name, Domain: result.Run, Text: rep.Reason})
	}
	if n := s.card.Memory.Stray(); n > 0 {
		r.Findings = append(r.Findings, result.Finding{
			NIC: s.name, Rule: "C2", Domain: result.Device, Field: "writes that hit no memory", Expected: "0",
			Got:  fmt.Sprint(n),
			Text: fmt.Sprintf("%d writes of NIC %s hit no memory", n, s.name),
		})
	}
	return r, s.err()
}
