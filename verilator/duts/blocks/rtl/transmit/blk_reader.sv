/// Test device for nic_reader. Requests: reads, up to four in flight (op 0), whose results come in
/// the order of the requests; reports of the counters, which also set the MRRS (op 1).

module blk_reader
  import nic_int_pkg::*;
(
  input  logic          clk,
  input  logic          rst,
  input  logic [127:0]  s_axis_req_tdata,
  input  logic          s_axis_req_tlast,
  input  logic          s_axis_req_tvalid,
  output logic          s_axis_req_tready,
  output logic [8255:0] m_axis_rsp_tdata,
  output logic          m_axis_rsp_tlast,
  output logic          m_axis_rsp_tvalid,
  input  logic          m_axis_rsp_tready
);
  localparam int Clients = RdGather;   // all read clients except the gather's
  localparam int Slots   = 4;
  localparam int MaxW    = 8192;       // bits of the longest read
  localparam int Visible = 64;
  localparam logic [Clients-1:0] Data = Clients'(1) << RdCopy;

  typedef struct packed {
    logic [63:0] addr;                 // bits 31:30: number of the read's slot
    logic [15:0] mrrs;
    logic [15:0] len;
    logic [7:0]  late;
    logic [7:0]  fault;
    logic [7:0]  client;
    logic [7:0]  op;
  } op_t;

  typedef struct packed {
    logic        busy;
    logic [7:0]  status;
    logic [7:0]  illegal;              // TLPs of the read that break a rule
    logic [7:0]  strange;              // responses that came to another client than the reading one
    logic [15:0] got;
    logic [15:0] done;
    op_t         o;
  } slot_t;

  op_t                op, ask_q;
  slot_t              slot_q [Slots];
  slot_t              tail;
  logic [MaxW-1:0]    data_q [Slots];
  logic [1:0]         head_q, tail_q, r, m;
  logic               ask_valid_q, take, look_q, over, idle, sent, err, late, unexpected, hold,
      busy, plain, legal, unused_out;
  logic [7:0]         calm_q;
  logic [12:0]        mrrs_q;
  logic [15:0]        err_q, late_q, unexpected_q;
  cfg_t               cfg;
  rd_req_t            req [Clients];
  rd_rsp_t            one;
  logic [1:0]         at;
  logic [Clients-1:0] req_valid, req_ready;
  logic [127:0]       mrd_hdr, cpl_hdr;
  logic               mrd_valid, mrd_ready, cpl_valid, cpl_first, cpl_last;
  logic [TlpD-1:0]    cpl_keep;
  logic [TlpW-1:0]    cpl_data;
  logic [63:0]        mrd_addr;
  logic [12:0]        mrd_bytes;
  logic [3:0][2:0]    faults;
  logic [3:0]         lates;

  assign op    = op_t'(s_axis_req_tdata);
  assign tail  = slot_q[tail_q];
  assign idle  = !tail.busy && !ask_valid_q && !busy && calm_q == 8'(Visible);
  assign s_axis_req_tready = !look_q && (op.op == 8'd0 ? !ask_valid_q && !slot_q[head_q].busy :
      idle);
  assign take  = s_axis_req_tvalid && s_axis_req_tready;
  assign over  = tail.busy && tail.done == tail.o.len;
  assign m_axis_rsp_tlast  = 1'b1;
  assign m_axis_rsp_tvalid = look_q || over;
  assign m_axis_rsp_tdata  = look_q ? 8256'({unexpected_q, late_q, err_q, 16'd1}) :
    {tail.status == 8'd0 ? data_q[tail_q] : MaxW'(0), tail.status == 8'd0 ? tail.got : 16'd0,
        8'h0, tail.strange, tail.illegal,
     tail.status, tail.o.client, 8'd0};

  always_comb begin
    cfg             = '0;
    cfg.attr        = 2'b11;
    cfg.mrrs        = mrrs_q;
    cfg.cpl_timeout = 32'd1024;
    req_valid       = '0;
    at              = 2'd0;
    for (int c = 0; c < Clients; c++) begin
      req[c]       = '{addr: ask_q.addr, len: ask_q.len[13:0], cookie: {14'h0, ask_q.addr[31:30]}};
      req_valid[c] = ask_valid_q && ask_q.client == 8'(c);
      if (one.to[c]) at = 2'(c);
    end
    for (int s = 0; s < Slots; s++) begin
      faults[s] = slot_q[s].o.fault[2:0];
      lates[s]  = slot_q[s].o.late[0];
    end
  end

  nic_reader #(.Clients(Clients), .DataClients(Data)) u_reader (
    .clk, .rst, .cfg_i(cfg), .req_i(req), .req_valid_i(req_valid), .req_ready_o(req_ready),
    .rsp_o(one),
    .mrd_hdr_o(mrd_hdr), .mrd_valid_o(mrd_valid), .mrd_ready_i(mrd_ready), .sent_i(sent),
    .sent_tag_i(mrd_hdr[55:48]),
    .cpl_valid_i(cpl_valid), .cpl_first_i(cpl_first), .cpl_last_i(cpl_last), .cpl_hdr_i(cpl_hdr),
    .cpl_keep_i(cpl_keep),
    .cpl_data_i(cpl_data), .hold_o(hold), .unexpected_o(unexpected), .err_o(err), .timeout_o(late),
    .outstanding_o(unused_out), .busy_o(busy)
  );

  blk_completer u_completer (
    .clk, .rst, .start_i(take && op.op == 8'd0), .start_slot_i(head_q), .fault_i(faults),
    .late_i(lates),
    .hdr_i(mrd_hdr), .valid_i(mrd_valid), .ready_o(mrd_ready), .addr_o(mrd_addr),
    .bytes_o(mrd_bytes), .hold_i(hold),
    .cpl_valid_o(cpl_valid), .cpl_first_o(cpl_first), .cpl_last_o(cpl_last), .cpl_hdr_o(cpl_hdr),
    .cpl_keep_o(cpl_keep),
    .cpl_data_o(cpl_data)
  );

  assign sent  = mrd_valid && mrd_ready;
  assign m     = mrd_addr[31:30];
  assign plain = slot_q[m].o.client == 8'(RdRx) || slot_q[m].o.client == 8'(RdWqe);
  assign legal = mrd_bytes <= mrrs_q && 14'(mrd_addr[11:0]) + 14'(mrd_bytes) <= 14'd4096 &&
                 mrd_hdr[7:6] == 2'b00 && mrd_addr[63:32] == slot_q[m].o.addr[63:32] &&
                 mrd_hdr[21:20] == (plain ? 2'b00 : cfg.attr);
  assign r     = one.cookie[1:0];

  always_ff @(posedge clk) begin
    if (ask_valid_q && |(req_valid & req_ready)) ask_valid_q <= 1'b0;
    if (one.to != '0) begin
      logic [TlpW-1:0] bytes;
      bytes     = (one.data >> {one.lane, 3'd0}) & ~({TlpW{1'b1}} << {one.nbytes, 3'd0});
      data_q[r] <= data_q[r] | MaxW'(bytes) << {one.off, 3'd0};
      slot_q[r].got <= slot_q[r].got + 16'(one.nbytes);
      if (8'(at) != slot_q[r].o.client) slot_q[r].strange <= slot_q[r].strange + 8'd1;
      if (one.done) begin
        slot_q[r].done <= slot_q[r].done + 16'(one.done_len);
        if (slot_q[r].status == 8'd0) slot_q[r].status <= one.status;
      end
    end
    if (sent && !legal) slot_q[m].illegal <= slot_q[m].illegal + 8'd1;
    if (over && m_axis_rsp_tready) begin
      slot_q[tail_q].busy <= 1'b0;
      tail_q              <= tail_q + 2'd1;
    end
    if (take && op.op == 8'd0) begin
      ask_q          <= op;
      ask_valid_q    <= 1'b1;
      head_q         <= head_q + 2'd1;
      slot_q[head_q] <= '{busy: 1'b1, o: op, default: '0};
      data_q[head_q] <= '0;
    end
    if (take && op.op == 8'd1) mrrs_q <= op.mrrs[12:0];
    look_q       <= (take && op.op == 8'd1) || (look_q && !m_axis_rsp_tready);
    calm_q       <= take || busy ? 8'd0 : calm_q + 8'(calm_q != 8'(Visible));
    err_q        <= err_q + 16'(err);
    late_q       <= late_q + 16'(late);
    unexpected_q <= unexpected_q + 16'(unexpected);
    if (rst) begin
      {ask_valid_q, look_q, head_q, tail_q, calm_q, err_q, late_q, unexpected_q} <= '0;
      mrrs_q <= 13'd512;
      for (int s = 0; s < Slots; s++) slot_q[s] <= '0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{s_axis_req_tlast, op, ask_q, tail, one, mrd_hdr, mrd_addr};
endmodule
