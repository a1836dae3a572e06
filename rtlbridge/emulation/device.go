package emulation

import (
	"fmt"
	"math/big"
	"strings"

	"nictwin/rtlbridge/manifest"
)

// pin returns the SystemVerilog expression for the bits of the device's port that a field has.
func (s *shape) pin(f manifest.Field) string {
	i := s.ports[f.Member]
	if f.Lsb == 0 && f.Width == s.Ports[i].Width {
		return fmt.Sprintf("pin_%d", i)
	}
	return fmt.Sprintf("pin_%d[%d +: %d]", i, f.Lsb, f.Width)
}

func inverted(f manifest.Field) string {
	if f.Low {
		return "!"
	}
	return ""
}

// device instantiates the device: gated clocks, resets, tie-offs, and the pins of streams.
func (s *shape) device(w *writer) {
	w.line("\n  // The device.")
	var unused []string
	for i, p := range s.Ports {
		if p.Dir == "out" {
			unused = append(unused, fmt.Sprintf("pin_%d", i))
		}
	}
	for k, c := range s.Clocks {
		w.line("  nic_clkgate u_gate_%d (.clk, .enable_i(rise[%d]), .test_en_i(1'b0), .clk_o(pin_%d));", k, k,
			s.ports[c.Member])
	}
	for i, r := range s.Resets {
		low := "!"
		if r.Active != 0 {
			low = ""
		}
		w.line("  assign pin_%d = %sresets_q[%d];", s.ports[r.Member], low, i)
	}
	for i, t := range s.Ties {
		if t.Width > 64 {
			w.line("  assign pin_%d = %d'h%s;", s.ports[t.Member], t.Width, hexOf(t.Value))
			continue
		}
		w.line("  assign pin_%d = cfg_q[%d +: %d];", s.ports[t.Member], 8*s.tieAt(i), t.Width)
	}
	var pins []string
	for i, p := range s.Ports {
		pins = append(pins, fmt.Sprintf("    .\\%s (pin_%d)", p.Name, i))
	}
	w.line("\n  %s %su_device (\n%s\n  );", s.Manifest.Top, s.Parameters, strings.Join(pins, ",\n"))
	w.line("  logic unused_pins;")
	w.line("  assign unused_pins = ^{1'b0%s};", strings.Join(append([]string{""}, unused...), ", "))
}

func hexOf(v *big.Int) string { return v.Text(16) }
