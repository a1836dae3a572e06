/// Ends of work entries, in order: waits for the frame's last beat to be accepted, then steps the
/// queue's indices and counters and sends the completion entry when one is due (contract T10).

module nic_txcqe
  import nic_pkg::*, nic_int_pkg::*, nic_tx_pkg::*;
#(
  // Transmit queues, a power of two.
  parameter int NumTxq = 64,
  // Entries that wait for their end.
  parameter int Depth = 16,
  localparam int Qw = $clog2(NumTxq)
) (
  input  logic          clk,
  input  logic          rst,
  // Entries in order; len is 0 without a frame.
  input  logic          valid_i,
  output logic          ready_o,
  input  tx_id_t        id_i,
  input  logic [13:0]   len_i,
  // Entries of the copy engine, which wait for no frame.
  input  logic          copy_valid_i,
  output logic          copy_ready_o,
  input  tx_id_t        copy_id_i,
  // A frame's last beat was accepted.
  input  logic          left_i,
  // The queue's context, and what is stepped in it.
  output logic [Qw-1:0] q_o,
  input  logic [63:0]   base_i,
  input  logic [3:0]    log_i,
  input  logic [15:0]   cqi_i,
  output logic          end_o,
  output logic          end_wqe_o,
  output logic          end_cqe_o,
  output logic          end_bad_o,
  output tlp_beat_t     tlp_o,
  output logic          tlp_valid_o,
  input  logic          tlp_ready_i,
  // Queue of the entry that waits to be sent.
  output logic [Qw-1:0] tlp_q_o
);
  localparam int Iw = $bits(tx_id_t) + 14;

  tx_id_t        id, wait_id;
  logic [13:0]   len, wait_len;
  logic          wait_valid, valid, copy, copied_q, cqe, go;
  logic [4:0]    left_q;               // frames that left and whose entries have not ended
  tlp_beat_t     tlp_q;
  logic          tlp_valid_q;
  logic [Qw-1:0] tlp_qid_q;

  nic_fifo #(.Width(Iw), .Depth(Depth)) u_wait (
    .clk, .rst, .in_valid_i(valid_i), .in_ready_o(ready_o), .in_data_i({id_i, len_i}),
    .out_valid_o(wait_valid), .out_ready_i(go && !copy), .out_data_o({wait_id, wait_len})
  );

  // Ends of frames and copies take turns where both can be had.
  assign valid        = wait_valid && (wait_len == 14'd0 || left_q != 5'd0);
  assign copy         = copy_valid_i && !(valid && copied_q);
  assign id           = copy ? copy_id_i : wait_id;
  assign len          = copy ? 14'd0 : wait_len;
  assign copy_ready_o = go && copy;

  assign cqe         = id.is_event || id.complete || id.status != 8'(StatusOk);
  assign go          = (copy || valid) && (!cqe || !tlp_valid_q || tlp_ready_i);
  assign q_o         = id.qid[Qw-1:0];
  assign end_o       = go;
  assign end_wqe_o   = go && !id.is_event;
  assign end_cqe_o   = go && cqe;
  assign end_bad_o   = end_wqe_o && id.status != 8'(StatusOk);
  assign tlp_o       = tlp_q;
  assign tlp_valid_o = tlp_valid_q;
  assign tlp_q_o     = tlp_qid_q;

  always_ff @(posedge clk) begin
    tx_cqe_t     c;
    logic [63:0] addr;
    logic        left_used;
    left_used = go && len != 14'd0;
    if (go) copied_q <= copy;
    if (left_i != left_used) left_q <= left_i ? left_q + 5'd1 : left_q - 5'd1;
    if (go && cqe) begin
      c           = '0;
      c.type_f    = id.is_event ? CqeTypeEvent : CqeTypeTx;
      c.status    = status_e'(id.status);
      c.queue_f   = 16'(id.qid);
      c.index     = id.index;
      c.wqe_id    = id.wqe_id;
      c.frame_len = 16'(len);
      c.phase     = !cqi_i[log_i];
      addr        = base_i + {42'd0, cqi_i & ~(16'hffff << log_i), 6'd0};
      tlp_qid_q   <= q_o;
      tlp_q       <= '{entry: 1'b1, last: 1'b1, hdr: mem_hdr(1'b1, addr, 11'd16, 4'hf, 4'hf, 8'd0),
                       keep: TlpD'(16'hffff), data: TlpW'(c)};
    end
    if (go && cqe)        tlp_valid_q <= 1'b1;
    else if (tlp_ready_i) tlp_valid_q <= 1'b0;
    if (rst) begin
      left_q      <= '0;
      copied_q    <= 1'b0;
      tlp_valid_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  a_tlp_held: assert property (@(posedge clk) disable iff (rst)
    tlp_valid_o && !tlp_ready_i |=> tlp_valid_o && $stable(tlp_o));
`endif
endmodule
