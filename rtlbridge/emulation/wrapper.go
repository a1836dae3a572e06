package emulation

import (
	"fmt"
	"strings"

	"nictwin/rtlbridge/protocol"
)

// Module is the name of a shell's top module.
const Module = "nictwin_shell"

// writer collects the text of a module.
type writer struct{ strings.Builder }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// text returns the source of the shell's top module.
func (s *shape) text() string {
	w := &writer{}
	w.line("/// Emulation shell of %s around %s, generated from its manifest; do not edit.", s.Manifest.Name,
		s.Manifest.Top)
	w.line("/// clk: the host clock, of which the device's clocks are gates. The link: AXI4-Stream, both ways.\n")
	w.line("module %s\n  import shell_pkg::*;\n(", Module)
	w.line("  input  logic         clk,\n  input  logic         rst,")
	for _, dir := range [][4]string{{"rx", "input ", "input ", "output"}, {"tx", "output", "output", "input "}} {
		w.line("  %s logic [%d:0] link_%s_tdata,", dir[1], s.LinkBits-1, dir[0])
		w.line("  %s logic         link_%s_tvalid,", dir[2], dir[0])
		end := ","
		if dir[0] == "tx" {
			end = ""
		}
		w.line("  %s logic         link_%s_tready%s", dir[3], dir[0], end)
	}
	w.line(");\n  // Pins of the device.")
	for i, p := range s.Ports {
		w.line("  logic [%d:0] pin_%d;  // %s", p.Width-1, i, p.Name)
	}
	s.host(w)
	s.control(w)
	s.noise(w)
	w.line("\n  // Inputs: pins, and how far each is, for those that are coupled to it.")
	for i, p := range s.Inputs {
		w.line("  logic valid_%d, active_%d, begun_%d;", i, i, i)
		w.line("  logic [31:0] taken_%d;", i)
		w.line("  logic [SlotBits-1:0] at_%d;", i)
		w.line("  logic [%d:0] pins_%d;", p.Bits-1, i)
	}
	for _, p := range s.Inputs {
		s.input(w, p)
	}
	for _, p := range s.Outputs {
		s.output(w, p)
	}
	s.observe(w)
	s.trace(w)
	s.device(w)
	w.line("endmodule")
	return w.String()
}

