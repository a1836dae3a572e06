/// Detects pause frames among a port's frames, one beat a cycle: all fields needed are in the first
/// 64 bytes.

module nic_pause_rx
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
(
  input  logic            clk,
  input  logic            rst,
  input  pause_cfg_t      cfg_i,
  input  rx_beat_t        beat_i,
  input  logic [EthW-1:0] data_i,
  // High with each beat of a pause frame that the configuration honours; its length is not checked.
  output logic            match_o,
  // With the frame's last beat: high if it is honoured.
  input  logic            honour_i,
  // Contents of an honoured pause frame, one cycle after honour_i.
  output pause_t          pause_o
);
  localparam logic [47:0] PauseMac = 48'h0100_00c2_8001;   // 01-80-C2-00-00-01, first byte low

  function automatic logic [15:0] be16(input logic [15:0] b);
    be16 = {b[7:0], b[15:8]};
  endfunction

  logic   mac, plain, classes, now, match_q;
  pause_t pause_q;

  assign mac     = data_i[47:0] == PauseMac && be16(data_i[111:96]) == 16'(MacControlType);
  assign plain   = be16(data_i[127:112]) == 16'(PauseOpcode) && cfg_i.rx_pause;
  assign classes = be16(data_i[127:112]) == 16'(PfcOpcode) && cfg_i.rx_pfc != 8'h0;
  assign now     = beat_i.valid && beat_i.first && mac && (plain || classes);
  assign match_o = beat_i.first ? now : match_q;
  assign pause_o = pause_q;

  always_ff @(posedge clk) begin
    if (beat_i.valid) match_q <= match_o;
    pause_q.valid <= honour_i;
    if (now) begin
      pause_q.all     <= plain;
      pause_q.classes <= plain ? 8'h0 : data_i[8*17 +: 8] & cfg_i.rx_pfc;
      pause_q.quanta  <= be16(data_i[8*16 +: 16]);
      for (int c = 0; c < 8; c++) pause_q.of_class[c] <= be16(data_i[8*18 + 16*c +: 16]);
    end
    if (rst) begin
      pause_q.valid <= 1'b0;
      match_q       <= 1'b0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{data_i, beat_i};
endmodule
