package rdma

import (
	"fmt"

	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// Doorbell measures posting by one doorbell for many entries.
var Doorbell = study.Experiment{
	Group: "path", Name: "doorbell", Title: "A doorbell for many entries against an MMIO for each",
	Figures:  "OP Fig. 10, section 3.3 Advice 4",
	Pictures: doorbellPictures,
	Claims: []string{
		"offpath.db.client", "offpath.db.soc_side", "offpath.db.host_48", "offpath.db.mmio_count",
		"offpath.db.mmio_dominates",
	},
	Inputs: inputs(study.Input{Name: "payload", Value: 64, Unit: "B",
		Source: "assumption: small; Fig. 10 does not print it"}),
	Run: doorbell,
	Reasons: map[string]string{
		"offpath.db.soc_side": "the Arm could post 3.1 to 3.5 times as fast, but its eight queue pairs have 16 " +
			"READs in flight each, and beyond that the contexts of the host's endpoint bound READs of its memory " +
			"as on path 1",
		"offpath.db.host_48": "an entry that is read by DMA costs the host nothing in the model but the latency of " +
			"the read, and saves it an MMIO; what a host loses by it no source says",
	},
}

var batches = []int{16, 32, 48, 64, 80}

// poster is a path, and the machines whose software posts on it.
type poster struct {
	system, path string
	machines     int
}

var posters = []poster{
	{"RNIC path 1", path0, 1}, {"SNIC path 1", path1, 1}, {"SNIC path 3 S2H", s2h, 0}, {"SNIC path 3 H2S", h2s, 0},
}

func doorbell(s *study.Session) error {
	rates := study.NewSeries("doorbell", "READs posted by one doorbell for a batch; batch 1 is an MMIO for each",
		"requests", "M/s", study.Axis{Name: "batch", Unit: "entries"})
	gain, runs := map[string][]float64{}, map[string][]string{}
	for _, p := range posters {
		alone := 0.0
		for _, batch := range append([]int{1}, batches...) {
			m := mix{target: targetOf(p.path), clients: p.machines, paths: []string{p.path}, x: transports[0],
				size: int(s.Input("payload")), label: fmt.Sprintf("batch %d", batch), judged: true}
			m.adapt = func(_ string, w *work) {
				const ahead = 2 // number of batches in flight
				w.window, w.signal = ahead*batches[len(batches)-1], batches[0]
				if batch > 1 {
					w.batch, w.window = batch, ahead*batch
				}
			}
			o, err := m.measure(s, 1000)
			if err != nil {
				return err
			}
			rates.Points = append(rates.Points, o.point(p.system, float64(batch)))
			runs[p.path] = append(runs[p.path], o.run)
			if batch == 1 {
				alone = o.mps
				continue
			}
			gain[p.path] = append(gain[p.path], o.mps/alone)
		}
	}
	s.Record(rates)
	doorbellClaims(s, gain, runs)
	return countMMIO(s)
}

func doorbellClaims(s *study.Session, gain map[string][]float64, runs map[string][]string) {
	const how = "READ of 64 B; one client machine on path 1"
	span := func(list ...[]float64) (low, high float64, rising bool) {
		low, high, rising = 1e9, -1e9, true
		for _, all := range list {
			for i, g := range all {
				low, high = min(low, g), max(high, g)
				rising = rising && (i == 0 || g >= all[i-1]*(1-study.Precision))
			}
		}
		return low, high, rising
	}
	low, high, _ := span(gain[path0], gain[path1])
	s.Holds("offpath.db.client", study.Above(low, 1) && high <= 1.4,
		fmt.Sprintf("%+.1f%% to %+.1f%%", 100*(low-1), 100*(high-1)), how).On(append(runs[path0], runs[path1]...)...)
	low, high, rising := span(gain[s2h])
	s.ValuesAnd("offpath.db.soc_side", how, map[bool]string{false: "it falls with the batch"}[rising], low, high).On(
		runs[s2h]...)
	g32, g48 := gain[h2s][1], gain[h2s][2]
	s.Holds("offpath.db.host_48", study.Above(1, g48) && study.Above(g48, g32),
		fmt.Sprintf("%+.1f%% with 48, %+.1f%% with 32", 100*(g48-1), 100*(g32-1)), how).On(runs[h2s]...)
	arm, host := s.Input("arm.mmio"), s.Input("host.mmio")
	a, h := arm/(arm+s.Input("arm.build")), host/(host+s.Input("host.build"))
	s.Holds("offpath.db.mmio_dominates", a > 0.5 && h > 0.5 && arm > host,
		fmt.Sprintf("%.0f%% of posting on the Arm, %.0f%% on a host; %.0f ns and %.0f ns", 100*a, 100*h, arm, host),
		"arithmetic of inputs").Counted()
}

// countMMIO counts the register writes that reach the NIC's port.
func countMMIO(s *study.Session) error {
	counts := [2]uint64{}
	const n = 48
	for i, batch := range []int{0, n} {
		b, err := newBed(s, snic, 0)
		if err != nil {
			return err
		}
		l := b.newLoad(nil)
		from, to := b.ends(s2h, 0)
		w := works(s, from, rnicspec.Read, 64)
		w.window, w.signal, w.batch = n, n, batch
		t := l.start(from, to, w)
		t.free = true
		t.each = func(simcore.Ps) { t.w.window = 0 }
		before := b.target.nic.Traffic().Registers
		if err := l.run(); err != nil {
			return err
		}
		counts[i] = b.target.nic.Traffic().Registers - before
		s.Outcome.SimPs += int64(b.engine.Now())
	}
	s.Holds("offpath.db.mmio_count", counts == [2]uint64{n, 1},
		fmt.Sprintf("%d requests: %d MMIOs one by one, %d with a doorbell", n, counts[0], counts[1]),
		"register TLPs at the NIC's PCIe port").Counted()
	return nil
}
