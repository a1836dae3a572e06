package flexins

import (
	"fmt"
	"math"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Transmit measures WRITEs over two connections, one on each port, by the way that payload takes to the wire.
var Transmit = study.Experiment{
	Group: "flexins", Name: "transmit", Title: "Transmission: header-only, or payload staged in Arm memory",
	Figures:  "FN Fig. 12, SN Fig. 11",
	Pictures: transmitPictures,
	Claims: []string{"smartns.tx.header_only_vs_dma_small", "smartns.tx.armmem_header_only",
		"smartns.tx.armmem_independent", "smartns.tx.armmem_vs_dma"},
	Inputs: inputs(transmitInputs...),
	Run:    transmit,
	Notes: []string{"RDMA-assisted transmission is missing: the stack has no transmit: rdma_staged, which would " +
		"WRITE payload to Arm memory through a second NIC on the card"},
}

var transmitInputs = []study.Input{
	{Name: "ring", Value: 32, Unit: "MiB", Source: "staging rings of all cores: FN sweeps 1 to 32 MB; the claims are " +
		"judged at the largest, which does not fit the LLC"},
	{Name: "ring.small", Value: 4, Unit: "MiB", Source: "likewise: one that fits the LLC, for comparison"},
	{Name: "connections", Value: 2, Unit: "connections", Source: "SN Fig. 11: one on each port, here on a core each"},
}

var transmitSizes = []int{512, 1024, 2048, 4096, 8192, 16384, 65536}

// Designs of transmission.
const (
	headerOnly  = "header-only"
	staged      = "staged"
	stagedSmall = "staged, ring in the LLC"
)

// design returns the options of data cores for a design of transmission, with a comma behind them.
func design(s *study.Session, name string) string {
	const mib = "transmit: dma_staged, staging_bytes: %gMiB, "
	switch name {
	case staged:
		return fmt.Sprintf(mib, s.Input("ring"))
	case stagedSmall:
		return fmt.Sprintf(mib, s.Input("ring.small"))
	}
	return ""
}

func transmit(s *study.Session) error {
	sizes := transmitSizes
	if s.Few() {
		sizes = []int{1024, 4096}
	}
	var scenes []*scene
	designs := []string{headerOnly, staged, stagedSmall}
	for _, d := range designs {
		for _, n := range sizes {
			scenes = append(scenes, transmitScene(s, d, n))
		}
	}
	all, err := play(s, scenes...)
	if err != nil {
		return err
	}
	size := study.Axis{Name: "payload", Unit: "B", Log: true}
	x := study.NewSeries("transmit", "WRITEs over two connections", "payload", "Gbps", size)
	mem := study.NewSeries("transmit_memory", "Arm DRAM of the sender", "bandwidth", "GB/s", size)
	t := transmitTable{rate: map[string]float64{}, arm: map[string]float64{}, sizes: sizes}
	for i, p := range all {
		d, n := designs[i/len(sizes)], sizes[i%len(sizes)]
		if d == staged {
			if err := checkLap(s, scenes[i], p); err != nil {
				return err
			}
		}
		point.Add(x, d, &p.Rate, float64(n))
		mem.Add(d, p.arm[0], float64(n))
		t.rate[p.Name], t.arm[p.Name], t.names = p.Rate.Gbps, p.arm[0], append(t.names, p.Name)
	}
	s.Record(x, mem)
	t.judge(s)
	return nil
}

// transmitScene returns a scene with WRITEs of n bytes.
func transmitScene(s *study.Session, name string, n int) *scene {
	c := &scene{
		name:   fmt.Sprintf("%s, %d B", name, n),
		stacks: stackOn(s, int(s.Input("connections")), "", design(s, name)),
		workloads: []string{fmt.Sprintf("kind: write, processes: %g, ports: 2, depth: %g, sizes: [%d], mtu: 4096",
			s.Input("connections"), s.Input("depth"), n)},
		warm: point.WarmUp(s, 300*simcore.Microsecond), window: transmitWindow(name, n),
	}
	if name == staged {
		c.warm, c.count = point.WarmUp(s, lapOf(s, n)), 2*point.Endless // 3 million a second, in 42 ms
	}
	return c
}

// lapOf returns a time in which WRITEs of n bytes go once around the large staging ring, beyond which payload that is
// staged evicts other payload: a core takes less than 400 ns for a message, and DRAM carries more than 110 Gbps.
func lapOf(s *study.Session, n int) simcore.Ps {
	const perMessage, perByte = 400e-9, 8 / 110e9
	ring := s.Input("ring") * (1 << 20)
	return simcore.Ps(ring * max(perMessage/s.Input("connections")/float64(n), perByte) * float64(simcore.Second))
}

// checkLap returns an error if staged payload did not go around the ring in the warm-up of a scene.
func checkLap(s *study.Session, c *scene, p *played) error {
	const bits = 8
	if went := p.Rate.Gbps / bits * 1e9 * float64(c.warm) / float64(simcore.Second); !s.Few() &&
		went < s.Input("ring")*(1<<20) {
		return fmt.Errorf("%s: the warm-up is %.3g MB long: want a lap of the ring, %g MiB", c.name, went/1e6,
			s.Input("ring"))
	}
	return nil
}

// transmitWindow returns a longer window for messages of several packets, which come in waves, the longer the more they
// are, and for DRAM that limits them.
func transmitWindow(design string, n int) simcore.Ps {
	switch packet := 4096; {
	case n > 4*packet || design == staged:
		return 28 * milli
	case n > packet:
		return 7 * milli
	}
	return 3 * milli
}

// transmitTable holds rates and rates of the sender's Arm DRAM, by the names of runs.
type transmitTable struct {
	rate, arm map[string]float64
	sizes     []int
	names     []string // by design, then size
}

func (t *transmitTable) judge(s *study.Session) {
	least, most, high := math.Inf(1), 0.0, 0.0
	logs, n, runs := 0.0, 0, []string{}
	for i, size := range t.sizes {
		own, other := t.names[i], t.names[len(t.sizes)+i]
		least, most = min(least, t.arm[own]), max(most, t.arm[own])
		high = max(high, t.arm[other])
		if small := 8192; size < small {
			logs, n = logs+math.Log(t.rate[own]/t.rate[other]), n+1
			runs = append(runs, own, other)
		}
	}
	s.Value("smartns.tx.header_only_vs_dma_small", math.Exp(logs/float64(n)), "geometric mean of the ratios at sizes "+
		"below 8 KB, the single number that fits best").On(runs...)
	own := t.names[:len(t.sizes)]
	s.Value("smartns.tx.armmem_header_only", most, "most of all sizes").On(own...)
	s.Holds("smartns.tx.armmem_independent", most-least < 0.5, fmt.Sprintf("%.3g to %.3g GB/s", least, most),
		"over all sizes").On(own...)
	const times = 50
	s.Holds("smartns.tx.armmem_vs_dma", high >= times*most, fmt.Sprintf("%.3g against %.3g GB/s: %.3g "+
		"times", high, most,
		high/most), "highest of both; 50 times lower is the direction").On(t.names[:2*len(t.sizes)]...)
}
