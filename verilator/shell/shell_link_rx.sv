/// Receives frames: checks each one's CRC before a byte of it is used, keeps them in order, and
/// says what to acknowledge. Between frames any bytes but FrameStart are skipped.
/// Promises: payloads leave whole, in order, once each; a frame with a wrong CRC, of another
/// session or out of order changes nothing.
/// Asserts: nothing; shell_link_test damages, loses and doubles frames.

module shell_link_rx
  import shell_pkg::*;
(
  input  logic       clk,
  input  logic       rst,
  // Bytes of the link. ready_o is low while the place of a payload still contains an earlier one.
  input  logic       valid_i,
  output logic       ready_o,
  input  logic [7:0] byte_i,
  // Session: its number, 0 for none; a pulse when another one begins.
  output logic [7:0] session_o,
  output logic       begin_o,
  // Sequence number of the next frame.
  output logic [7:0] expect_o,
  // What the peer has acknowledged, and whether it wants the rest again.
  output logic       acked_o,
  output logic [7:0] ack_o,
  output logic       nacked_o,
  // Pulses: a frame wants an acknowledgement, one is missing, the peer's session is unknown.
  output logic       seen_o,
  output logic       missing_o,
  output logic       lost_o,
  output logic [7:0] lost_session_o,
  // Bytes of payloads, taken in every cycle.
  output logic       valid_o,
  output logic [7:0] byte_o
);
  localparam int Head = 6;
  localparam int Aw   = $clog2(FrameBytes);

  typedef enum logic [1:0] {Hunt, Header, Payload, Check} state_e;

  state_e            state_q;
  logic [8*Head-1:0] head_q, head;
  logic [2:0]        n_q;
  logic [Aw:0]       at_q;
  logic [15:0]       len;
  logic [31:0]       crc_q, given_q;
  logic              judge_q;

  // Two payloads: one is received while the other leaves.
  logic [7:0]  mem [2 * FrameBytes];
  logic        in_q, out_q;
  logic [1:0]  full_q;
  logic [1:0][Aw:0] len_q;
  logic [Aw:0] out_at_q;
  logic        ends;

  // kind, session, sequence number, acknowledgement
  logic [7:0] kind, session, seq, ack;
  logic       good, ours, next, fresh;

  assign head = {byte_i, head_q[8*Head-1:8]};
  assign len  = head[8*Head-1 -: 16];
  assign {ack, seq, session, kind} = head_q[31:0];
  assign good  = judge_q && given_q == ~crc_q;
  assign ours  = session == session_o && session_o != '0;
  assign fresh = kind[1:0] == FrameReset && session != '0 && !ours;
  assign next  = ours && kind[1:0] == FrameData && seq == expect_o;

  assign ready_o = state_q != Payload || !full_q[in_q];
  assign valid_o = full_q[out_q];
  assign byte_o  = mem[{out_q, out_at_q[Aw-1:0]}];
  assign ends    = out_at_q + 1'b1 >= len_q[out_q];

  always_ff @(posedge clk) begin
    {begin_o, acked_o, nacked_o, seen_o, missing_o, lost_o, judge_q} <= '0;
    if (valid_i && ready_o) begin
      n_q <= n_q + 1'b1;
      if (state_q == Header || state_q == Payload) crc_q <= crc32c(crc_q, byte_i);
      case (state_q)
        Hunt: begin
          n_q   <= '0;
          crc_q <= '1;
          if (byte_i == FrameStart) state_q <= Header;
        end
        Header: begin
          head_q <= head;
          at_q   <= '0;
          if (n_q == 3'(Head - 1)) begin
            n_q     <= '0;
            state_q <= len == '0 ? Check : len > 16'(FrameBytes) ? Hunt : Payload;
          end
        end
        Payload: begin
          n_q  <= '0;
          at_q <= at_q + 1'b1;
          mem[{in_q, at_q[Aw-1:0]}] <= byte_i;
          if (16'(at_q) + 1'b1 == head_q[8*Head-1 -: 16]) state_q <= Check;
        end
        default: begin
          given_q <= {byte_i, given_q[31:8]};
          if (n_q == 3'd3) begin
            judge_q <= 1'b1;
            state_q <= Hunt;
          end
        end
      endcase
    end
    if (valid_o) begin
      out_at_q <= out_at_q + 1'b1;
      if (ends) begin
        out_at_q      <= '0;
        full_q[out_q] <= 1'b0;
        out_q         <= !out_q;
      end
    end
    if (judge_q && !good) missing_o <= session_o != '0;
    if (good && ours) begin
      acked_o   <= kind[1:0] == FrameData || kind[1:0] == FrameAck;
      ack_o     <= ack;
      nacked_o  <= kind[KindNack];
      seen_o    <= kind[1:0] == FrameData || kind[1:0] == FrameReset;
      missing_o <= kind[1:0] == FrameData && seq != expect_o && seq - expect_o < 8'h80;
    end
    if (good && next && at_q != '0) begin
      expect_o     <= expect_o + 1'b1;
      full_q[in_q] <= 1'b1;
      len_q[in_q]  <= at_q;
      in_q         <= !in_q;
    end
    if (good && !ours && kind[1:0] != FrameReset) begin
      lost_o         <= 1'b1;
      lost_session_o <= session;
    end
    if (good && fresh) begin
      begin_o   <= 1'b1;
      session_o <= session;
      expect_o  <= '0;
      full_q    <= '0;
      out_at_q  <= '0;
      {in_q, out_q} <= '0;
    end
    if (rst) begin
      state_q   <= Hunt;
      session_o <= '0;
      expect_o  <= '0;
      full_q    <= '0;
      out_at_q  <= '0;
      judge_q   <= 1'b0;
      {in_q, out_q} <= '0;
      {begin_o, acked_o, nacked_o, seen_o, missing_o, lost_o} <= '0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^kind[7:3];
endmodule
