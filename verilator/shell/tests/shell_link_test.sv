/// Tests shell_link_rx and shell_link_tx, a pair at each end of a link that loses and damages bytes
/// both ways: what goes in comes out, in order, once.

module shell_link_test
  import shell_pkg::*;
(
  input  logic clk,
  input  logic rst,
  // High once the test has passed.
  output logic done_o
);
  localparam logic [7:0] Session = 8'h5a;

  // By end of the link: bytes that arrive, and that leave.
  logic [1:0]      rx_valid, rx_ready, tx_valid, tx_ready, tx_last, in_valid, in_ready, out_valid;
  logic [1:0]      acked, nacked, seen, missing, lost, began;
  logic [1:0][7:0] rx_byte, tx_byte, in_byte, out_byte, session, expected, ack, lost_session;
  logic [1:0]      broken;
  logic [31:0]     sent [2];
  logic [31:0]     got [2];
  logic [31:0]     faults;

  // The n-th byte of the data: no two payloads are alike.
  function automatic logic [7:0] pattern(logic [31:0] n);
    return n[7:0] + 8'd7 * n[15:8];
  endfunction

  // A frame that begins a session opens both ends.
  logic [10:0][7:0] opening;
  logic [31:0]      at, crc;

  always_comb begin
    crc = '1;
    opening = '0;
    opening[0] = FrameStart;
    opening[1] = 8'(FrameReset);
    opening[2] = Session;
    for (int i = 1; i < 7; i++) crc = crc32c(crc, opening[i]);
    opening[10:7] = ~crc;
  end

  for (genvar i = 0; i < 2; i++) begin : g_end
    shell_link_rx u_rx (
      .clk, .rst, .valid_i(rx_valid[i]), .ready_o(rx_ready[i]), .byte_i(rx_byte[i]),
      .session_o(session[i]), .begin_o(began[i]), .expect_o(expected[i]), .acked_o(acked[i]),
      .ack_o(ack[i]),
      .nacked_o(nacked[i]), .seen_o(seen[i]), .missing_o(missing[i]), .lost_o(lost[i]),
      .lost_session_o(lost_session[i]), .valid_o(out_valid[i]), .byte_o(out_byte[i])
    );
    shell_link_tx #(.ResendCycles(2000)) u_tx (
      .clk, .rst(rst || began[i]), .valid_i(in_valid[i]), .ready_o(in_ready[i]),
      .byte_i(in_byte[i]),
      .flush_i(in_byte[i][4:0] == '0), .session_i(session[i]), .expect_i(expected[i]),
      .acked_i(acked[i]),
      .ack_i(ack[i]), .nacked_i(nacked[i]), .seen_i(seen[i]), .missing_i(missing[i]), .lost_i(1'b0),
      .lost_session_i(lost_session[i]), .valid_o(tx_valid[i]), .ready_i(tx_ready[i]),
      .byte_o(tx_byte[i]),
      .last_o(tx_last[i])
    );

    assign in_byte[i] = pattern(sent[i]);

    // The bytes of the other end arrive, but for faults; a fault strikes once in some frames.
    assign tx_ready[i] = at == 11 && rx_ready[1-i];

    always_comb begin
      rx_valid[i] = at < 11 || (tx_valid[1-i] && !(broken[i] && faults[0]));
      rx_byte[i]  = at < 11 ? opening[at[3:0]] : tx_byte[1-i];
      if (at >= 11 && broken[i] && !faults[0]) rx_byte[i] = tx_byte[1-i] ^ 8'h10;
    end

    always_ff @(posedge clk) begin
      broken[i] <= at == 11 && $urandom_range(400) == 0;
      if (in_valid[i] && in_ready[i]) sent[i] <= sent[i] + 1;
      in_valid[i] <= session[i] == Session && at == 11;
      if (out_valid[i]) begin
        if (out_byte[i] != pattern(got[i])) $fatal(1, "shell_link_test: byte");
        got[i] <= got[i] + 1;
      end
      if (lost[i]) $fatal(1, "shell_link_test: a session is lost");
      if (rst) begin
        {broken[i], in_valid[i]} <= '0;
        sent[i] <= '0;
        got[i]  <= '0;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (at < 11 && rx_ready == '1) at <= at + 1;
    if (broken != '0) faults <= faults + 1;
    if (rst) begin
      at     <= '0;
      faults <= '0;
    end
  end

  assign done_o = got[0] > 20_000 && got[1] > 20_000 && faults > 60;

  logic unused_bits;
  assign unused_bits = ^{tx_last, ack};
endmodule
