/// Test device for nic_regs with nic_flr. Requests: TLPs (op 0), whose answers are results; looks
/// (op 1) at their effects: configuration and doorbells; work that a reset must wait for (op 2). No
/// queue runs, so each doorbell counts in DB_BAD. Before the next request, table commands end,
/// counters settle, and resets end that have no work to wait for.

module blk_regs
  import nic_int_pkg::*;
  import nic_pkg::*;
(
  input  logic          clk,
  input  logic          rst,
  input  logic [767:0]  s_axis_req_tdata,
  input  logic          s_axis_req_tlast,
  input  logic          s_axis_req_tvalid,
  output logic          s_axis_req_tready,
  output logic [1279:0] m_axis_rsp_tdata,
  output logic          m_axis_rsp_tlast,
  output logic          m_axis_rsp_tvalid,
  input  logic          m_axis_rsp_tready
);
  localparam int Visible = 64;   // cycles until a write takes effect and a counter steps, at most

  typedef struct packed {
    logic [511:0] data;
    logic [127:0] hdr;
    logic [87:0]  rsvd;
    logic [31:0]  arg;           // op 1: new value of STATUS; op 2: work, see blk_work
    logic [7:0]   op;
  } op_t;

  // Doorbells of one kind since the last look: their number, and the last one.
  typedef struct packed {
    logic [15:0] pi;
    logic [7:0]  queue_f;
    logic [7:0]  count;
  } rung_t;

  op_t         o;
  reg_req_t    req;
  answer_t     ans;
  cfg_t        cfg;
  rss_key_t    rss_key;
  reg_bus_t    bus;
  doorbell_t   rx_db, tx_db;
  push_t       push;
  tbl_req_t    tbl;
  tbl_rsp_t    rx_tbl, tx_tbl;
  rung_t       rx_q, tx_q;
  logic [7:0]  pushes_q;
  logic [511:0] wqe_q;
  logic        is_tlp, is_look, pass, bad, unsupported, ready, can, take, look_q, waits_q, held,
      ans_valid, busy, busy_q, cnt_rd, work, work_idle, work_valid;
  logic [1:0]  reg_bad;
  logic [2:0]  status_q;
  logic [39:0] told;
  logic [6:0]  calm_q;           // cycles since the last request, up to Visible
  logic [7:0]  cnt_index, hits_index;
  logic [63:0] ans_data, bus_rdata, cnt_data, hits_q;
  logic [15:0] dev_evt [2];
  logic        unused_stuck;

  // Returns whether the next request must wait for a write's effect: those of CTRL and TBL_CMD.
  function automatic logic slow(input logic write, input logic [RegAw-1:3] unit);
    slow = write && (unit == RegCtrl[RegAw-1:3] || unit == RegTblCmd[RegAw-1:3]);
  endfunction

  assign o      = op_t'(s_axis_req_tdata[$bits(op_t)-1:0]);
  assign is_tlp  = o.op == 8'd0;
  assign is_look = o.op == 8'd1;
  assign held    = busy_q && !(cfg.flr && work);
  assign can     = !(waits_q && held) && !look_q && work_idle &&
                  (is_tlp ? !(req.read && req.addr[19:11] == RegCounterBase[19:11]) ||
                      calm_q == 7'(Visible) :
                            calm_q == 7'(Visible) && !held);
  assign s_axis_req_tready = can && (!is_tlp || !pass || ready);
  assign take              = s_axis_req_tvalid && s_axis_req_tready;

  nic_tlp_req u_req (
    .valid_i(s_axis_req_tvalid && is_tlp), .hdr_i(o.hdr), .data_i(o.data[63:0]), .req_o(req),
    .pass_o(pass), .reg_bad_o(bad), .unsupported_o(unsupported)
  );

  nic_regs u_regs (
    .clk, .rst,
    .req_i(req), .req_valid_i(s_axis_req_tvalid && is_tlp && can && pass), .req_ready_o(ready),
    .push_wqe_i(o.data), .tx_push_o(push),
    .ans_o(ans), .ans_data_o(ans_data), .ans_valid_o(ans_valid),
    .ans_ready_i(m_axis_rsp_tready && !look_q && !work_valid),
    .cfg_o(cfg), .rss_key_o(rss_key), .reg_o(bus), .reg_rdata_i(bus_rdata),
    .tbl_o(tbl), .rx_tbl_i(rx_tbl), .tx_tbl_i(tx_tbl), .rx_db_o(rx_db), .tx_db_o(tx_db),
    .cnt_rd_o(cnt_rd), .cnt_index_o(cnt_index), .cnt_data_i(cnt_data), .hits_index_o(hits_index),
    .hits_i(hits_q),
    .rx_busy_i(status_q[0]), .tx_busy_i(status_q[1]), .reads_i(status_q[2]), .work_i(work),
    .reg_bad_o(reg_bad), .busy_o(busy)
  );

  blk_work u_work (
    .clk, .rst, .start_i(take && !is_tlp && !is_look), .pattern_i(o.arg), .flr_i(cfg.flr),
    .clear_i(cfg.clear), .work_o(work), .valid_o(work_valid), .ready_i(m_axis_rsp_tready),
    .told_o(told), .idle_o(work_idle)
  );

  blk_owners u_owners (
    .clk, .rst(rst || cfg.clear), .tbl_i(tbl), .rx_tbl_o(rx_tbl), .tx_tbl_o(tx_tbl), .reg_i(bus),
    .rdata_o(bus_rdata),
    .quiet_i(1'b1), .stuck_o(unused_stuck)
  );

  always_comb begin
    dev_evt    = '{default: '0};
    dev_evt[0][CntRegBad - CntDeviceBase]         = reg_bad[0];
    dev_evt[1][CntRegBad - CntDeviceBase]         = reg_bad[1] || (take && bad);
    dev_evt[0][CntTlpUnsupported - CntDeviceBase] = take && unsupported;
    dev_evt[0][CntDbBad - CntDeviceBase]          = rx_db.valid;
    dev_evt[1][CntDbBad - CntDeviceBase]          = tx_db.valid;
  end

  nic_counters #(.Sources(2)) u_counters (
    .clk, .rst, .port_evt_i('0), .rx_bytes_i('0), .tx_bytes_i('0), .disabled_i(1'b0),
    .copy_bytes_i('0),
    .dev_evt_i(dev_evt), .rd_en_i(cnt_rd), .rd_index_i(cnt_index), .rd_data_o(cnt_data)
  );

  // Results: the answer to a TLP (op 0), configuration and doorbells (op 1), or the report of
  // blk_work (op 2).
  assign m_axis_rsp_tlast  = 1'b1;
  assign m_axis_rsp_tvalid = look_q || work_valid || ans_valid;

  always_comb begin
    m_axis_rsp_tdata = look_q ?
      1280'({wqe_q, pushes_q, tx_q, rx_q, rss_key, cfg.roce_port, 8'(cfg.rx_default.rss_log),
          8'(cfg.rx_default.rss),
             8'(cfg.rx_default.to_queue), cfg.rx_default.queue_f, 8'(cfg.drop_crc32c),
                 8'(cfg.drop_icrc),
             8'(cfg.drop_l4_csum), 8'(cfg.drop_ip_csum), cfg.cpl_timeout, 8'(cfg.rcb128),
                 16'(cfg.mrrs), 16'(cfg.mps),
             8'(cfg.attr), 8'(cfg.tx_enable), 8'(cfg.rx_enable), 8'd1}) :
      1280'({ans.ok ? ans_data : 64'h0, 8'(ans.lower), 16'(ans.bytes), ans.tag, ans.rid,
          8'(ans.attr), 8'(ans.tc),
             8'(ans.ok && ans.two), 8'(ans.ok), 8'd0});
    if (work_valid) m_axis_rsp_tdata = 1280'({told, 8'd2});
  end

  always_ff @(posedge clk) begin
    look_q <= (take && is_look) || (look_q && !m_axis_rsp_tready);
    if (take && is_tlp) waits_q <= slow(req.write, req.addr[RegAw-1:3]);
    if (take && is_look) status_q <= o.arg[2:0];
    // Restart the count of calm cycles after a request, and while a held-back answer keeps the
    // block busy.
    calm_q <= (take && is_tlp) || (work && ans_valid) ? 7'd0 : calm_q + 7'(calm_q != 7'(Visible));
    busy_q <= busy;
    hits_q <= 64'(hits_index) + 64'd1;
    if (rx_db.valid) rx_q <= '{count: rx_q.count + 8'd1, queue_f: rx_db.queue_f[7:0], pi: rx_db.pi};
    if (tx_db.valid && !push.valid) tx_q <= '{count: tx_q.count + 8'd1,
        queue_f: tx_db.queue_f[7:0], pi: tx_db.pi};
    if (push.valid) begin
      tx_q.queue_f <= tx_db.queue_f[7:0];
      pushes_q     <= pushes_q + 8'd1;
      wqe_q        <= push.wqe;
    end
    if (rst || (look_q && m_axis_rsp_tready)) {wqe_q, pushes_q, tx_q, rx_q} <= '0;
    if (rst) begin
      look_q   <= 1'b0;
      waits_q  <= 1'b0;
      status_q <= '0;
      calm_q   <= '0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{s_axis_req_tlast, s_axis_req_tdata, o, req, cfg, rx_db.queue_f,
      tx_db.queue_f};
endmodule
