/// Output buffer of a port and second pass: whole frames wait for their results, then leave at one
/// beat a cycle with ICRC and checksums patched in, padded to 60 bytes; no gap between frames.
/// Entries without a frame pass in their turn.

`include "nic_assert.svh"

module nic_txout
  import nic_pkg::*, nic_int_pkg::*, nic_tx_pkg::*;
#(
  // Beats of the buffer, a power of two; room for two longest frames or more.
  parameter int Beats = 512,
  // Most frames that are in the buffer or in their first pass, a power of two.
  parameter int Frames = 64
) (
  input  logic                    clk,
  input  logic                    rst,
  // High if there is room for the longest frame.
  output logic                    room_o,
  // Pulse: a frame of take_beats_i beats begins its first pass; reserves its room.
  input  logic                    take_i,
  input  logic [7:0]              take_beats_i,
  // Beats of the frame.
  input  logic                    beat_valid_i,
  input  logic [511:0]            beat_i,
  // Results to patch into the frame.
  input  logic                    frame_valid_i,
  input  tx_out_t                 frame_i,
  // Frames of the port; m_user_o: queue of the frame.
  output eth_beat_t               m_o,
  output logic [15:0]             m_user_o,
  output logic                    m_valid_o,
  input  logic                    m_ready_i,
  // Entries that are finished here, in order: one with a frame when the frame's last beat may
  // leave.
  output logic                    end_valid_o,
  input  logic                    end_ready_i,
  output tx_id_t                  end_id_o,
  output logic [13:0]             end_len_o,
  // Pulse: a beat of sent_bytes_o bytes was accepted; sent_last_o: the frame's last.
  output logic                    sent_o,
  output logic [6:0]              sent_bytes_o,
  output logic                    sent_last_o
);
  localparam int Bw = $clog2(Beats);
  localparam int Fw = $clog2(Frames);
  localparam int MaxBeats = (FrameMax + 63) / 64;

  if (Beats < 2 * MaxBeats || (1 << Bw) != Beats) begin : g_bad_beats
    $fatal(1, "nic_txout: Beats must be a power of two and hold two longest frames");
  end

  // Information that accompanies a beat through the pipeline.
  typedef struct packed {
    tx_out_t    f;
    logic [7:0] index;
    logic       last;
  } ctl_t;

  // A beat at the output.
  typedef struct packed {
    logic         last;
    logic [6:0]   bytes;
    logic [7:0]   qid;
    logic [63:0]  keep;
    logic [511:0] data;
  } exit_t;

  logic [511:0]  beat_mem [Beats];
  logic [Bw-1:0] wr_q, rd_q;
  logic [Bw:0]   used_q;               // beats reserved or in the buffer
  logic [Fw:0]   frames_q;
  // Stage read: the frame at the head of the buffer.
  logic          act_q;
  tx_out_t       cur_q;
  logic [7:0]    index_q, left_q;
  tx_out_t       head;
  logic          head_valid, unused_meta_ready, load, drop, adv, read, final_beat;
  logic [7:0]    head_beats;
  // Stage patch: a beat into which results are patched.
  logic          p_valid_q;
  ctl_t          p_q;
  logic [511:0]  p_beat_q;
  // Stage out: a beat at the output.
  logic          o_valid_q, x_ready, x_valid;
  exit_t         o_q, x;

  nic_fifo #(.Width($bits(tx_out_t)), .Depth(Frames)) u_meta (
    .clk, .rst, .in_valid_i(frame_valid_i), .in_ready_o(unused_meta_ready), .in_data_i(frame_i),
    .out_valid_o(head_valid), .out_ready_i(load), .out_data_o(head)
  );

  assign room_o      = used_q <= (Bw + 1)'(Beats - MaxBeats) && frames_q < (Fw + 1)'(Frames);
  assign head_beats  = 8'((head.len + 14'd63) >> 6);
  assign drop        = head.id.status != 8'(StatusOk) || head.len == 14'd0;
  assign adv         = !o_valid_q || x_ready;
  assign read        = act_q && adv;
  assign final_beat  = left_q == 8'd1;
  assign load        = head_valid && end_ready_i && (!act_q || (read && final_beat));
  assign end_valid_o = head_valid && (!act_q || (read && final_beat));
  assign end_id_o    = head.id;
  assign end_len_o   = drop ? 14'd0 : head.len < 14'(FrameMin) ? 14'(FrameMin) : head.len;

  // Writes the buffer memory, and counts the beats and frames in it.
  always_ff @(posedge clk) begin
    logic [Bw:0] used;
    if (beat_valid_i) begin
      beat_mem[wr_q] <= beat_i;
      wr_q           <= wr_q + 1'b1;
    end
    used = used_q;
    if (take_i) used = used + (Bw + 1)'(take_beats_i);
    if (read)   used = used - 1'b1;
    if (load && drop) used = used - (Bw + 1)'(head_beats);
    used_q   <= used;
    frames_q <= frames_q + (Fw + 1)'(take_i) - (Fw + 1)'(load);
    if (rst) begin
      wr_q     <= '0;
      used_q   <= '0;
      frames_q <= '0;
    end
  end

  // Stage read: one beat a step; the next frame is loaded with the last beat of the one before.
  always_ff @(posedge clk) begin
    if (read) begin
      p_beat_q <= beat_mem[rd_q];
      p_q      <= '{f: cur_q, index: index_q, last: final_beat};
      index_q  <= index_q + 8'd1;
      left_q   <= left_q - 8'd1;
      rd_q     <= rd_q + 1'b1;
      if (final_beat) act_q <= 1'b0;
    end
    if (adv) p_valid_q <= read;
    if (load && !drop) begin
      act_q   <= 1'b1;
      cur_q   <= head;
      index_q <= 8'd0;
      left_q  <= head_beats;
    end
    if (load && drop) rd_q <= rd_q + Bw'(read) + Bw'(head_beats);
    if (rst) begin
      act_q     <= 1'b0;
      p_valid_q <= 1'b0;
      rd_q      <= '0;
    end
  end

  // Stage patch: insert the results and pad.
  always_ff @(posedge clk) begin
    logic [511:0] d;
    logic [13:0]  pos;
    logic [5:0]   tail;                // bytes of the last beat, 0 for 64
    if (adv) o_valid_q <= p_valid_q;
    if (adv && p_valid_q) begin
      d = p_beat_q;
      if (p_q.f.icrc) begin
        for (int i = 0; i < 4; i++) begin
          pos = p_q.f.icrc_pos + 14'(i);
          if (pos[13:6] == p_q.index) d[{pos[5:0], 3'b0} +: 8] = p_q.f.icrc_val[8*i +: 8];
        end
      end
      if (p_q.f.crc) begin
        for (int i = 0; i < 4; i++) begin
          pos = p_q.f.crc_pos + 14'(i);
          if (pos[13:6] == p_q.index) d[{pos[5:0], 3'b0} +: 8] = p_q.f.crc_val[8*i +: 8];
        end
      end
      if (p_q.f.udp) begin
        for (int i = 0; i < 2; i++) begin
          pos = 14'(p_q.f.udp_pos) + 14'(i);
          if (pos[13:6] == p_q.index) d[{pos[5:0], 3'b0} +: 8] = p_q.f.udp_val[8*i +: 8];
        end
      end
      if (p_q.f.ip) begin
        for (int i = 0; i < 2; i++) begin
          pos = 14'(p_q.f.ip_pos) + 14'(i);
          if (pos[13:6] == p_q.index) d[{pos[5:0], 3'b0} +: 8] = p_q.f.ip_val[8*i +: 8];
        end
      end
      tail      = p_q.f.len < 14'(FrameMin) ? 6'(FrameMin) : p_q.f.len[5:0];
      if (!p_q.last) tail = 6'd0;
      o_q.data  <= d;
      o_q.last  <= p_q.last;
      o_q.bytes <= {tail == 6'd0, tail};
      o_q.keep  <= {64{1'b1}} >> (6'd0 - tail);
      o_q.qid   <= p_q.f.id.qid;
    end
    if (rst) o_valid_q <= 1'b0;
  end

  nic_skid #(.Width($bits(exit_t))) u_skid (
    .clk, .rst, .in_valid_i(o_valid_q), .in_ready_o(x_ready), .in_data_i(o_q),
    .out_valid_o(x_valid), .out_ready_i(m_ready_i), .out_data_o(x)
  );

  assign m_o          = '{last: x.last, keep: x.keep, data: x.data};
  assign m_user_o     = {8'd0, x.qid};
  assign m_valid_o    = x_valid;
  assign sent_o       = x_valid && m_ready_i;
  assign sent_bytes_o = x.bytes;
  assign sent_last_o  = x.last;

  `NIC_HELD(a_held, m_valid_o, m_ready_i, x)
  `NIC_KEEP(a_keep, m_valid_o, x.keep, x.last)
endmodule
