package flexins

import (
	"fmt"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Connections measures WRITEs of 2 KB over 1 to 12 connections, and the memory bandwidth that they take.
var Connections = study.Experiment{
	Group: "flexins", Name: "connections", Title: "WRITEs of 2 KB over 1 to 12 connections",
	Figures:  "FN Fig. 11, SN Fig. 10",
	Pictures: connectionPictures,
	Claims: []string{"smartns.net.multi_linerate_conns", "smartns.net.multi_vs_rnic",
		"smartns.intro.full_duplex"},
	Inputs: inputs(
		study.Input{Name: "payload", Value: 2048, Unit: "B", Source: "SN Fig. 10"},
		study.Input{Name: "duplex.payload", Value: 4096, Unit: "B", Source: "assumption: the claim names no size; of " +
			"2 KB 12 cores carry 90% of the line rate each way"},
	),
	Run:     connections,
	Notes:   []string{noSnap},
	Settled: map[string]string{"smartns.intro.full_duplex": "packets of 4 KB: of 2 KB 12 cores carry 90% of it"},
}

var connectionCounts = []int{1, 2, 3, 4, 5, 6, 7, 8, 10, 12}

func connections(s *study.Session) error {
	counts := connectionCounts
	if s.Few() {
		counts = []int{1, 12}
	}
	var scenes []*scene
	for _, n := range counts {
		scenes = append(scenes, connectionScene(s, n))
	}
	duplex := connectionScene(s, 6)
	duplex.name, duplex.window = "6 connections each way", 4*milli
	duplex.workloads[0] = fmt.Sprintf("kind: write, processes: 6, depth: %g, sizes: [%g], mtu: 4096, ports: 2",
		s.Input("depth"), s.Input("duplex.payload"))
	duplex.workloads = []string{"name: " + forward + ", " + duplex.workloads[0],
		"name: " + backward + ", from: 1, to: 0, " + duplex.workloads[0]}
	at := len(scenes)
	scenes = append(scenes, duplex)
	for _, n := range counts {
		scenes = append(scenes, connectionsOfRNIC(s, n))
	}
	others := len(scenes)
	for _, x := range sensitivities {
		for _, n := range x.counts {
			scenes = append(scenes, sensitivityScene(s, x.scale, n))
		}
	}
	all, err := play(s, scenes...)
	if err != nil {
		return err
	}
	own, rnic := all[:at], all[at+1:others]
	recordSensitivity(s, all[others:])
	x := study.NewSeries("throughput", "WRITEs of 2 KB, 64 under way each", "payload", "Gbps",
		study.Axis{Name: "connections"})
	mem := study.NewSeries("memory", "DRAM of the receiving server", "bandwidth", "GB/s",
		study.Axis{Name: "connections"})
	each := study.NewSeries("packet", "Time from packet to packet of an Arm core, waits included", "time", "ns",
		study.Axis{Name: "connections"})
	for i, n := range counts {
		point.Add(x, system, &own[i].Rate, float64(n))
		point.Add(x, rnicName, &rnic[i].Rate, float64(n))
		mem.Add(system+", host", own[i].host[1], float64(n))
		mem.Add(system+", Arm", own[i].arm[1], float64(n))
		mem.Add(rnicName+", host", rnic[i].host[1], float64(n))
		each.Add(system, 1e9*float64(n)/own[i].Rate.PerSecond, float64(n))
	}
	s.Record(x, mem, each)
	judgeConnections(s, counts, own, rnic)
	full := goodput(s, bothGbps, s.Input("duplex.payload"))
	flow := all[at]
	there, back := flow.Of(s, forward), flow.Of(s, backward)
	s.Value("smartns.intro.full_duplex", min(there.Gbps, back.Gbps)/full, fmt.Sprintf("6 connections each way get "+
		"%.4g and %.4g Gbps of %.4g", there.Gbps, back.Gbps, full)).On(flow.Name+", "+forward,
		flow.Name+", "+backward)
	return nil
}

// judgeConnections judges the claims about the number of connections.
func judgeConnections(s *study.Session, counts []int, own, rnic []*played) {
	const near = 0.95
	full := goodput(s, bothGbps, s.Input("payload"))
	first, runs := 0, []string{}
	for i, n := range counts {
		runs = append(runs, own[i].Name)
		if first == 0 && own[i].Rate.Gbps >= near*full {
			first = n
		}
	}
	one := 1e9 / own[0].Rate.PerSecond
	s.Value("smartns.net.multi_linerate_conns", float64(first), fmt.Sprintf("connections that get 95%% of %.4g Gbps; "+
		"one takes %.3g ns a packet, where 2 KB at 400 Gbps over 5 to 6 cores make 205 to 246", full, one)).On(runs...)
	a, b := own[len(own)-1], rnic[len(rnic)-1]
	broken := ""
	if low := min(a.Rate.Gbps, b.Rate.Gbps); low < near*full {
		broken = fmt.Sprintf("%.4g Gbps are less than 95%% of %.4g", low, full)
	}
	s.ValueAnd("smartns.net.multi_vs_rnic", a.Rate.Gbps/b.Rate.Gbps, fmt.Sprintf("12 connections, %.4g against %.4g "+
		"Gbps, of %.4g", a.Rate.Gbps, b.Rate.Gbps, full), broken).On(a.Name, b.Name)
}

// Names of the workloads of a scene with traffic both ways.
const (
	forward  = "forward"
	backward = "backward"
)

// Names of systems in series.
const (
	system   = "FlexiNS"
	rnicName = "RNIC"
)

// connectionScene returns a scene of so many applications with a connection each, by turns over both ports.
func connectionScene(s *study.Session, n int) *scene {
	return &scene{
		name: fmt.Sprintf("%d connections", n), stacks: stack(s, "", ""),
		workloads: []string{fmt.Sprintf("kind: write, processes: %d, depth: %g, sizes: [%g], mtu: 2048, ports: 2", n,
			s.Input("depth"), s.Input("payload"))},
		warm: point.WarmUp(s, 300*simcore.Microsecond), window: 2 * milli,
	}
}

// sensitivities are the ends of the range of 205 to 246 ns for a packet that line rate over 5 to 6 connections leaves,
// as factors of the stack's own cycle costs. 205 ns are loads, stores and doorbells alone.
var sensitivities = []struct {
	scale  float64
	counts []int
}{{0, []int{1, 5, 6}}, {1.08, []int{1, 5, 6}}}

// sensitivityScene returns connectionScene with other cycle costs.
func sensitivityScene(s *study.Session, scale float64, n int) *scene {
	c := connectionScene(s, n)
	c.name = fmt.Sprintf("%d connections, costs times %g", n, scale)
	c.stacks = stackOf(int(s.Input("data.cores")), "", "", func(what string) float64 {
		return s.Input("arm."+what) * scale / factor
	})
	return c
}

// recordSensitivity records the rates at both ends of the range.
func recordSensitivity(s *study.Session, all []*played) {
	x := study.NewSeries("sensitivity", "WRITEs of 2 KB by the time of a packet on an Arm core", "payload", "Gbps",
		study.Axis{Name: "connections"})
	for _, v := range sensitivities {
		packet := 1e9 / all[0].Rate.PerSecond
		for i, n := range v.counts {
			point.Add(x, fmt.Sprintf("%.0f ns a packet", packet), &all[i].Rate, float64(n))
		}
		all = all[len(v.counts):]
	}
	s.Record(x)
}

// connectionsOfRNIC returns a scene of so many connections of a plain ConnectX-7, which has a port of 400 Gbps.
func connectionsOfRNIC(s *study.Session, n int) *scene {
	kind, device := rnic(s)
	return &scene{
		name: fmt.Sprintf("%d connections of the RNIC", n), board: s.Text("rnic") + "-cores-pair",
		stacks: kind, devices: device,
		workloads: []string{fmt.Sprintf("kind: write, processes: %d, depth: %g, sizes: [%g], mtu: 2048", n,
			s.Input("depth"), s.Input("payload"))},
		warm: point.WarmUp(s, 200*simcore.Microsecond), window: milli,
	}
}
