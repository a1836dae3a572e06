/// Output of a port with pause: lets no frame begin while the port or the frame's class is stopped,
/// and sends pause frames between frames as the receive buffer fills and empties (contract F4 to
/// F6).

`include "nic_assert.svh"

module nic_pause_port
  import nic_int_pkg::*;
  import nic_pkg::*;
#(
  // Bits of an Ethernet stream at the pins: they determine the cycles of a pause quantum.
  parameter int EthBits = EthW
) (
  input  logic            clk,
  input  logic            rst,
  // High during a function-level reset: ends stops, and no pause frame begins.
  input  logic            flr_i,
  // PortCfg entry of the port; mac_i: source address of its pause frames.
  input  port_entry_t     cfg_i,
  input  logic [47:0]     mac_i,
  // Pause frame that was honoured; a pulse.
  input  pause_t          pause_i,
  // Bytes that frames hold in the port's receive buffer.
  input  logic [31:0]     held_i,
  // Frames of the port, with their class.
  input  eth_beat_t       s_i,
  input  logic [15:0]     s_user_i,
  input  logic [2:0]      s_class_i,
  input  logic            s_valid_i,
  output logic            s_ready_o,
  // Frames from s_i, with pause frames inserted between them.
  output eth_beat_t       m_o,
  output logic [15:0]     m_user_o,
  output logic            m_valid_o,
  input  logic            m_ready_i,
  // One bit a class: high while it is stopped.
  output logic [7:0]      stopped_o,
  // Pulse: a pause frame left.
  output logic            sent_o,
  // High while a pause frame waits or leaves.
  output logic            busy_o
);
  localparam int QuantumCycles = 512 / EthBits;
  localparam int TimerW        = 16 + $clog2(QuantumCycles + 1);
  localparam logic [47:0] PauseMac = 48'h0100_00c2_8001;   // 01-80-C2-00-00-01, first byte low

  function automatic logic [TimerW-1:0] cycles(input logic [15:0] quanta);
    cycles = TimerW'(quanta) * TimerW'(QuantumCycles);
  endfunction

  function automatic logic [15:0] be16(input logic [15:0] b);
    be16 = {b[7:0], b[15:8]};
  endfunction

  // Stops in progress: cycles left for the port (all_q) and for each class.
  logic [TimerW-1:0]      all_q;
  logic [7:0][TimerW-1:0] class_q;
  logic [7:0]             stopped_q;
  logic                   any_q;

  // The output alternates between frames and own pause frames, a whole frame at a time.
  logic      open, s_shown, mid_q, mid, own_q, wish, wish_q, end_q;
  eth_beat_t own_beat_q;

  // A pause frame is sent when the buffer passes xoff, and again whenever half the pause time has
  // passed. When the buffer is down to xon or below, one with time 0 is sent.
  logic              on, over, under, paused_q;
  logic [TimerW-1:0] again_q;

  assign stopped_o = stopped_q;

  // The clock stops while there is neither a stop nor a threshold to watch.
  logic clk_g;

  nic_clkgate u_gate (
    .clk, .test_en_i(1'b0), .clk_o(clk_g),
    .enable_i(rst || flr_i || pause_i.valid || any_q || on || own_q || wish_q || paused_q)
  );

  always_ff @(posedge clk_g) begin
    if (any_q) begin
      any_q <= all_q > TimerW'(1) || stopped_q != 8'h0;
      if (all_q != '0) all_q <= all_q - TimerW'(1);
      for (int c = 0; c < 8; c++) begin
        if (class_q[c] != '0) class_q[c] <= class_q[c] - TimerW'(1);
        stopped_q[c] <= class_q[c] > TimerW'(1);
      end
    end
    if (pause_i.valid) begin
      any_q <= 1'b1;
      if (pause_i.all) all_q <= cycles(pause_i.quanta);
      for (int c = 0; c < 8; c++) begin
        if (pause_i.classes[c]) begin
          class_q[c]   <= cycles(pause_i.of_class[c]);
          stopped_q[c] <= pause_i.of_class[c] != 16'h0;
        end
      end
    end
    if (rst || flr_i) begin
      all_q     <= '0;
      class_q   <= '0;
      stopped_q <= '0;
      any_q     <= 1'b0;
    end
  end

  assign open      = mid_q || (all_q == '0 && !stopped_q[s_class_i]);
  assign s_shown   = s_valid_i && open && !own_q;
  assign s_ready_o = m_ready_i && open && !own_q;
  assign mid       = s_shown ? !(m_ready_i && s_i.last) : mid_q;
  assign m_valid_o = own_q || s_shown;
  assign m_o       = own_q ? own_beat_q : s_i;
  assign m_user_o  = own_q ? 16'(PauseQueue) : s_user_i;
  assign sent_o    = own_q && m_ready_i;
  assign busy_o    = own_q || wish_q;
  assign wish      = wish_q && on && !flr_i;

  // Returns a pause frame; quanta 0 ends the pause.
  function automatic logic [EthW-1:0] frame(input logic [15:0] quanta);
    frame = '0;
    frame[47:0]   = PauseMac;
    frame[95:48]  = mac_i;
    frame[111:96] = be16(16'(MacControlType));
    if (cfg_i.tx_mode == PauseModePriority) begin
      frame[127:112]   = be16(16'(PfcOpcode));
      frame[8*17 +: 8] = cfg_i.tx_classes;
      for (int c = 0; c < 8; c++) begin
        if (cfg_i.tx_classes[c]) frame[8*18 + 16*c +: 16] = be16(quanta);
      end
    end else begin
      frame[127:112]    = be16(16'(PauseOpcode));
      frame[8*16 +: 16] = be16(quanta);
    end
  endfunction

  always_ff @(posedge clk) begin
    mid_q <= mid;
    if (rst) mid_q <= 1'b0;
  end

  always_ff @(posedge clk_g) begin
    own_q <= own_q ? !m_ready_i : wish && !mid;
    if (!own_q && wish && !mid) begin
      own_beat_q.data <= frame(end_q ? 16'h0 : cfg_i.pause_time);
      own_beat_q.keep <= EthB'((64'h1 << FrameMin) - 64'h1);
      own_beat_q.last <= 1'b1;
    end
    if (rst) own_q <= 1'b0;
  end

  assign on    = cfg_i.tx_mode != PauseModeNone;
  assign over  = held_i > cfg_i.xoff;
  assign under = held_i <= cfg_i.xon;

  always_ff @(posedge clk_g) begin
    if (on) begin
      if (again_q != '0) again_q <= again_q - TimerW'(1);
      if (sent_o) again_q <= cycles(cfg_i.pause_time) >> 1;
      if (!own_q && wish && !mid) begin
        wish_q <= 1'b0;
      end else if (!wish_q && !own_q) begin
        wish_q   <= paused_q ? under || again_q <= TimerW'(1) : over;
        end_q    <= paused_q && under;
        paused_q <= paused_q ? !under : over;
      end
    end
    if (rst || flr_i || !on) begin
      wish_q   <= 1'b0;
      paused_q <= 1'b0;
    end
  end

  `NIC_HELD(a_held, m_valid_o, m_ready_i, {m_o, m_user_o})
  logic unused_bits;
  assign unused_bits = ^cfg_i;
endmodule
