package emulation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"nictwin/rtlbridge/manifest"
)

// TraceFile names the file that a trace, the wave of a device behind a shell, is written to, and its first cycle.
type TraceFile struct {
	From uint64 // cycle of the first sample
	Name string // path of the file, a VCD
}

// cycleBits is the number of bits in which a shell counts cycles.
const cycleBits = 48

// DefaultTraceFile is the file that a trace is written to unless another one is named.
const DefaultTraceFile = "trace.vcd"

// tracePlusArg begins the argument that describes the trace buffer to an agent (verilator/shell/agent/trace.hpp).
const tracePlusArg = "+nictwin+trace+"

// plainName is the form of a port's name that a trace can have.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_$]*$`)

// traced returns the ports that the options name for the trace buffer. Errors have the line of the manifest's top.
func traced(b *manifest.Binding, ports []manifest.PinPort, o Options) (all []manifest.PinPort, err error) {
	if o.Trace == "" {
		return nil, nil
	}
	m, bits := b.Manifest, 0
	for _, name := range strings.Split(o.Trace, "+") {
		i := slices.IndexFunc(ports, func(p manifest.PinPort) bool { return p.Name == name })
		switch {
		case i < 0 || !plainName.MatchString(name):
			return nil, m.Errorf("top", "trace: %s has no port %q: want some of %s", m.Top, name, traceable(b, ports))
		case isClock(b, name):
			return nil, m.Errorf("top", "trace: %s is a clock, which is low in every sample", name)
		case slices.ContainsFunc(all, func(p manifest.PinPort) bool { return p.Name == name }):
			return nil, m.Errorf("top", "trace: %s is named twice", name)
		}
		all = append(all, ports[i])
		bits += ports[i].Width
	}
	if bits > maxTraceBits {
		return nil, m.Errorf("top", "trace: a sample of %d bits: want %d at most", bits, maxTraceBits)
	}
	return all, nil
}

func isClock(b *manifest.Binding, name string) bool {
	return slices.ContainsFunc(b.Clocks, func(c manifest.PinPort) bool { return c.Name == name })
}

// traceable lists the ports that a trace may name.
func traceable(b *manifest.Binding, ports []manifest.PinPort) string {
	var names []string
	for _, p := range ports {
		if plainName.MatchString(p.Name) && !isClock(b, p.Name) {
			names = append(names, p.Name)
		}
	}
	return strings.Join(names, ", ")
}

// traceArgs returns the argument that describes the trace buffer to an agent.
func traceArgs(o Options, signals []manifest.PinPort, f TraceFile) []string {
	if len(signals) == 0 {
		return nil
	}
	var list []string
	for _, p := range signals {
		list = append(list, fmt.Sprintf("%s:%d", p.Name, p.Width))
	}
	return []string{fmt.Sprintf("%s%d+%d+%s+%s", tracePlusArg, f.From, o.Samples, strings.Join(list, ","), f.Name)}
}

// bytesOfAll returns the length of a sample in a message: whole bytes for each port.
func bytesOfAll(ports []manifest.PinPort) (n int) {
	for _, p := range ports {
		n += bytesOf(p.Width)
	}
	return n
}

// trace instantiates the trace buffer, if there is one.
func (s *shape) trace(w *writer) {
	if len(s.Traced) == 0 {
		return
	}
	n, bits := s.observer()+1, 0
	var parts []string
	for _, p := range s.Traced {
		parts = append(parts, fmt.Sprintf("pin_%d", s.ports[p.Member]))
		bits += p.Width
	}
	w.line("\n  // Trace buffer.")
	w.line("  logic [%d:0] traced;", bits-1)
	w.line("  logic [SlotBits-1:0] traced_at;\n")
	w.line("  shell_trace #(.Bits(%d), .Depth(%d)) u_trace (", bits, s.Samples)
	w.line("    .clk, .rst(clear), .from_i(cfg_q[%d +: CycleBits]), .sample_i(sample[0] && count_q),",
		8*(s.startBytes()-traceStart))
	w.line("    .cycle_i(cycle_q), .pins_i(%s), .read_i(read),", join(parts))
	w.line("    .event_valid_o(event_valid[%d]), .event_ready_i(event_ready[%d]), .event_slot_o(traced_at),", n, n)
	w.line("    .event_pins_o(traced)\n  );")
	w.line("  assign event_head[%d] = {EventFlags'(1 << EventPayload), traced_at};", n)
	w.line("  always_comb begin\n    event_payload[%d] = '0;", n)
	at, byteAt := 0, 0
	for _, p := range s.Traced {
		w.line("    event_payload[%d][%d +: %d] = traced[%d +: %d];", n, 8*byteAt, p.Width, at, p.Width)
		at += p.Width
		byteAt += bytesOf(p.Width)
	}
	w.line("  end")
}