// list joins the numbers of streams into a packed constant, the last one highest.
func list(n int, width int, of func(i int) int) string {
	var parts []string
	for i := n - 1; i >= 0; i-- {
		parts = append(parts, fmt.Sprintf("%d'd%d", width, of(i)))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// host instantiates the link and its messages.
func (s *shape) host(w *writer) {
	n := s.Sources()
	payload := func(i int) int {
		switch {
		case i < len(s.Inputs):
			return 0
		case i < s.observer():
			return s.Outputs[i-len(s.Inputs)].Bytes
		case i == s.observer():
			return s.ObservedLen
		}
		return bytesOfAll(s.Traced)
	}
	w.line("\n  // The link: messages in, events out.")
	w.line("  logic session, start, masks, grant, done, moving;")
	w.line("  logic [%d:0] beat;", len(s.Inputs)-1)
	w.line("  logic [%d:0] body;", 8*s.bodyBytes()-1)
	w.line("  logic [%d:0] event_valid, event_ready;", n-1)
	w.line("  logic [%d:0][SlotBits+EventFlags-1:0] event_head;", n-1)
	w.line("  logic [%d:0][%d:0] event_payload;\n", n-1, 8*s.mostBytes()-1)
	w.line("  shell_host #(")
	w.line("    .LinkBytes(%d), .ResendCycles(%d), .Inputs(%d),", s.LinkBits/8, resendCycles, len(s.Inputs))
	w.line("    .BeatBytes(%s),", list(len(s.Inputs), 16, func(i int) int { return s.Inputs[i].Bytes }))
	w.line("    .StartBytes(%d), .MaskBytes(%d), .GrantBytes(%d), .BodyBytes(%d),", s.startBytes(), s.maskBytes(),
		s.grantBytes(), s.bodyBytes())
	w.line("    .Sources(%d), .Bytes(%s),", n, list(n, 16, payload))
	w.line("    .MostBytes(%d), .Hash(256'h%s)", s.mostBytes(), reversed(s.Hash))
	w.line("  ) u_host (")
	w.line("    .clk, .rst, .link_rx_tdata, .link_rx_tvalid, .link_rx_tready, .link_tx_tdata, .link_tx_tvalid,")
	w.line("    .link_tx_tready, .clear_o(session), .start_o(start), .masks_o(masks), .grant_o(grant), .beat_o(beat),")
	w.line("    .body_o(body), .event_valid_i(event_valid), .event_ready_o(event_ready), .event_i(event_head),")
	w.line("    .payload_i(event_payload), .done_i(done), .moving_i(moving)\n  );")
}

// reversed returns hexadecimal digits with the bytes in reverse order: a message begins with the lowest one.
func reversed(hex string) string {
	var b strings.Builder
	for i := len(hex) - 2; i >= 0; i -= 2 {
		b.WriteString(hex[i : i+2])
	}
	return b.String()
}

// control writes the configuration, the clocks and the resets.
func (s *shape) control(w *writer) {
	clocks, resets := len(s.Clocks), max(1, len(s.Resets))
	top := 8 * s.bodyBytes()
	w.line("\n  // Configuration of a run, and the grant under way.")
	w.line("  logic [%d:0] cfg_q;", 8*s.startBytes()-1)
	w.line("  logic [%d:0] grant_body;", 8*s.grantBytes()-1)
	w.line("  logic start_q, clear, drop, read, rest_q, count_q, unused_bits;")
	w.line("  logic [%d:0] resets_q;", resets-1)
	w.line("  logic [CycleBits-1:0] cycle_q;")
	w.line("  logic [%d:0] drive, sample, live, rise;", clocks-1)
	w.line("  logic [%d:0][CycleBits-1:0] ticks;", clocks-1)
	w.line("  logic [SlotBits-1:0] slot;")
	w.line("  logic [%d:0] stop;", s.observer())
	w.line("  logic [%d:0] noise_want;\n", len(s.Inputs)-1)
	w.line("  assign grant_body = body[%d -: %d];", top-1, 8*s.grantBytes())
	w.line("  assign clear = rst || session || start_q;")
	w.line("  assign drop  = grant && grant_body[16+GrantDrop];")
	w.line("  assign read  = grant && grant_body[16+GrantTrace];")
	w.line("  assign live  = rest_q ? '0 : '1;\n")
	w.line("  always_ff @(posedge clk) begin")
	w.line("    start_q <= start;")
	w.line("    if (start) cfg_q <= body[%d -: %d];", top-1, 8*s.startBytes())
	w.line("    if (grant) begin")
	w.line("      rest_q  <= grant_body[16+GrantRest];")
	w.line("      count_q <= grant_body[16+GrantCount];")
	if len(s.Resets) > 0 {
		w.line("      resets_q <= grant_body[%d +: %d];", 8*resetAt, len(s.Resets))
	}
	w.line("    end")
	w.line("    if (rise[0] && count_q) cycle_q <= cycle_q + 1'b1;")
	w.line("    if (clear) begin")
	w.line("      cycle_q  <= '0;")
	w.line("      resets_q <= '1;")
	w.line("      rest_q   <= 1'b1;")
	w.line("      count_q  <= 1'b0;")
	w.line("    end\n  end\n")
	s.clocks(w)
}

// clocks instantiates the controlled clocks.
func (s *shape) clocks(w *writer) {
	clocks := len(s.Clocks)
	cfg := func(at func(int) int, more int) string {
		var parts []string
		for k := clocks - 1; k >= 0; k-- {
			parts = append(parts, fmt.Sprintf("cfg_q[%d +: 32]", 8*(at(k)+more)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	w.line("  shell_clocks #(.Clocks(%d)) u_clocks (", clocks)
	w.line("    .clk, .rst(clear), .first_i(%s), .period_i(%s),", cfg(s.clockAt, 4), cfg(s.clockAt, 0))
	w.line("    .grant_i(grant), .slots_i(grant_body[SlotBits:0]), .stop_i(stop != '0), .wait_i(noise_want != '0),")
	w.line("    .drive_o(drive), .sample_o(sample), .rise_o(rise), .ticks_o(ticks), .slot_o(slot),")
	w.line("    .moving_o(moving), .done_o(done)\n  );")
}

// noise instantiates the source of noise for idle input pins.
func (s *shape) noise(w *writer) {
	n, most := len(s.Inputs), 1
	for _, p := range s.Inputs {
		most = max(most, p.Words)
	}
	keys, ticks := make([]string, n), make([]string, n)
	for i, p := range s.Inputs {
		keys[n-1-i] = fmt.Sprintf("cfg_q[%d +: 64]", 8*s.keyAt(i))
		ticks[n-1-i] = s.tick(p)
	}
	w.line("\n  // Noise for idle input pins.")
	w.line("  logic [%d:0] noise_load;", n-1)
	w.line("  logic [%d:0] noise_bits;\n", 64*most-1)
	w.line("  shell_noise #(")
	words := list(n, 16, func(i int) int { return s.Inputs[i].Words })
	w.line("    .Streams(%d), .Words(%s), .Most(%d)", n, words, most)
	w.line("  ) u_noise (")
	w.line("    .clk, .rst(clear), .want_i(noise_want), .key_i({%s}),", strings.Join(keys, ", "))
	w.line("    .tick_i({%s}),", strings.Join(ticks, ", "))
	w.line("    .load_o(noise_load), .noise_o(noise_bits)\n  );")
	w.line("  assign unused_bits = ^{body, cfg_q, grant_body, read, ticks, resets_q, noise_bits};")
}

// tick returns the signal that counts the edges of a stream's clock.
func (s *shape) tick(p pins) string {
	if p.ClockIdx == 0 {
		return "cycle_q"
	}
	return fmt.Sprintf("ticks[%d]", p.ClockIdx)
}

// join concatenates the parts of a vector, the first one lowest.
func join(parts []string) string {
	if len(parts) == 0 {
		return "1'b0"
	}
	var high []string
	for i := len(parts) - 1; i >= 0; i-- {
		high = append(high, parts[i])
	}
	return "{" + strings.Join(high, ", ") + "}"
}

// bit returns 1 or 0.
func bit(v bool) int {
	if v {
		return 1
	}
	return 0
}

// input instantiates the transactor of an input stream.
func (s *shape) input(w *writer, p pins) {
	i, top := p.Pos, 8*s.bodyBytes()
	beat, noise := []string{}, []string{}
	for _, x := range p.Pieces {
		beat = append(beat, fmt.Sprintf("body[%d +: %d]", top-8*(p.Bytes-x.InByte), x.Width))
		if x.Noise < 0 {
			noise = append(noise, fmt.Sprintf("{%d{1'b1}}", x.Width))
		} else {
			noise = append(noise, fmt.Sprintf("noise_bits[%d +: %d]", x.Noise, x.Width))
		}
	}
	head := top - 8*(p.Bytes+headBytes)
	level := p.Kind == protocol.KindLevel
	ready := "1'b1"
	if p.HasReady() {
		ready = s.pin(p.ReadyF)
	}
	w.line("\n  // Input %s.", p.Name)
	w.line("  shell_in #(.Bits(%d), .Depth(%d), .Level(%d), .With(%d)) u_in_%d (", p.Bits, s.Depth, bit(level),
		bit(p.WithIdx >= 0), i)
	w.line("    .clk, .rst(clear), .beat_valid_i(beat[%d]), .beat_i(%s),", i, join(beat))
	w.line("    .beat_flags_i(body[%d +: 3]), .beat_epoch_i(body[%d +: 8]), .beat_cycle_i(body[%d +: CycleBits]),",
		head+8, head+16, head+24)
	w.line("    .grant_i(grant), .more_i(grant_body[%d]), .drop_i(drop),", 8*s.moreAt()+i)
	w.line("    .masks_i(masks), .mask_i(%s),", s.mask(p))
	w.line("    .drive_i(drive[%d] && live[%d]), .sample_i(sample[%d] && live[%d]), .tick_i(rise[%d]),", p.ClockIdx,
		p.ClockIdx, p.ClockIdx, p.ClockIdx, p.ClockIdx)
	w.line("    .cycle_i(cycle_q), .slot_i(slot), .may_begin_i(%s),", s.mayBegin(p))
	w.line("    .poison_i(cfg_q[0]), .noise_wait_o(noise_want[%d]), .noise_load_i(noise_load[%d]),", i, i)
	w.line("    .noise_i(%s),", join(noise))
	w.line("    .valid_o(valid_%d), .pins_o(pins_%d), .ready_i(%s), .taken_o(taken_%d), .active_o(active_%d),", i, i,
		ready, i, i)
	w.line("    .begun_o(begun_%d), .stop_o(stop[%d]), .event_valid_o(event_valid[%d]),", i, p.Source, p.Source)
	w.line("    .event_ready_i(event_ready[%d]), .event_slot_o(at_%d)\n  );", p.Source, i)
	w.line("  assign event_head[%d] = {EventFlags'(0), at_%d};", p.Source, i)
	w.line("  assign event_payload[%d] = '0;", p.Source)
	for _, x := range p.Pieces {
		w.line("  assign %s = pins_%d[%d +: %d];", s.pin(x.Field), i, x.At, x.Width)
	}
	if !level {
		w.line("  assign %s = %svalid_%d;", s.pin(p.Valid), inverted(p.Valid), i)
	}
	w.line("  logic unused_in_%d;", i)
	w.line("  assign unused_in_%d = ^{valid_%d, active_%d, begun_%d, taken_%d, pins_%d};", i, i, i, i, i, i)
}

// mask returns the slice of a message CmdMasks that has the stall bits of a stream.
func (s *shape) mask(p pins) string {
	return fmt.Sprintf("body[%d +: 64]", 8*(s.bodyBytes()-s.maskBytes()+8*p.Index))
}

// mayBegin returns the condition under which a stream may begin a transaction: every coupled stream that must begin
// first has done so.
func (s *shape) mayBegin(p pins) string {
	var all []string
	for _, o := range s.Inputs {
		switch {
		case o.Index == p.AfterIdx:
			all = append(all, fmt.Sprintf("$signed(taken_%d - taken_%d) > 0", o.Pos, p.Pos))
		case o.Index == p.WithIdx:
			all = append(all, fmt.Sprintf("$signed(taken_%d + 32'(begun_%d) - taken_%d) > 0", o.Pos, o.Pos, p.Pos))
		}
		if o.WithIdx == p.Index {
			all = append(all, fmt.Sprintf("!active_%d", o.Pos))
		}
	}
	if len(all) == 0 {
		return "1'b1"
	}
	return strings.Join(all, " && ")
}

// output instantiates the transactor of an output stream.
func (s *shape) output(w *writer, p pins) {
	i := p.Pos
	var parts []string
	for _, x := range p.Pieces {
		parts = append(parts, s.pin(x.Field))
	}
	last := "1'b1"
	if p.Packets() {
		last = s.pin(p.Last)
	}
	w.line("\n  // Output %s.", p.Name)
	w.line("  logic ready_%d;", i)
	w.line("  logic [%d:0] seen_%d;\n", p.Bits-1, i)
	w.line("  shell_out #(.Bits(%d), .Depth(%d), .Ready(%d), .Answers(%d), .Late(%d)) u_out_%d (", p.Bits, s.Depth,
		bit(p.HasReady()), bit(p.ReadyAnswers), bit(p.FieldsLate), i)
	w.line("    .clk, .rst(clear), .limited_i(cfg_q[%d]), .credits_i(cfg_q[%d +: 32]),", 8*s.limitAt(i),
		8*s.limitAt(i)+8)
	w.line("    .grant_i(grant), .more_credits_i(grant_body[%d +: 32]), .drop_i(drop),", 8*s.creditAt(i))
	w.line("    .masks_i(masks), .mask_i(%s),", s.mask(p))
	w.line("    .drive_i(drive[%d] && live[%d]), .sample_i(sample[%d] && live[%d]), .tick_i(rise[%d]),", p.ClockIdx,
		p.ClockIdx, p.ClockIdx, p.ClockIdx, p.ClockIdx)
	w.line("    .slot_i(slot), .valid_i(%s%s), .pins_i(%s),", inverted(p.Valid), s.pin(p.Valid), join(parts))
	w.line("    .last_i(%s), .ready_o(ready_%d), .stop_o(stop[%d]),", last, i, p.Source)
	w.line("    .event_valid_o(event_valid[%d]), .event_ready_i(event_ready[%d]),", p.Source, p.Source)
	w.line("    .event_o(event_head[%d]), .event_pins_o(seen_%d)\n  );", p.Source, i)
	if p.HasReady() {
		w.line("  assign %s = %sready_%d;", s.pin(p.ReadyF), inverted(p.ReadyF), i)
	}
	w.line("  always_comb begin\n    event_payload[%d] = '0;", p.Source)
	for _, x := range p.Pieces {
		w.line("    event_payload[%d][%d +: %d] = seen_%d[%d +: %d];", p.Source, 8*x.InByte, x.Width, i, x.At, x.Width)
	}
	w.line("  end")
	w.line("  logic unused_out_%d;", i)
	w.line("  assign unused_out_%d = ^{ready_%d, seen_%d};", i, i, i)
}

// observe instantiates the transactor of the observed signals.
func (s *shape) observe(w *writer) {
	n, bits := s.observer(), 0
	var parts []string
	for _, p := range s.Observe {
		parts = append(parts, fmt.Sprintf("pin_%d", s.ports[p.Member]))
		bits += p.Width
	}
	bits = max(1, bits)
	w.line("\n  // Observed signals.")
	w.line("  logic [%d:0] observed;", bits-1)
	w.line("  logic [SlotBits-1:0] observed_at;\n")
	w.line("  shell_observe #(.Bits(%d), .Depth(%d)) u_observe (", bits, s.Depth)
	w.line("    .clk, .rst(clear), .sample_i(sample[0] && count_q), .slot_i(slot), .pins_i(%s),", join(parts))
	w.line("    .stop_o(stop[%d]), .event_valid_o(event_valid[%d]), .event_ready_i(event_ready[%d]),", n, n, n)
	w.line("    .event_slot_o(observed_at), .event_pins_o(observed)\n  );")
	w.line("  assign event_head[%d] = {EventFlags'(1 << EventPayload), observed_at};", n)
	w.line("  always_comb begin\n    event_payload[%d] = '0;", n)
	at := 0
	for i, p := range s.Observe {
		w.line("    event_payload[%d][%d +: %d] = observed[%d +: %d];", n, 8*s.observedAt[i], p.Width, at, p.Width)
		at += p.Width
	}
	w.line("  end")
	w.line("  logic unused_observed;")
	w.line("  assign unused_observed = ^observed;")
}
