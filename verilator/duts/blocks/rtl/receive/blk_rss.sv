/// Test device for nic_rss. Requests: hash a frame's key and choose its queue (op 0), commands of
/// table Indirection (op 1).

module blk_rss
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
  import blk_pkg::*;
(
  input  logic          clk,
  input  logic          rst,
  input  logic [1151:0] s_axis_req_tdata,
  input  logic          s_axis_req_tlast,
  input  logic          s_axis_req_tvalid,
  output logic          s_axis_req_tready,
  output logic [1087:0] m_axis_rsp_tdata,
  output logic          m_axis_rsp_tlast,
  output logic          m_axis_rsp_tvalid,
  input  logic          m_axis_rsp_tready
);
  // Rule that matched or, with hit 0, the default action.
  typedef struct packed {
    logic [7:0]  slow_queue;
    logic [7:0]  account;
    logic [7:0]  account_en;
    logic [7:0]  rss_log;
    logic [15:0] queue_f;
    logic [7:0]  rule;
    logic [7:0]  action;
  } said_t;

  typedef struct packed {
    logic [15:0]  rsvd1;
    logic [15:0]  def_queue;
    logic [7:0]   def_log;
    logic [7:0]   def_action;
    said_t        said;
    rss_key_t     rss_key;
    steer_key_t   key;
    logic [47:0]  rsvd0;
    logic [7:0]   hit;
    logic [7:0]   op;
  } frame_op_t;

  typedef struct packed {
    logic [7:0]  slow_queue;
    logic [7:0]  account;
    logic [7:0]  account_en;
    logic [7:0]  rsvd;
    logic [31:0] hash;
    logic [15:0] queue_f;
    logic [7:0]  rule;
    logic [7:0]  deliver;
    logic [7:0]  hit;
    logic [7:0]  op;
  } frame_res_t;

  frame_op_t   f_op;
  frame_res_t  f_res;
  logic        take;
  tbl_req_t    tbl;
  tbl_rsp_t    tbl_rsp;
  rx_steer_t   steer, steer_q [3];
  rx_default_t def, def_q [3];
  rx_fate_t    fate;
  logic [4:0]  frame_q;

  assign f_op = frame_op_t'(s_axis_req_tdata[$bits(frame_op_t)-1:0]);

  always_comb begin
    steer = '{hit: f_op.hit[0], to_queue: f_op.said.action == 8'(ActionQueue),
              rss: f_op.said.action == 8'(ActionRss), rule: f_op.said.rule,
              queue_f: f_op.said.queue_f, rss_log: f_op.said.rss_log[3:0],
              draw: '{account_en: f_op.said.account_en[0], account: f_op.said.account[5:0],
                      slow_queue: f_op.said.slow_queue}};
    def   = '{queue_f: f_op.def_queue, to_queue: f_op.def_action == 8'(ActionQueue),
              rss: f_op.def_action == 8'(ActionRss), rss_log: f_op.def_log[3:0]};
    // The other results apply only to a frame that is delivered.
    f_res = '{op: 8'd0, hit: 8'(fate.hit), deliver: 8'(fate.deliver),
              rule: fate.hit ? fate.rule : 8'd0, queue_f: fate.deliver ? fate.queue_f : 16'd0,
              hash: fate.hash, rsvd: '0, account_en: 8'(fate.draw.account_en && fate.deliver),
              account: fate.deliver ? 8'(fate.draw.account) : 8'd0,
              slow_queue: fate.deliver ? fate.draw.slow_queue : 8'd0};
  end

  blk_commands u_commands (
    .clk, .rst,
    .s_axis_req_tdata(s_axis_req_tdata[$bits(table_op_t)-1:0]),
    .s_axis_req_tvalid, .s_axis_req_tready,
    .can_i    (1'b1), .alone_i(1'b0),
    .take_o   (take),
    .tbl_o    (tbl), .tbl_i(tbl_rsp),
    .done_i   (frame_q[4]),
    .data_i   (1088'(f_res)),
    .m_axis_rsp_tdata, .m_axis_rsp_tlast, .m_axis_rsp_tvalid, .m_axis_rsp_tready
  );

  nic_rss u_rss (
    .clk, .rst,
    .default_i   (def_q[2]),
    .rss_key_i   (f_op.rss_key),
    .tbl_i       (tbl),
    .tbl_o       (tbl_rsp),
    .key_valid_i (take),
    .key_i       (f_op.key),
    .steer_i     (steer_q[2]),
    .fate_o      (fate)
  );

  always_ff @(posedge clk) begin
    frame_q <= {frame_q[3:0], take};
    steer_q <= '{0: steer, 1: steer_q[0], 2: steer_q[1]};
    def_q   <= '{0: def, 1: def_q[0], 2: def_q[1]};
    if (rst) frame_q <= '0;
  end

  logic unused_bits;
  assign unused_bits = ^{s_axis_req_tlast, s_axis_req_tdata, f_op};
endmodule
