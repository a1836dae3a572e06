/// Adds the payload CRC-32C to a frame's other check results, which it delays by three cycles to
/// match. In builds without part crc32c it passes them on unchanged.

module nic_rxcheck
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
#(
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic            clk,
  input  logic            rst,
  // RX_CTRL.drop_bad_crc32c.
  input  logic            drop_i,
  // Beats, aligned with the parser's result.
  input  rx_beat_t        beat_i,
  input  logic [EthW-1:0] data_i,
  input  rx_parse_t       parse_i,
  // Results of the checks other than CRC-32C, six cycles after a frame's last beat.
  input  rx_checked_t     checked_i,
  // Pulse: the frame's last beat reaches the buffer in this cycle.
  input  logic            ends_i,
  // The results of checked_i, for the frame whose end ends_i marks.
  output rx_checked_t     checked_o,
  // CRC-32C of the frame whose end ends_i marks, and its verdict.
  output rx_crc_t         crc_o
);
  logic unused_bits;
  assign unused_bits = ^parse_i;

  if ((Parts & PartCrc32c) != 0) begin : g_crc32c
    logic [5:0]  seen_q;
    logic [31:0] value;
    verdict_e    verdict;
    logic        valid, ready, unused_fifo;

    assign unused_fifo = ^{valid, ready};

    nic_crc32c u_crc32c (
      .clk, .rst, .beat_i, .data_i,
      .want_i    (!parse_i.key.is_frag),
      .from_i    (parse_i.pay_off),
      .upto_i    (parse_i.pay_end),
      .value_o   (value),
      .verdict_o (verdict)
    );

    assign crc_o = '{drop: drop_i && verdict == VerdictBad, verdict: verdict, value: value};

    nic_fifo #(.Width($bits(rx_checked_t)), .Depth(4)) u_checked (
      .clk, .rst,
      .in_valid_i  (seen_q[5]),
      .in_ready_o  (ready),
      .in_data_i   (checked_i),
      .out_valid_o (valid),
      .out_ready_i (ends_i),
      .out_data_o  (checked_o)
    );

    always_ff @(posedge clk) begin
      seen_q <= {seen_q[4:0], beat_i.valid && beat_i.last};
      if (rst) seen_q <= '0;
    end
  end else begin : g_no_crc32c
    logic unused_check;
    assign unused_check = ^{clk, rst, drop_i, beat_i, data_i, ends_i};
    assign checked_o    = checked_i;
    assign crc_o        = '0;
  end
endmodule
