/// Test device for nic_copy. Request: up to four entries; result: the writes and messages that they
/// send, and how each ended. Bits 31:30 of entry i's addresses are i.

module blk_copy
  import nic_int_pkg::*;
  import nic_tx_pkg::*;
  import blk_writes_pkg::*;
(
  input  logic                           clk,
  input  logic                           rst,
  input  logic [1087:0]                  s_axis_req_tdata,
  input  logic                           s_axis_req_tlast,
  input  logic                           s_axis_req_tvalid,
  output logic                           s_axis_req_tready,
  output logic [$bits(write_beat_t)-1:0] m_axis_rsp_tdata,
  output logic                           m_axis_rsp_tlast,
  output logic                           m_axis_rsp_tvalid,
  input  logic                           m_axis_rsp_tready
);
  localparam int Jobs = 4;

  typedef struct packed {
    logic [63:0] dst;
    logic [63:0] src;
    logic [31:0] rsvd;
    logic [31:0] len;
    logic [7:0]  zero;
    logic [7:0]  fence;
    logic [7:0]  delay;      // cycles until the next entry is given
    logic [7:0]  late;
    logic [7:0]  fault;
    logic [7:0]  inval;
    logic [7:0]  move;
    logic [7:0]  queue_f;
  } job_op_t;

  typedef struct packed {
    job_op_t [Jobs-1:0] job;
    logic [31:0]        rsvd;
    logic [7:0]         count;
    logic [7:0]         attr;
    logic [15:0]        mps;
  } op_t;

  // End of an entry: turn: its number in the order of the ends; beats: output beats until then.
  typedef struct packed {
    logic [7:0]  fence;
    logic [7:0]  src;        // lowest bits of the entry's source address
    logic [15:0] beats;
    logic [7:0]  turn;
    logic [7:0]  queue_f;
    logic [7:0]  ends;
    logic [7:0]  status;
  } end_t;

  typedef struct packed {
    end_t [Jobs-1:0] ended;
    logic [31:0]     bytes;
    logic [15:0]     rsvd;
    logic [15:0]     mps;
  } result_t;

  op_t          op_q;
  result_t      result_q;
  logic         busy_q, take, job_valid, rd_valid, rd_ready, tlp_valid, end_valid, over;
  logic [2:0]   next_q, ends_q;
  logic [1:0]   n;
  logic [7:0]   wait_q, bytes;
  logic [15:0]  beats_q;
  logic         tick_q, left_q;
  job_op_t      j;
  copy_job_t    job;
  rd_req_t      rd_req;
  rd_rsp_t      rd_rsp;
  tlp_beat_t    tlp;
  tx_id_t       id;
  logic [3:0][2:0] faults;
  logic [3:0]      lates;

  assign s_axis_req_tready = !busy_q;
  assign take      = s_axis_req_tvalid && !busy_q;
  assign j         = op_q.job[next_q[1:0]];
  assign job_valid = busy_q && next_q != op_q.count[2:0] && wait_q == 8'd0;
  assign over      = busy_q && ends_q == op_q.count[2:0] && !tlp_valid;
  assign n         = id.wqe_id[1:0];

  always_comb begin
    job            = '0;
    job.id.qid     = j.queue_f;
    job.id.wqe_id  = 32'(next_q);
    job.move       = j.move[0];
    job.inval      = j.inval[0];
    job.len        = j.len[24:0];
    job.src        = j.src;
    job.dst        = j.dst;
    for (int s = 0; s < Jobs; s++) begin
      faults[s] = op_q.job[s].fault[2:0];
      lates[s]  = op_q.job[s].late[0];
    end
  end

  nic_copy u_copy (
    .clk, .rst, .mps_i(op_q.mps[9:0]), .attr_i(op_q.attr[1:0]), .flr_i(1'b0),
    .job_valid_i(job_valid), .job_i(job), .rd_req_o(rd_req), .rd_req_valid_o(rd_valid),
    .rd_req_ready_i(rd_ready), .rd_rsp_i(rd_rsp), .tlp_o(tlp), .tlp_valid_o(tlp_valid),
    .tlp_ready_i(m_axis_rsp_tready && busy_q), .left_i(left_q),
    .end_valid_o(end_valid), .end_ready_i(tick_q),
    .end_id_o(id), .bytes_o(bytes)
  );

  blk_memory #(.Client(RdCopy)) u_memory (
    .clk, .rst, .mrrs_i(13'd512), .attr_i(op_q.attr[1:0]), .start_i(job_valid),
    .start_slot_i(next_q[1:0]), .fault_i(faults), .late_i(lates), .req_i(rd_req),
    .req_valid_i(rd_valid), .req_ready_o(rd_ready), .rsp_o(rd_rsp)
  );

  assign m_axis_rsp_tvalid = busy_q && (tlp_valid || over);
  assign m_axis_rsp_tlast  = over;
  assign m_axis_rsp_tdata  = over ? write_end(TlpW'(result_q)) : write_beat(tlp);

  always_ff @(posedge clk) begin
    tick_q <= !tick_q;
    left_q <= tlp_valid && m_axis_rsp_tready && busy_q && tlp.last;
    if (wait_q != 8'd0) wait_q <= wait_q - 8'd1;
    if (take) begin
      op_q     <= op_t'(s_axis_req_tdata);
      busy_q   <= 1'b1;
      result_q <= '{mps: s_axis_req_tdata[15:0], default: '0};
      next_q   <= '0;
      ends_q   <= '0;
      beats_q  <= '0;
    end
    if (job_valid) begin
      next_q <= next_q + 3'd1;
      wait_q <= j.delay;
    end
    if (busy_q) result_q.bytes <= result_q.bytes + 32'(bytes);
    if (tlp_valid && m_axis_rsp_tready) beats_q <= beats_q + 16'd1;
    if (end_valid && tick_q) begin
      ends_q            <= ends_q + 3'd1;
      result_q.ended[n] <= '{status: id.status, ends: result_q.ended[n].ends + 8'd1,
                             queue_f: id.qid, turn: 8'(ends_q), beats: beats_q,
                             src: op_q.job[n].src[7:0], fence: op_q.job[n].fence};
    end
    if (over && m_axis_rsp_tready) busy_q <= 1'b0;
    if (rst) begin
      busy_q <= 1'b0;
      wait_q <= '0;
      tick_q <= 1'b0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{s_axis_req_tlast, op_q, j, id};
endmodule
