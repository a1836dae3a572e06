package rdma

import (
	"errors"
	"fmt"
	"strings"

	"nictwin/models/board"
	"nictwin/models/fabric/nicswitch"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/requester"
	"nictwin/scenarios/papers/study"
)

// Hops follows one request of path 2 (client to Arm memory) link by link, and compares RDMA between host and Arm with a
// plain copy by the card.
var Hops = study.Experiment{
	Group: "path", Name: "hops", Title: "Links that a request crosses; RDMA against DMA between host and SoC",
	Figures:  "OP section 2.3 and 3.3",
	Pictures: hopsPictures,
	Claims:   []string{"offpath.p3.hops_p2", "offpath.prior.rdma_vs_dma_host_soc"},
	Inputs: inputs(
		study.Input{Name: "nic.mrrs", Value: 512, Unit: "B", Source: "assumption: of the copy engine, as the NIC's"},
		study.Input{Name: "payload", Value: 512, Unit: "B", Source: "assumption: of the request that is followed"},
	),
	Run: hops,
}

func hops(s *study.Session) error {
	if err := followed(s); err != nil {
		return err
	}
	return againstDMA(s)
}

// crossings counts the TLPs or frames that crossed each link. Clients' counters are those of their PCIe links.
func (b *bed) crossings() map[string]uint64 {
	sum := func(c [3]pcielink.Count) uint64 { return c[0].TLPs + c[1].TLPs + c[2].TLPs }
	at := map[string]uint64{}
	for _, c := range b.clients {
		for end := range 2 {
			at["requester PCIe"] += sum(c.card.HostLink.Counters(end).In)
		}
	}
	in, _ := b.network.Balance()
	at["network"] = in.Frames
	w := b.target.card.Switch
	at["PCIe1"] = sum(w.In(nicswitch.PortNIC))
	for _, from := range []string{nicswitch.PortArm, nicswitch.PortHost} {
		at["PCIe1"] += sum(w.Out(from, nicswitch.PortNIC))
	}
	at["PCIe switch"] = sum(w.In(nicswitch.PortArm)) + sum(w.Out(nicswitch.PortNIC, nicswitch.PortArm))
	for end := range 2 {
		at["PCIe0"] += sum(b.target.card.HostLink.Counters(end).In)
	}
	return at
}

// followed counts the TLPs and frames of one READ of path 2 (client to Arm memory) on each link, after its queue pairs
// are set up.
func followed(s *study.Session) error {
	b, err := newBed(s, snic, 1)
	if err != nil {
		return err
	}
	l := b.newLoad(nil)
	from, to := b.ends(path2, 0)
	w := works(s, from, rnicspec.Read, int(s.Input("payload")))
	w.window, w.signal = 1, 1
	t := l.start(from, to, w)
	t.free, t.each = true, func(simcore.Ps) { t.w.window = 0 }
	before := b.crossings()
	if err := l.run(); err != nil {
		return err
	}
	s.Outcome.SimPs += int64(b.engine.Now())
	after := b.crossings()
	x := study.NewSeries("hops", "What one READ of 512 B on path 2 crosses", "TLPs or frames", "1",
		study.Axis{Name: "link"})
	want := []string{"requester PCIe", "network", "PCIe1", "PCIe switch"}
	holds, text := after["PCIe0"] == before["PCIe0"], []string{}
	for _, at := range append(want, "PCIe0") {
		n := after[at] - before[at]
		x.Bar("path 2 READ", at, float64(n))
		text = append(text, fmt.Sprintf("%s %d", at, n))
		holds = holds && (n > 0 || at == "PCIe0")
	}
	s.Record(x)
	s.Holds("offpath.p3.hops_p2", holds, strings.Join(text, ", "),
		"TLPs and frames of one READ of 512 B, posting and completion entry included; none may cross PCIe0").Counted()
	return nil
}

var copySizes = []int{64, 256, 1024, 4096, 16384}

// againstDMA compares WRITEs of path 3 (between host and Arm) with copies by a copy engine that takes the NIC's place.
func againstDMA(s *study.Session) error {
	x := study.NewSeries("rdma_dma", "Host-SoC transfers: RDMA WRITE and a copy by the card", "latency", "us",
		study.Axis{Name: "payload", Unit: "B", Log: true})
	least := 1e9
	var runs []string
	for _, path := range []string{s2h, h2s} {
		for _, n := range copySizes {
			rdma, err := latencyOf(s, transports[1], path, n)
			if err != nil {
				return err
			}
			runs = append(runs, latencyRun(transports[1], path, n))
			dma, err := copyTime(s, path, n)
			if err != nil {
				return err
			}
			x.Add(path+", RDMA", rdma, float64(n))
			x.Add(path+", DMA", dma, float64(n))
			least = min(least, rdma/dma)
		}
	}
	s.Record(x)
	s.Holds("offpath.prior.rdma_vs_dma_host_soc", study.Above(least, 1),
		fmt.Sprintf("RDMA takes at least %.2f times as long, 64 B to 16 KB", least),
		"RDMA WRITE of path 3; a copy by the scripted engine in the same card, posted at the same cost, whose "+
			"doorbell and completion entry cross the card as long as links and switch declare").On(runs...)
	return nil
}

// copyTime returns the time of a copy from the start of its post to its completion entry, in microseconds.
func copyTime(s *study.Session, path string, n int) (float64, error) {
	c, err := cardSpec(s, "Target", "bf2")
	if err != nil {
		return 0, err
	}
	spec := requester.Default()
	spec.MPS = [...]int{nicspec.EndpointArm: int(s.Input("arm.mps")), nicspec.EndpointHost: int(s.Input("host.mps"))}
	spec.MRRS, spec.Network = int(s.Input("nic.mrrs")), requester.Network{}
	e := simcore.NewEngine()
	var r *requester.Requester
	card, err := board.NewCard(e, new(board.Pools), c, requester.Factory(spec, &r))
	if err != nil {
		return 0, err
	}
	side, from, to, link := "arm", nicspec.EndpointArm, nicspec.EndpointHost, c.Switch.Arm.Fabric.Latency
	if path == h2s {
		side, from, to, link = "host", to, from, c.Switch.Host.PCIe.Latency
	}
	ended := simcore.Ps(-1)
	t := &requester.Transfer{From: requester.Memory(uint64(from)<<nicspec.EndpointShift + regions),
		To: requester.Memory(uint64(to)<<nicspec.EndpointShift + regions), Data: make([]byte, n)}
	t.Done = func(_ *requester.Transfer, now simcore.Ps) { ended = now }
	if err := r.Start(t); err != nil {
		return 0, errors.Join(err, card.Close())
	}
	if err := errors.Join(e.Run(), r.Err(), card.Err(), card.Close()); err != nil {
		return 0, err
	}
	if ended < 0 {
		return 0, fmt.Errorf("a copy of %d B on %s has not ended", n, path)
	}
	s.Outcome.SimPs += int64(e.Now())
	crossing := link + c.Switch.Latency + c.PCIe.Latency
	post := ns(s.Input(side+".build") + s.Input(side+".mmio"))
	return float64(post+crossing+ended+crossing) / float64(simcore.Microsecond), nil
}
