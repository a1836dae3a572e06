package rdma

import (
	"fmt"

	"nictwin/models/fabric/nicswitch"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// Cap measures what path 1 loses while path 3 is limited to ever more of the shared channel. The claim about it
// belongs to path/pminusn, where traffic is scripted.
var Cap = study.Experiment{
	Group: "path", Name: "cap", Title: "Path 1 beside a path 3 of a given rate, through the NIC",
	Figures: "OP section 4",
	Inputs: inputs(
		study.Input{Name: "payload", Value: 4096, Unit: "B", Source: "offpath.p1.bidir, its condition"},
		study.Input{Name: "machines", Value: 2, Unit: "machines",
			Source: "OP Fig. 5: two requesters of 12 threads; they fill the network"},
		study.Input{Name: "completion", Value: 20, Unit: "B", Source: "PCIe: 12 B and 8 B of framing a completion"},
	),
	Run: capped,
}

// cappedRates are the rates offered to path 3: wire bytes on the shared channel in the direction of path 1's
// READs.
var cappedRates = []float64{0, 40, 56, 65, 80, 130}

// cappedCase is a path 3 beside path 1; both read or write the host's memory, 4 KB at a time.
type cappedCase struct {
	name string
	op   rnicspec.Opcode // of path 3, posted by the host
	mps  string          // of the memory that its bytes come from
	data int             // endpoint of that memory
}

var cappedCases = []cappedCase{
	{"H2S", rnicspec.Write, "host.mps", nicspec.EndpointHost}, {"S2H", rnicspec.Read, "arm.mps", nicspec.EndpointArm},
}

func capped(s *study.Session) error {
	for _, c := range cappedCases {
		axis := study.Axis{Name: "path 3, wire bytes offered on the shared channel", Unit: "Gbps"}
		for _, x := range transports[:2] {
			series := study.NewSeries("cap_"+x.name+"_"+c.name,
				fmt.Sprintf("Path 1 %s beside path 3 %s", x.name, c.name), "bandwidth", "Gbps", axis)
			rates := study.Points(s, cappedRates)
			if x.op == rnicspec.Write { // its bytes go the other way
				rates = []float64{0, 130}
			}
			for _, wire := range rates {
				if err := c.point(s, series, x, wire); err != nil {
					return err
				}
			}
			s.Record(series)
		}
	}
	return nil
}

// point adds the rates of path 1 and path 3, and path 3's wire bytes, at a rate of path 3.
func (c cappedCase) point(s *study.Session, series *study.Series, x transport, wire float64) error {
	size := int(s.Input("payload"))
	b, err := newBed(s, snic, int(s.Input("machines")))
	if err != nil {
		return err
	}
	l := b.newLoad(nil)
	outstanding := 0
	for i := range b.clients {
		for range duplexThreads {
			from, to := b.ends(path1, i)
			w := works(s, from, x.op, size)
			outstanding += w.window / w.signal
			l.start(from, to, w).path = path1
		}
	}
	perByte := 1 + s.Input("completion")/s.Input(c.mps)
	threads := int(s.Input("host.threads"))
	for range threads {
		if wire == 0 {
			break
		}
		from, to := b.ends(h2s, 0)
		w := works(s, from, c.op, size)
		w.every = simcore.Ps(float64(size) * 8e3 * perByte * float64(threads) / wire)
		t := l.start(from, to, w)
		t.path, t.free = h2s, true
	}
	trips := study.MinRoundTrips
	if x.op == rnicspec.Write { // its completions come in bursts
		trips *= 2
	}
	l.meter = s.NewMeterAfter(8*outstanding, trips) // path 1's queues settle beside path 3
	if err := l.run(); err != nil {
		return fmt.Errorf("path 3 %s at %.0f Gbps: %w", c.name, wire, err)
	}
	e := l.meter.Estimate()
	s.Ran(fmt.Sprintf("path 1 %s beside path 3 %s at %.0f Gbps", x.name, c.name, wire), e, 1)
	s.Outcome.SimPs += int64(b.engine.Now())
	by := map[string]float64{}
	for _, t := range l.threads {
		by[t.path] += float64(t.counted)
	}
	const bits = 8e3
	first := e.Rate * float64(size) * bits
	series.Points = append(series.Points, study.Point{System: "path 1, payload", At: []float64{wire}, Value: first,
		Half: e.Relative() * first, RoundTrips: e.RoundTrips})
	third := first * by[h2s] / by[path1]
	series.Add("path 3, payload", third, wire)
	series.Add("path 3, wire", third*c.wirePerByte(b), wire)
	return nil
}

// wirePerByte returns the bytes on the shared channel for each byte of path 3, on the way from its memory,
// counted at the Arm's side of the switch for bytes from there, and by the TLPs of the host's link otherwise.
func (c cappedCase) wirePerByte(b *bed) float64 {
	port := nicswitch.PortHost
	if c.data == nicspec.EndpointArm {
		port = nicswitch.PortArm
	}
	n := b.target.card.Switch.Out(port, nicswitch.PortNIC)
	wire, payload := uint64(0), uint64(0)
	for i := range n {
		wire, payload = wire+n[i].Wire, payload+n[i].Payload
	}
	if payload == 0 {
		return 0
	}
	return float64(wire) / float64(payload)
}
