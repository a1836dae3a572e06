package ceio

import (
	"fmt"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Unloaded measures the latency of one message at a time, on CEIO's two paths and as an RDMA WRITE.
var Unloaded = study.Experiment{
	Group: "ceio", Name: "unloaded", Title: "Latency of one message on the fast and the slow path",
	Figures: "CE Table 3", Pictures: unloadedPictures,
	Claims: []string{"ceio.t3.fast.64B", "ceio.t3.slow.64B", "ceio.t3.fast.1024B", "ceio.t3.slow.1024B",
		"ceio.t3.overhead_range"},
	Inputs: inputs(slowCredits, rdmaModel), Run: unloaded,
	Reasons: map[string]string{
		"ceio.t3.slow.64B": slowCopy, "ceio.t3.slow.1024B": slowCopy,
		"ceio.t3.overhead_range": "slow: " + slowCopy + "; fast: the WRITE takes longer than perftest's, 0.86 us of " +
			"it until it is on the cable, as the model's latencies are those of another testbed (models/rnic)",
	},
	Notes: []string{"latency: from the post of a message until the application of the server takes it, the median; " +
		"perftest has half of a round trip, which is the same where both ends are alike",
		"clients are as fast as the server here, as one message at a time is no load",
		"messages of CEIO's paths are echoes over UDP, in one frame also at 4,096 B; the WRITE has immediate data, " +
			"whose completion the server polls where perftest polls the last byte",
		"the claims of RDMA WRITE (ceio.t3.rdma_write) calibrate nothing: the model of the RDMA NIC is as it is"},
}

// slowCopy says why the slow path takes longer than in the paper.
const slowCopy = "the receive call rings a doorbell, and the NIC fetches a work entry from the host, reads the " +
	"memory of the card and writes payload and completion: several times over PCIe, while the paper's 0.08 us more " +
	"are less than one way over it"

// slowCredits are the credits that send everything slow.
var slowCredits = study.Input{Name: "slow.credits", Value: 0, Unit: "packets", Source: "of the slow path: as in the " +
	"paper"}

// rdmaModel is the RDMA NIC of a BlueField-3.
var rdmaModel = study.Input{Name: "rnic", Text: "connectx7", Source: "model of RDMA NIC at both ends: the NIC of a " +
	"BlueField-3 is a ConnectX-7. A model in Go only"}

// Rows of Table 3.
const (
	fastPath  = "fast path"
	slowPath  = "slow path"
	rdmaWrite = "RDMA WRITE"
)

var unloadedSizes = []int{64, 1024, 4096}

// plainPair returns a board with one client, which is as fast as the server.
func plainPair(s *study.Session) string {
	return fmt.Sprintf("{preset: %s, servers: [%s], fleet: {machines: 1}}",
		s.Text("testbed"), server(s, s.Text("index"), ""))
}

// bufferBytes returns the length of receive buffers, whole lines, for frames with so many bytes of payload and their
// headers, at least that of ce.buf.
func bufferBytes(payload int) int {
	const least, line, headers = 2048, 64, 94
	return max(least, (payload+headers+line-1)/line*line)
}

func unloadedScene(s *study.Session, row string, n int) *point.Scene {
	scene := &point.Scene{Name: fmt.Sprintf("%s, %d B", row, n), Board: plainPair(s), Count: 10_000,
		Warm: point.WarmUp(s, milli/10), Window: 10 * milli}
	if row == rdmaWrite {
		scene.Devices = fmt.Sprintf("{kind: rnic, model: %s}", s.Text("rnic"))
		scene.Stacks = "{kind: rnic}"
		scene.Workloads = []string{fmt.Sprintf("kind: write_imm, payload: reused, mtu: 4096, sizes: [%d], depth: 1, "+
			"from: 1, to: 0", n)}
		return scene
	}
	credits := s.Input("credits")
	if row == slowPath {
		credits = s.Input("slow.credits")
	}
	host := fmt.Sprintf("hostnet: {buffer_bytes: %d, rx_cycles: %g, tx_cycles: %g}", bufferBytes(n),
		s.Input("rx_cycles"), s.Input("tx_cycles"))
	scene.Stacks = fmt.Sprintf("{kind: ceio, ceio: {flows: 1, credits: %g, landing: %g, %s}, %s}, {kind: udp, %s}",
		credits, s.Input("landing"), slowBytes(n), host, host)
	scene.Workloads = []string{fmt.Sprintf("kind: echo, transport: udp, sizes: [%d], depth: 1, from: 1, to: 0", n)}
	return scene
}

// handOver returns the median time until the server's application takes a message, in microseconds.
func handOver(p *point.Played) float64 {
	for i := range p.Times {
		if l := &p.Times[i]; l.Measure == "hand_over" {
			return float64(l.P50) / float64(simcore.Microsecond)
		}
	}
	return 0
}

func unloaded(s *study.Session) error {
	rows := []string{rdmaWrite, fastPath, slowPath}
	var scenes []*point.Scene
	for _, n := range unloadedSizes {
		for _, row := range rows {
			scenes = append(scenes, unloadedScene(s, row, n))
		}
	}
	all, err := point.Play(s, scenes...)
	if err != nil {
		return err
	}
	x := study.NewSeries("unloaded", "One message at a time", "latency", "us",
		study.Axis{Name: "message", Unit: "B", Log: true})
	t := unloadedTable{us: map[int]map[string]float64{}, runs: map[int]map[string]string{}}
	for i, p := range all {
		n, row := unloadedSizes[i/len(rows)], rows[i%len(rows)]
		if t.us[n] == nil {
			t.us[n], t.runs[n] = map[string]float64{}, map[string]string{}
		}
		t.us[n][row], t.runs[n][row] = handOver(p), p.Name
		x.Add(row, t.us[n][row], float64(n))
	}
	s.Record(x)
	t.judge(s)
	return nil
}

// unloadedTable has latencies in microseconds and the names of their runs, by size and row.
type unloadedTable struct {
	us   map[int]map[string]float64
	runs map[int]map[string]string
}

// over returns the latency of a path as a multiple of that of the RDMA WRITE.
func (t *unloadedTable) over(row string, n int) float64 { return t.us[n][row] / t.us[n][rdmaWrite] }

func (t *unloadedTable) judge(s *study.Session) {
	for _, n := range []int{64, 1024} {
		s.Value(fmt.Sprintf("ceio.t3.fast.%dB", n), t.us[n][fastPath], "median").On(t.runs[n][fastPath])
		s.Value(fmt.Sprintf("ceio.t3.slow.%dB", n), t.us[n][slowPath], "median").On(t.runs[n][slowPath])
	}
	low, high := 1e9, 0.0
	var runs []string
	for _, n := range unloadedSizes {
		for _, row := range []string{fastPath, slowPath} {
			low, high = min(low, t.over(row, n)), max(high, t.over(row, n))
			runs = append(runs, t.runs[n][row])
		}
		runs = append(runs, t.runs[n][rdmaWrite])
	}
	s.ValuesAnd("ceio.t3.overhead_range", "either path over the RDMA WRITE: the least and the most of all sizes",
		t.shrinks(), low, high).On(runs...)
}

// shrinks returns what contradicts that the overhead grows with the size of messages; empty: it grows.
func (t *unloadedTable) shrinks() string {
	first, last := unloadedSizes[0], unloadedSizes[len(unloadedSizes)-1]
	for _, row := range []string{fastPath, slowPath} {
		if a, b := t.over(row, first), t.over(row, last); !study.Above(b, a) {
			return fmt.Sprintf("%s: %.3g times the WRITE at %d B, %.3g at %d B", row, a, first, b, last)
		}
	}
	return ""
}

var unloadedPictures = map[string]study.Picture{"unloaded": {Figure: "CE Table 3", Printed: []study.Printed{
	{Claim: "ceio.t3.rdma_write.64B", System: rdmaWrite, At: []float64{64}},
	{Claim: "ceio.t3.rdma_write.1024B", System: rdmaWrite, At: []float64{1024}},
	{Claim: "ceio.t3.rdma_write.4096B", System: rdmaWrite, At: []float64{4096}},
	{Claim: "ceio.t3.fast.64B", System: fastPath, At: []float64{64}},
	{Claim: "ceio.t3.fast.1024B", System: fastPath, At: []float64{1024}},
	{Claim: "ceio.t3.slow.64B", System: slowPath, At: []float64{64}},
	{Claim: "ceio.t3.slow.1024B", System: slowPath, At: []float64{1024}},
}}}
