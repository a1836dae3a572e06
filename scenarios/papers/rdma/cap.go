package rdma

import (
	"fmt"

	"nictwin/models/fabric/nicswitch"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// Cap measures how much bandwidth path 1 (client to host memory) loses while path 3 (between host and Arm) is limited
// to an increasing share of the channel. The claim about it belongs to experiment path/pminusn, where traffic is
// scripted.
var Cap = study.Experiment{
	Group: "path", Name: "cap", Title: "Path 1 beside a path 3 of a given rate, through the NIC",
	Figures:  "OP section 4",
	Pictures: capPictures,
	Inputs: inputs(
		study.Input{Name: "payload", Value: 4096, Unit: "B", Source: "offpath.p1.bidir, its condition"},
		study.Input{Name: "machines", Value: 2, Unit: "machines",
			Source: "OP Fig. 5: two requesters of 12 threads; they fill the network"},
		study.Input{Name: "completion", Value: 20, Unit: "B", Source: "PCIe: 12 B and 8 B of framing a completion"},
	),
	Run: capped,
	Notes: []string{"The same load as path/pminusn, through the NIC. Beside READs of the Arm's memory (S2H) path 1 " +
		"keeps the same rate in both as long as path 3 gets the same, up to 80 Gbps; of 130 Gbps path 3 gets 116 " +
		"here, 125 there, and path 1 what is left of the channel. Beside WRITEs of the host (H2S) it loses less " +
		"here, as path 3 gets less: a WRITE holds a context of each endpoint and a part of the transmit buffer, " +
		"which a copy by the scripted NIC does not. With eight times as much of both the rates are those of the " +
		"scripted NIC (TestCapWithManyContexts)."},
}

// cappedRates are the rates offered to path 3, in Gbps of wire bytes on the shared channel in the direction of path 1's
// READs.
var cappedRates = []float64{0, 40, 56, 65, 80, 130}

// cappedCase is a direction of path 3, whose requests the host posts while path 1 runs.
type cappedCase struct {
	name string
	op   rnicspec.Opcode // operation of path 3, posted by the host
	mps  string          // input with the MPS of the memory from which path 3's bytes come
	data int             // endpoint from which path 3's bytes come

	changes []change // applied to the target
}

var cappedCases = []cappedCase{
	{name: "H2S", op: rnicspec.Write, mps: "host.mps", data: nicspec.EndpointHost},
	{name: "S2H", op: rnicspec.Read, mps: "arm.mps", data: nicspec.EndpointArm},
}

func capped(s *study.Session) error {
	for _, c := range cappedCases {
		axis := study.Axis{Name: "cap of path 3: wire bytes offered on the shared channel", Unit: "Gbps"}
		for _, x := range transports[:2] {
			series := study.NewSeries("cap_"+x.name+"_"+c.name,
				fmt.Sprintf("Path 1 %s while path 3 is capped, through the NIC: path 3 %s", x.name, c.name),
				"bandwidth", "Gbps", axis)
			rates := cappedRates
			if s.Few() {
				rates = []float64{0, 80, 130}
			}
			if x.op == rnicspec.Write { // path 1's WRITEs fill the channel's other direction: two rates suffice
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

// point measures at one rate of path 3, and adds to the series the rates of both paths and the wire bytes of path 3.
func (c cappedCase) point(s *study.Session, series *study.Series, x transport, wire float64) error {
	size := int(s.Input("payload"))
	b, err := newBed(s, snic, int(s.Input("machines")), c.changes...)
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
	if x.op == rnicspec.Write { // completions of WRITEs come in bursts
		trips *= 2
	}
	l.meter = s.NewMeterAfter(8*outstanding, trips) // let path 1's queues settle beside path 3 first
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

// wirePerByte returns the wire bytes that path 3 takes on the shared channel per byte of payload, on the way from its
// memory to the NIC. The switch counts them by the port from which they came.
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
