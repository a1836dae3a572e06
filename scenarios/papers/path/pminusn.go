package path

import (
	"fmt"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// PMinusN measures how much bandwidth path 1 (client to host memory) loses while path 3 (between host and Arm) takes
// part of the shared PCIe channel.
var PMinusN = study.Experiment{
	Group: "path", Name: "pminusn", Title: "How much of the shared channel the card's own copies may take",
	Figures:  "OP section 4",
	Pictures: pMinusNPictures,
	Claims:   []string{"offpath.c13.p_minus_n", "offpath.c13.p_minus_n_value"},
	Inputs: append([]study.Input{
		{Name: "payload", Value: 4096, Unit: "B", Source: "offpath.p1.bidir, its condition"},
		{Name: "loss", Value: 0.03, Unit: "fraction",
			Source: "offpath.c13.p_minus_n, its rule: what counts as no loss"},
		{Name: "requests", Value: 2 * 12 * 8, Unit: "requests a path", Source: "as path/cap has them: 24 threads " +
			"with 8 requests each (host.window), on either path"},
	}, linkInputs...),
	Run:        pMinusN,
	Arithmetic: []string{"offpath.c13.p_minus_n_value"},
	Notes:      []string{"path/cap has the same load through the RDMA NIC, and says where the two differ."},
	Reasons: map[string]string{
		"offpath.c13.p_minus_n": "headers of completions and DLLPs take what the nominal P - N leaves: path 1 loses " +
			"1% at that cap beside copies from the Arm, and 4% beside those from the host, which share the host's " +
			"link with it: 2% by its DLLPs, the rest by waiting for DRAM",
	},
	Settled: map[string]string{
		"offpath.c13.p_minus_n": "with as many requests in flight as path/cap has: with one for each thread, 24, " +
			"path 1 lost 4.2% at the cap beside copies from the host, and nothing beyond it beside " +
			"those from the Arm",
	},
}

// pMinusN increases the rate offered to path 3 while path 1 takes the rest of the channel. P is the rate of that
// channel and N that of the network. P - N is the right cap for path 3 if path 1 loses nothing below it, and loses
// above it, whatever direction path 3 has.
func pMinusN(s *study.Session) error {
	limit, rest := s.Input("loss"), s.Input("pcie.rate")-s.Input("net.rate")
	kept, lost, text := true, true, ""
	var on []string
	for _, k := range []int{4, 5} {
		b := routes()[k]
		below, above, runs, err := besidePath3(s, b, b.name, linkSpec(s, true))
		if err != nil {
			return err
		}
		text += fmt.Sprintf("beside %s: up to %.0f Gbps at most %.1f%% lost, at 130 %.1f%%; ", b.name, rest, 100*below,
			100*above)
		kept, lost, on = kept && below < limit, lost && above > limit, append(on, runs...)
		if _, _, _, err = besidePath3(s, b, b.name+linksOnly, linkSpec(s, false)); err != nil {
			return err
		}
	}
	s.Holds("offpath.c13.p_minus_n", kept && lost, text+"wire bytes on the shared channel",
		"READ on path 1 and copies on path 3 of 4 KB, in either direction, with caches and DRAM; the series have "+
			"links and network alone, too").On(on...)
	s.Value("offpath.c13.p_minus_n_value", rest, "arithmetic of inputs; the knee is in the series").Counted()
	return nil
}

// besidePath3 returns the largest loss of path 1 while path 3 is offered at most P - N (the PCIe rate less the
// network's), and its loss at the highest rate offered to path 3. runs names all runs.
func besidePath3(s *study.Session, b route, title string, spec rigSpec) (below, above float64, runs []string,
	err error) {
	axis := study.Axis{Name: "cap of path 3: wire bytes offered on the shared channel", Unit: "Gbps"}
	x := study.NewSeries("beside "+title, "Path 1 READ while path 3 is capped, scripted copies: "+title, "bandwidth",
		"Gbps", axis)
	size := int(s.Input("payload"))
	rest := s.Input("pcie.rate") - s.Input("net.rate")
	payload := s.Input("arm.mps")
	if b.name == "path 3 H2S" {
		payload = s.Input("host.mps")
	}
	perByte := 1 + (s.Input("tlp.header")-completionSaves)/payload
	b.to.Addr += 2 * span
	alone := 0.0
	for _, wire := range []float64{0, 20, 40, 50, rest, 65, 80, 100, 130} {
		a := routes()[0]
		first := &flow{name: a.name, from: a.from, to: a.to, size: size, window: int(s.Input("requests"))}
		list := []*flow{first}
		if wire > 0 {
			every := float64(size) * 8e3 * perByte / wire
			list = append(list, &flow{name: b.name, from: b.from, to: b.to, size: size,
				window: int(s.Input("requests")), every: simcore.Ps(every), first: waiting(s, wire, wire/perByte)})
		}
		run := fmt.Sprintf("%s at %.0f Gbps", title, wire)
		runs = append(runs, run)
		e, r, err := flows(s, run, spec, 1500, list...)
		if err != nil {
			return 0, 0, nil, err
		}
		got, third := e.Gbps(), 0.0
		if wire > 0 {
			third = got * float64(list[1].counted) / float64(first.counted)
		}
		x.AddEstimate("path 1, payload", e, wire)
		x.Add("path 3, payload", third, wire)
		x.Add("path 3, wire", third*perByte, wire)
		if wire == 0 {
			alone = got
		}
		if above = 1 - got/alone; wire <= rest {
			below = max(below, above)
		}
		s.Book(r.ledger(fmt.Sprintf("path 1 and %s at %.0f Gbps", title, wire), r.nic.Moved()))
	}
	s.Record(x)
	return below, above, runs, nil
}

// waiting returns how many transfers path 3 has in flight while path 1 has all of its own: all of them if the channel
// cannot carry both, else as many for its rate as path 1 has for the network's, as the NIC serves both in turn. Path 3
// begins with these. Did it begin with none, path 1 would take all of the NIC's tags at first and fill the NIC's
// buffer, and would be measured at the network's rate until that is empty: for milliseconds if the channel lacks
// little.
func waiting(s *study.Session, wire, payload float64) int {
	all, mtu := s.Input("requests"), s.Input("net.mtu")
	net := s.Input("net.rate") * mtu / (mtu + s.Input("net.header"))
	if wire+net*(1+(s.Input("tlp.header")-completionSaves)/s.Input("host.mps")) > s.Input("pcie.rate") {
		return int(all)
	}
	return int(all * payload / net)
}

// completionSaves is the number of bytes by which the header of a completion is shorter than that of a request with
// 64-bit addresses.
const completionSaves = 4
