/// The lane of a port: gather, offloads, output buffer, completion. Entries pass it in order;
/// entries for another port use that port's lane and may overtake.

module nic_txport
  import nic_pkg::*, nic_int_pkg::*, nic_tx_pkg::*;
#(
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault,
  // Number of the read client through which the port's pieces are read.
  parameter int Client = RdGather,
  // Entries that may wait here for the gather buffer without blocking other lanes.
  parameter int Sends = 16,
  // Frames (Slots) and lines of 128 bytes in the gather buffer, powers of two.
  parameter int Slots = 256,
  parameter int Lines = 512
) (
  input  logic        clk,
  input  logic        rst,
  // Checked entries of the port.
  input  logic        valid_i,
  output logic        ready_o,
  input  tx_ent_t     ent_i,
  // Pulse: an entry has reached the gather buffer.
  output logic        taken_o,
  // Read client of pieces.
  output rd_req_t     rd_req_o,
  output logic        rd_req_valid_o,
  input  logic        rd_req_ready_i,
  input  rd_rsp_t     rd_rsp_i,
  // Frames of the port; m_user_o: queue of the frame.
  output eth_beat_t   m_o,
  output logic [15:0] m_user_o,
  output logic        m_valid_o,
  input  logic        m_ready_i,
  // Entries that may end, in order; end_len_o: bytes of the frame, 0 without one.
  output logic        end_valid_o,
  input  logic        end_ready_i,
  output tx_id_t      end_id_o,
  output logic [13:0] end_len_o,
  // Pulse: a beat of sent_bytes_o bytes was accepted; sent_last_o: the frame's last.
  output logic        sent_o,
  output logic [6:0]  sent_bytes_o,
  output logic        sent_last_o,
  // High while an entry is in the block.
  output logic        busy_o
);
  logic          g_valid, g_ready;
  tx_ent_t       g_ent;
  logic          room, ln_valid, ln_first, ln_last, ln_two, take;
  tx_frame_t     ln_frame;
  logic [1023:0] ln_raw, ln_data, ln_inl;   // line as read; with inline bytes; inline bytes only
  logic [7:0]    ln_inl_len;
  logic [7:0]    take_beats;
  logic          of_valid, of_first, of_last, of_two;
  tx_frame_t     of_frame;
  logic [1023:0] of_data;
  logic          beat_valid, out_valid, fin_valid, fin_ready;
  logic [511:0]  beat;
  tx_out_t       out;
  tx_id_t        fin_id;
  logic [13:0]   fin_len;

  assign taken_o = g_valid && g_ready;

  if (Sends != 0) begin : g_wait
    nic_fifo #(.Width($bits(tx_ent_t)), .Depth(Sends)) u_wait (
      .clk, .rst, .in_valid_i(valid_i), .in_ready_o(ready_o), .in_data_i(ent_i),
      .out_valid_o(g_valid), .out_ready_i(g_ready), .out_data_o(g_ent)
    );
  end else begin : g_straight
    assign ready_o = g_ready;
    assign g_valid = valid_i;
    assign g_ent   = ent_i;
  end

  nic_gather #(
    .Client(Client), .HasAppend((Parts & PartAppend) != 0), .Slots(Slots), .Lines(Lines)
  ) u_gather (
    .clk, .rst, .valid_i(g_valid), .ready_o(g_ready), .ent_i(g_ent), .rd_req_o,
    .rd_req_valid_o, .rd_req_ready_i, .rd_rsp_i, .room_i(room), .ln_valid_o(ln_valid),
    .ln_first_o(ln_first), .ln_last_o(ln_last), .ln_two_o(ln_two), .ln_frame_o(ln_frame),
    .ln_inl_o(ln_inl), .ln_inl_len_o(ln_inl_len), .ln_data_o(ln_raw),
    .take_o(take), .take_beats_o(take_beats), .busy_o
  );

  // Merge the inline bytes into the line.
  always_comb begin
    ln_data = ln_raw;
    if (ln_inl_len != 8'd0) ln_data = with_inline(ln_raw, ln_inl, ln_inl_len);
  end

  if ((Parts & PartEcn) != 0) begin : g_ecn
    nic_ecn u_ecn (
      .clk, .rst, .ln_valid_i(ln_valid), .ln_first_i(ln_first), .ln_last_i(ln_last),
      .ln_two_i(ln_two), .ln_frame_i(ln_frame), .ln_data_i(ln_data),
      .ln_valid_o(of_valid), .ln_first_o(of_first), .ln_last_o(of_last), .ln_two_o(of_two),
      .ln_frame_o(of_frame), .ln_data_o(of_data)
    );
  end else begin : g_no_ecn
    assign of_valid = ln_valid;
    assign of_first = ln_first;
    assign of_last  = ln_last;
    assign of_two   = ln_two;
    assign of_frame = ln_frame;
    assign of_data  = ln_data;
  end

  nic_offload #(.Parts(Parts)) u_offload (
    .clk, .rst, .ln_valid_i(of_valid), .ln_first_i(of_first), .ln_last_i(of_last),
    .ln_two_i(of_two), .ln_frame_i(of_frame), .ln_data_i(of_data),
    .beat_valid_o(beat_valid), .beat_o(beat), .out_valid_o(out_valid), .out_o(out)
  );

  nic_txout u_out (
    .clk, .rst, .room_o(room), .take_i(take), .take_beats_i(take_beats),
    .beat_valid_i(beat_valid), .beat_i(beat), .frame_valid_i(out_valid), .frame_i(out),
    .m_o, .m_user_o, .m_valid_o, .m_ready_i, .end_valid_o(fin_valid), .end_ready_i(fin_ready),
    .end_id_o(fin_id), .end_len_o(fin_len), .sent_o, .sent_bytes_o, .sent_last_o
  );

  nic_txends u_ends (
    .clk, .rst, .valid_i(fin_valid), .ready_o(fin_ready), .id_i(fin_id), .len_i(fin_len),
    .left_i(sent_o && sent_last_o), .valid_o(end_valid_o), .ready_i(end_ready_i),
    .id_o(end_id_o), .len_o(end_len_o)
  );
endmodule
