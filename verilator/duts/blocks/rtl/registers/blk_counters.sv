/// Test device for nic_counters, with two ports and four sources. Requests: the counter pulses of
/// one cycle (op 0; successive requests come in successive cycles), and reads (op 1), which wait
/// until all earlier steps count.

module blk_counters
  import nic_pkg::*;
(
  input  logic         clk,
  input  logic         rst,
  input  logic [319:0] s_axis_req_tdata,
  input  logic         s_axis_req_tlast,
  input  logic         s_axis_req_tvalid,
  output logic         s_axis_req_tready,
  output logic [79:0]  m_axis_rsp_tdata,
  output logic         m_axis_rsp_tlast,
  output logic         m_axis_rsp_tvalid,
  input  logic         m_axis_rsp_tready
);
  localparam int Ports   = 2;
  localparam int Sources = 4;
  localparam int Late    = 64;   // cycles within which a counter must show a step (contract G5)

  typedef struct packed {
    logic [Sources-1:0][15:0] dev_evt;
    logic [Ports-1:0][31:0]   tx_bytes;
    logic [Ports-1:0][31:0]   rx_bytes;
    logic [Ports-1:0][31:0]   port_evt;
    logic [31:0]              rsvd;
    logic [7:0]               copy_bytes;
    logic [7:0]               disabled;
    logic [7:0]               index;
    logic [7:0]               op;
  } op_t;

  op_t         o;
  logic        room, take, is_read, ask, unused_idle;
  logic [6:0]  wait_q;
  logic        read_q;
  logic [7:0]  index_q;
  logic [63:0] value;
  logic [15:0] dev_evt [Sources];

  assign o                 = op_t'(s_axis_req_tdata);
  assign is_read           = o.op == 8'd1;
  assign s_axis_req_tready = !is_read || (room && wait_q == 7'd0);
  assign take              = s_axis_req_tvalid && s_axis_req_tready;
  assign ask               = take && is_read;
  assign m_axis_rsp_tlast  = 1'b1;

  always_comb begin
    for (int s = 0; s < Sources; s++) dev_evt[s] = take && !is_read ? o.dev_evt[s] : 16'h0;
  end

  blk_credit #(.OutBytes(10)) u_credit (
    .clk, .rst,
    .room_o (room),
    .take_i (ask),
    .idle_o (unused_idle),
    .done_i (read_q),
    .data_i ({value, index_q, 8'd1}),
    .m_axis_rsp_tdata, .m_axis_rsp_tvalid, .m_axis_rsp_tready
  );

  nic_counters #(.Ports(Ports), .Sources(Sources)) u_counters (
    .clk, .rst,
    .port_evt_i   (take && !is_read ? o.port_evt : '0),
    .rx_bytes_i   (take && !is_read ? o.rx_bytes : '0),
    .tx_bytes_i   (take && !is_read ? o.tx_bytes : '0),
    .disabled_i   (take && !is_read ? o.disabled[1:0] : 2'b00),
    .copy_bytes_i (take && !is_read ? o.copy_bytes : 8'h0),
    .dev_evt_i    (dev_evt),
    .rd_en_i      (ask),
    .rd_index_i   (o.index),
    .rd_data_o    (value)
  );

  always_ff @(posedge clk) begin
    read_q  <= ask;
    index_q <= o.index;
    wait_q     <= take && !is_read ? 7'(Late) : wait_q - 7'(wait_q != 7'd0);
    if (rst) begin
      read_q <= 1'b0;
      wait_q <= '0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{s_axis_req_tlast, o};
endmodule
