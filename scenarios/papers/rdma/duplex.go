package rdma

import (
	"fmt"
	"strings"

	"nictwin/models/rnic/rnicspec"
	"nictwin/scenarios/papers/study"
)

// duplexBytes and duplexThreads are the parameters of OP Fig. 5: messages of 4 KB, and twelve threads on each of two
// requesters.
const (
	duplexBytes   = 4096
	duplexThreads = 12
)

// duplex measures messages of 4 KB in one and in both directions, with DRAM. The claims about it belong to path/duplex,
// which models links and network only.
func duplex(s *study.Session) error {
	bars := study.NewSeries("duplex", "READ and WRITE of 4 KB, 2 × 12 threads", "payload", "Gbps",
		study.Axis{Name: "operations"})
	for _, path := range []string{path1, path2, s2h, h2s} {
		for _, ops := range [][]rnicspec.Opcode{{rnicspec.Read}, {rnicspec.Write}, {rnicspec.Read, rnicspec.Write}} {
			gbps, e, err := inDuplex(s, path, ops)
			if err != nil {
				return fmt.Errorf("%s, %v: %w", path, ops, err)
			}
			var names []string
			for _, op := range ops {
				names = append(names, op.String())
			}
			bars.Bar(path, strings.Join(names, " and "), gbps)
			p := &bars.Points[len(bars.Points)-1]
			p.Half, p.RoundTrips = e.Relative()*gbps, e.RoundTrips
		}
	}
	s.Record(bars)
	return nil
}

// inDuplex measures a path with the operations assigned to threads in turn. On path 3 all threads are on the host, or
// all on the Arm.
func inDuplex(s *study.Session, path string, ops []rnicspec.Opcode) (gbps float64, e study.Estimate, err error) {
	requesters := int(s.Input("requesters"))
	machines := requesters
	if path == h2s || path == s2h {
		machines = 0
	}
	b, err := newBed(s, snic, machines)
	if err != nil {
		return 0, e, err
	}
	l := b.newLoad(nil)
	outstanding := 0
	for i := range requesters * duplexThreads {
		from, to := b.ends(path, i%requesters)
		w := works(s, from, ops[i/requesters%len(ops)], duplexBytes)
		outstanding += w.window / w.signal
		l.start(from, to, w).path = path
	}
	l.meter = s.NewMeterAfter(2*outstanding, 1000)
	if err := l.run(); err != nil {
		return 0, e, err
	}
	e = l.meter.Estimate()
	s.Ran(fmt.Sprintf("%s %v of 4 KB", path, ops), e, 1)
	s.Outcome.SimPs += int64(b.engine.Now())
	const bits = 8e3 // Gbps per byte a picosecond
	return e.Rate * duplexBytes * bits, e, nil
}
