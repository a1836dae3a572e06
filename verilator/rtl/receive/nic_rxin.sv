/// Input stage of a port: counts bytes, marks the first beat, and holds each beat until the next
/// one has come (or it is the last), so that the parser sees the first 128 bytes of a frame at
/// once. It never stalls. Bytes beyond tkeep pass through and are ignored downstream.

module nic_rxin
  import nic_int_pkg::*;
  import nic_rx_pkg::*;
(
  input  logic             clk,
  input  logic             rst,
  // CTRL.rx_enable.
  input  logic             rx_enable_i,
  input  logic [EthW-1:0]  s_axis_eth_tdata,
  input  logic [EthB-1:0]  s_axis_eth_tkeep,
  input  logic             s_axis_eth_tlast,
  input  logic             s_axis_eth_tvalid,
  // Beat that leaves in this cycle; data_o: its bytes.
  output rx_beat_t         beat_o,
  output logic [EthW-1:0]  data_o,
  // Bytes of the beat after beat_o.
  output logic [EthW-1:0]  next_o,
  // Number of bytes of the two beats that belong to the frame, 0..128.
  output logic [7:0]       avail_o,
  // With a frame's last beat: the frame's length in bytes; else 0.
  output logic [31:0]      bytes_o,
  output logic             busy_o
);
  localparam logic [13:0] BaseMax = 14'(nic_pkg::FrameMax + EthB);

  logic            mid_q;                 // inside a frame at the pins
  logic            s_valid_q, s_first_q, s_last_q;
  logic [6:0]      s_bytes_q;
  logic [31:0]     sum_q;                 // bytes of the frame's earlier beats
  logic [EthW-1:0] s_data_q;
  logic            h_valid_q, h_first_q, h_last_q;
  logic [6:0]      h_bytes_q;
  logic [13:0]     h_base_q;
  logic [EthW-1:0] h_data_q;

  assign data_o  = h_data_q;
  assign next_o  = s_data_q;
  assign bytes_o = s_valid_q && s_last_q ? sum_q + 32'(s_bytes_q) : 32'h0;
  assign busy_o  = s_valid_q || h_valid_q;

  always_comb begin
    beat_o.valid = h_valid_q && (h_last_q || s_valid_q);
    beat_o.first = h_first_q;
    beat_o.last  = h_last_q;
    beat_o.off   = !rx_enable_i;
    beat_o.base  = h_base_q;
    beat_o.bytes = h_bytes_q;
    avail_o = h_last_q ? 8'(h_bytes_q) : s_last_q ? 8'(s_bytes_q) + 8'(EthB) : 8'(2 * EthB);
  end

  always_ff @(posedge clk) begin
    s_valid_q <= s_axis_eth_tvalid;
    if (s_axis_eth_tvalid) begin
      mid_q     <= !s_axis_eth_tlast;
      s_first_q <= !mid_q;
      s_last_q  <= s_axis_eth_tlast;
      s_bytes_q <= s_axis_eth_tlast ? 7'($countones(s_axis_eth_tkeep)) : 7'(EthB);
      s_data_q  <= s_axis_eth_tdata;
    end

    if (s_valid_q) sum_q <= s_last_q ? '0 : sum_q + 32'(s_bytes_q);

    // A new beat always replaces the held one, which leaves.
    h_valid_q <= s_valid_q || (h_valid_q && !beat_o.valid);
    if (s_valid_q) begin
      h_first_q <= s_first_q;
      h_last_q  <= s_last_q;
      h_bytes_q <= s_bytes_q;
      h_base_q  <= s_first_q ? 14'h0 : h_base_q == BaseMax ? BaseMax : h_base_q + 14'(EthB);
      h_data_q  <= s_data_q;
    end

    if (rst) begin
      mid_q     <= 1'b0;
      sum_q     <= '0;
      s_valid_q <= 1'b0;
      h_valid_q <= 1'b0;
    end
  end
endmodule
