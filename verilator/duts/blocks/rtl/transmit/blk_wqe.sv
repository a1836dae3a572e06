/// Test device for nic_wqe. Requests: work entries (op 0), with as many blocks as their first one
/// says; commands of table Key (op 1). Results: the checked entry with its bus addresses. The
/// block's output is held back whenever the stream of results is.

module blk_wqe
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_tx_pkg::*;
  import blk_pkg::*;
  import blk_wqe_pkg::*;
(
  input  logic          clk,
  input  logic          rst,
  input  logic [$bits(entry_op_t)-1:0] s_axis_req_tdata,
  input  logic          s_axis_req_tlast,
  input  logic          s_axis_req_tvalid,
  output logic          s_axis_req_tready,
  output logic [$bits(entry_res_t)-1:0] m_axis_rsp_tdata,
  output logic          m_axis_rsp_tlast,
  output logic          m_axis_rsp_tvalid,
  input  logic          m_axis_rsp_tready
);
  table_op_t     t_op;
  entry_op_t     e_op;
  tx_id_t        id;
  tx_ent_t       ent;
  wqe_t          first;
  logic [1:0]    block_q;              // number of the block within its entry
  logic [7:0]    timer_q;
  logic          more, paced;
  logic          is_table, in_ready, in_valid, out_valid, out_ready, table_ready, table_done;
  logic [7:0]    inside_q;             // entries in nic_wqe
  logic          table_q;              // a command is in progress
  logic          answer_valid_q;       // the answer waits for the output
  tbl_req_t      tbl;
  tbl_rsp_t      tbl_rsp, table_rsp, answer_q;
  table_status_e tbl_status;

  assign t_op     = table_op_t'(s_axis_req_tdata[$bits(table_op_t)-1:0]);
  assign e_op     = entry_op_t'(s_axis_req_tdata);
  assign is_table = t_op.op != 8'd0;

  // Does another block of the entry follow? An Event has none.
  assign first = wqe_t'(e_op.wqe[0]);
  assign more  = !e_op.is_event[0] && block_q != first.blocks;
  assign paced = (timer_q & e_op.pace) == 8'd0;

  // A command waits until no entry is in nic_wqe, and entries wait until it is answered.
  assign table_ready       = inside_q == 8'd0 && !table_q;
  assign in_valid          = s_axis_req_tvalid && !is_table && !table_q && paced;
  assign s_axis_req_tready = is_table ? table_ready : in_ready && !table_q && paced && !more;

  always_comb begin
    id        = '{is_event: e_op.is_event[0], qid: e_op.qid, index: e_op.index + 16'(block_q),
                  default: '0};
    id.status = e_op.status;
  end

  assign m_axis_rsp_tdata  = answer_valid_q ? $bits(entry_res_t)'(table_res(8'd1, answer_q)) :
                             entry_res(ent);
  assign m_axis_rsp_tvalid = answer_valid_q || out_valid;
  assign m_axis_rsp_tlast  = 1'b1;
  assign out_ready         = m_axis_rsp_tready && !answer_valid_q;

  blk_table u_table (
    .clk, .rst,
    .start_i (s_axis_req_tvalid && is_table && table_ready),
    .req_i   (table_req(t_op)),
    .tbl_o   (tbl),
    .tbl_i   (tbl_rsp),
    .done_o  (table_done),
    .rsp_o   (table_rsp)
  );

  assign tbl_rsp.status          = 3'(tbl_status);
  assign tbl_rsp.rdata[1023:256] = '0;

  nic_wqe u_wqe (
    .clk, .rst,
    .tbl_i        (tbl),
    .tbl_done_o   (tbl_rsp.done),
    .tbl_status_o (tbl_status),
    .tbl_rdata_o  (tbl_rsp.rdata[255:0]),
    .valid_i      (in_valid),
    .ready_o      (in_ready),
    .id_i         (id),
    .wqe_i        (e_op.wqe[block_q]),
    .more_i       (more),
    .ecn_i        (e_op.ecn[1:0]),
    .valid_o      (out_valid),
    .ready_i      (out_ready),
    .ent_o        (ent)
  );

  always_ff @(posedge clk) begin
    timer_q  <= timer_q + 8'd1;
    if (in_valid && in_ready) block_q <= more ? block_q + 2'd1 : 2'd0;
    inside_q <= inside_q + 8'(in_valid && in_ready && !more) - 8'(out_valid && out_ready);
    if (s_axis_req_tvalid && is_table && table_ready) table_q <= 1'b1;
    if (table_done) begin
      answer_valid_q <= 1'b1;
      answer_q       <= table_rsp;
    end
    if (answer_valid_q && m_axis_rsp_tready) begin
      answer_valid_q <= 1'b0;
      table_q        <= 1'b0;
    end
    if (rst) begin
      block_q        <= '0;
      inside_q       <= '0;
      table_q        <= 1'b0;
      answer_valid_q <= 1'b0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{s_axis_req_tlast, e_op, first};
endmodule
