/// Sends frames: packs bytes into payloads, keeps each until the peer has acknowledged it, and
/// sends those again that it misses or does not acknowledge in time (go-back-N).
/// Promises: bytes leave in order; no payload is overwritten before it was acknowledged.
/// Asserts: nothing; shell_link_test damages, loses and doubles frames.

module shell_link_tx
  import shell_pkg::*;
#(
  // Payloads that are kept, a power of two.
  parameter int Slots        = 4,
  // Cycles without an acknowledgement after which frames are sent again.
  parameter int ResendCycles = 1 << 20
) (
  // Host clock; reset: a session begins.
  input  logic       clk,
  input  logic       rst,
  // Bytes to send. flush_i: do not wait for more.
  input  logic       valid_i,
  output logic       ready_o,
  input  logic [7:0] byte_i,
  input  logic       flush_i,
  // From the receiver: session, next sequence number, what the peer said, what to tell it.
  input  logic [7:0] session_i,
  input  logic [7:0] expect_i,
  input  logic       acked_i,
  input  logic [7:0] ack_i,
  input  logic       nacked_i,
  input  logic       seen_i,
  input  logic       missing_i,
  input  logic       lost_i,
  input  logic [7:0] lost_session_i,
  // Bytes of the link; last_o: the last one of a frame.
  output logic       valid_o,
  input  logic       ready_i,
  output logic [7:0] byte_o,
  output logic       last_o
);
  localparam int Aw = $clog2(FrameBytes);
  localparam int Sw = $clog2(Slots);
  localparam int Head = 7;

  if (Slots < 2 || (1 << Sw) != Slots) begin : g_bad_slots
    $fatal(1, "shell_link_tx: Slots must be a power of two, 2 at least");
  end

  typedef enum logic [1:0] {Idle, Header, Payload, Check} state_e;

  logic [7:0]           mem [Slots * FrameBytes];
  logic [Slots-1:0][Aw:0] len_q;
  logic [Aw:0]          fill_at_q, at_q, len;
  // Sequence numbers: oldest kept, next to send, being filled.
  logic [7:0]           base_q, next_q, fill_q;
  logic                 put, closes;

  state_e               state_q;
  logic [2:0]           n_q;
  frame_e               kind_q;
  logic                 nack_q, again_q, seen_q, missing_q, lost_q;
  logic [7:0]           lost_session_q, seq_q, ack_q, session_q, head_byte, kind_byte;
  logic [31:0]          crc_q, timer_q;
  logic                 step, progress;

  assign ready_o  = fill_q - base_q < 8'(Slots);
  assign put      = valid_i && ready_o;
  assign closes   = put ? fill_at_q == (Aw + 1)'(FrameBytes - 1) : flush_i && fill_at_q != '0;
  assign len      = kind_q == FrameData ? len_q[seq_q[Sw-1:0]] : '0;
  assign step     = valid_o && ready_i;
  assign progress = acked_i && ack_i != base_q && ack_i - base_q <= fill_q - base_q;
  assign kind_byte = {5'h0, nack_q, kind_q};

  always_comb begin
    case (n_q)
      3'd0:    head_byte = FrameStart;
      3'd1:    head_byte = kind_byte;
      3'd2:    head_byte = session_q;
      3'd3:    head_byte = seq_q;
      3'd4:    head_byte = ack_q;
      3'd5:    head_byte = len[7:0];
      default: head_byte = {{(16 - Aw - 1){1'b0}}, len[Aw:8]};
    endcase
    case (state_q)
      Header:  byte_o = head_byte;
      Payload: byte_o = mem[{seq_q[Sw-1:0], at_q[Aw-1:0]}];
      default: byte_o = ~crc_q[7:0];
    endcase
  end
  assign valid_o = state_q != Idle;
  assign last_o  = state_q == Check && n_q == 3'd3;

  always_ff @(posedge clk) begin
    if (put) begin
      mem[{fill_q[Sw-1:0], fill_at_q[Aw-1:0]}] <= byte_i;
      fill_at_q <= fill_at_q + 1'b1;
    end
    if (closes) begin
      len_q[fill_q[Sw-1:0]] <= fill_at_q + (Aw + 1)'(put);
      fill_at_q <= '0;
      fill_q    <= fill_q + 1'b1;
    end
    if (seen_i) seen_q <= 1'b1;
    if (missing_i) missing_q <= 1'b1;
    if (lost_i) begin
      lost_q         <= 1'b1;
      lost_session_q <= lost_session_i;
    end
    timer_q <= timer_q + 1'b1;
    if (base_q == next_q || progress) timer_q <= '0;
    if (nacked_i || timer_q == 32'(ResendCycles)) begin
      again_q <= 1'b1;
      timer_q <= '0;
    end
    case (state_q)
      Idle: begin
        n_q       <= '0;
        at_q      <= '0;
        crc_q     <= '1;
        session_q <= session_i;
        seq_q     <= next_q;
        ack_q     <= expect_i;
        nack_q    <= missing_q;
        if (again_q) begin
          again_q <= 1'b0;
          next_q  <= progress ? ack_i : base_q;
        end else if (lost_q) begin
          kind_q    <= FrameLost;
          session_q <= lost_session_q;
          lost_q    <= lost_i;
          state_q   <= Header;
        end else if (next_q != fill_q || seen_q || missing_q) begin
          kind_q    <= next_q != fill_q ? FrameData : FrameAck;
          seen_q    <= seen_i;
          missing_q <= missing_i;
          state_q   <= Header;
          if (next_q != fill_q) next_q <= next_q + 1'b1;
        end
      end
      default: begin
        if (step) begin
          n_q <= n_q + 1'b1;
          if (state_q == Header && n_q != '0 || state_q == Payload) crc_q <= crc32c(crc_q, byte_o);
          if (state_q == Check) crc_q <= {8'hff, crc_q[31:8]};
          if (state_q == Header && n_q == 3'(Head - 1)) begin
            n_q     <= '0;
            state_q <= len == '0 ? Check : Payload;
          end
          if (state_q == Payload) begin
            n_q  <= '0;
            at_q <= at_q + 1'b1;
            if (at_q + 1'b1 == len) state_q <= Check;
          end
          if (last_o) state_q <= Idle;
        end
      end
    endcase
    if (progress) begin
      base_q <= ack_i;
      // A frame that was to be sent again has been acknowledged meanwhile.
      if (next_q - base_q < ack_i - base_q) next_q <= ack_i;
    end
    if (rst) begin
      state_q   <= Idle;
      fill_at_q <= '0;
      {base_q, next_q, fill_q} <= '0;
      {again_q, seen_q, missing_q, lost_q} <= '0;
      timer_q   <= '0;
    end
  end
endmodule
