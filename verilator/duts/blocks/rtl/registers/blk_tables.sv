/// Test device for nic_tables. Requests: writes (op 0) and reads (op 1) of a pair of registers; op
/// 2 sets whether queues may drain from now on. One at a time, except while a command waits for a
/// queue to drain.

module blk_tables
  import nic_int_pkg::*;
  import nic_pkg::*;
(
  input  logic         clk,
  input  logic         rst,
  input  logic [127:0] s_axis_req_tdata,
  input  logic         s_axis_req_tlast,
  input  logic         s_axis_req_tvalid,
  output logic         s_axis_req_tready,
  output logic [127:0] m_axis_rsp_tdata,
  output logic         m_axis_rsp_tlast,
  output logic         m_axis_rsp_tvalid,
  input  logic         m_axis_rsp_tready
);
  localparam int unsigned Parts = PartsDefault & ~(PartRss | PartEcn | PartPause);

  typedef struct packed {
    logic [63:0] value;
    logic [15:0] quiet;
    logic [15:0] unit;       // address / 8
    logic [15:0] we;
    logic [15:0] op;
  } op_t;

  op_t         o;
  logic        room, take, is_write, is_read, read_q, quiet_q, stuck, busy, unused_idle;
  logic [1:0]  we, bad;
  logic [15:0] bad_q, unit_q;
  logic [63:0] rdata, value_q, unused_rdata;
  tbl_req_t    tbl;
  tbl_rsp_t    rx_tbl, tx_tbl;

  assign o        = op_t'(s_axis_req_tdata);
  assign is_write = o.op == 16'd0;
  assign is_read  = o.op == 16'd1;
  assign take     = s_axis_req_tvalid && s_axis_req_tready;
  assign we       = take && is_write ? o.we[1:0] : 2'b00;
  assign s_axis_req_tready = room && (!busy || stuck);
  assign m_axis_rsp_tlast  = 1'b1;

  blk_credit #(.OutBytes(16)) u_credit (
    .clk, .rst,
    .room_o (room),
    .take_i (take && is_read),
    .idle_o (unused_idle),
    .done_i (read_q),
    .data_i ({value_q, bad_q, unit_q, 32'd1}),
    .m_axis_rsp_tdata, .m_axis_rsp_tvalid, .m_axis_rsp_tready
  );

  nic_tables #(.Parts(Parts)) u_tables (
    .clk, .rst,
    .we_i      (we),
    .unit_i    ((RegAw-3)'(o.unit)),
    .wdata_i   (o.value),
    .rd_i      (take && is_read),
    .rdata_o   (rdata),
    .reg_bad_o (bad),
    .busy_o    (busy),
    .tbl_o     (tbl),
    .rx_tbl_i  (rx_tbl),
    .tx_tbl_i  (tx_tbl)
  );

  blk_owners #(.Parts(Parts)) u_owners (
    .clk, .rst,
    .tbl_i    (tbl),
    .rx_tbl_o (rx_tbl),
    .tx_tbl_o (tx_tbl),
    .reg_i    ('0),
    .rdata_o  (unused_rdata),
    .quiet_i  (quiet_q),
    .stuck_o  (stuck)
  );

  always_ff @(posedge clk) begin
    read_q  <= take && is_read;
    value_q <= rdata;
    unit_q  <= o.unit;
    bad_q   <= bad_q + 16'(bad[0]) + 16'(bad[1]);
    if (take && o.op == 16'd2) quiet_q <= o.quiet[0];
    if (rst) begin
      read_q  <= 1'b0;
      quiet_q <= 1'b1;
      bad_q   <= '0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{s_axis_req_tlast, o};
endmodule
