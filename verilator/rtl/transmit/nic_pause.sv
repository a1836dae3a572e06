/// Pause, between transmit path and pins: table PortCfg, registers PORT_MAC, the class of each
/// transmit queue, and for each port its stops and its own pause frames (contract section 13).

module nic_pause
  import nic_int_pkg::*;
  import nic_pkg::*;
#(
  // Number of Ethernet ports, 1 or 2.
  parameter int Ports = 1,
  // Bits of an Ethernet stream at the pins.
  parameter int EthBits = EthW,
  // Number of transmit queues.
  parameter int NumTxq = 64,
  // Width of a count of held bytes in units of 64 B.
  parameter int HeldW = 12
) (
  input  logic                        clk,
  input  logic                        rst,
  input  logic                        flr_i,
  input  tbl_req_t                    tbl_i,
  output tbl_rsp_t                    tbl_o,
  // Pulse: the Txq entry on the table bus takes effect.
  input  logic                        txq_commit_i,
  input  reg_bus_t                    reg_i,
  output logic [63:0]                 reg_rdata_o,
  // For each port: which pause frames it honours.
  output pause_cfg_t [Ports-1:0]      cfg_o,
  // For each port: a pulse with a pause frame that was honoured.
  input  pause_t     [Ports-1:0]      pause_i,
  // For each port: 64 B lines that frames hold in its receive buffer.
  input  logic [Ports-1:0][HeldW-1:0] held_i,
  // One bit a transmit queue: high while its class is stopped on some port.
  output logic [NumTxq-1:0]           hold_o,
  // Frames to be sent on the ports.
  input  logic [Ports*EthW-1:0]       s_axis_eth_tdata,
  input  logic [Ports*EthB-1:0]       s_axis_eth_tkeep,
  input  logic [Ports-1:0]            s_axis_eth_tlast,
  input  logic [Ports*16-1:0]         s_axis_eth_tuser,
  input  logic [Ports-1:0]            s_axis_eth_tvalid,
  output logic [Ports-1:0]            s_axis_eth_tready,
  // Frames from s_axis_eth, with pause frames inserted between them.
  output logic [Ports*EthW-1:0]       m_axis_eth_tdata,
  output logic [Ports*EthB-1:0]       m_axis_eth_tkeep,
  output logic [Ports-1:0]            m_axis_eth_tlast,
  output logic [Ports*16-1:0]         m_axis_eth_tuser,
  output logic [Ports-1:0]            m_axis_eth_tvalid,
  input  logic [Ports-1:0]            m_axis_eth_tready,
  // For each port: pulse: a pause frame left.
  output logic [Ports-1:0]            sent_o,
  // High while a pause frame waits or leaves.
  output logic                        busy_o
);
  localparam int Qw = $clog2(NumTxq);

  // Table PortCfg, and registers PORT_MAC, two for each port.
  port_entry_t [Ports-1:0] port_q;
  port_entry_t             entry;
  tbl_rsp_t                rsp_q;
  logic                    mine, bad, done_q;
  logic [Ports-1:0][63:0]  mac_q;
  logic                    is_mac;

  // For each transmit queue: its class, and whether that class is stopped (hold_q).
  logic [NumTxq-1:0][2:0]  class_q;
  logic [NumTxq-1:0]       hold_q;
  logic [Ports-1:0][7:0]   stopped;
  logic [7:0]              any_stopped, seen_q;
  txq_entry_t              txq;

  // Clock of table and registers: runs while one may be written, and when the set of stopped
  // classes changes.
  logic clk_g;

  nic_clkgate u_gate (
    .clk, .test_en_i(1'b0), .clk_o(clk_g),
    .enable_i(rst || txq_commit_i || tbl_i.valid || rsp_q.done || done_q || reg_i.we != 2'b00 ||
              any_stopped != seen_q)
  );

  assign entry = port_entry_t'(tbl_i.wdata[127:0]);
  assign mine  = tbl_i.valid && tbl_i.id == TablePortCfg && !rsp_q.done && !done_q;

  always_comb begin
    bad = 1'b0;
    if (mine && tbl_i.write) begin
      bad = entry.rx_pause > 8'd1 || 8'(entry.tx_mode) > 8'(PauseModePriority) ||
            (entry.tx_mode != PauseModeNone &&
             (entry.xon >= entry.xoff || entry.xoff > 32'(RxBufBytes) ||
              entry.pause_time < 16'(PauseTimeMin)));
    end
  end

  assign tbl_o = rsp_q;

  always_ff @(posedge clk_g) begin
    rsp_q.done <= mine;
    done_q     <= rsp_q.done;                 // the answer takes one cycle
    if (mine) begin
      rsp_q.status <= bad ? TableStatusBadValue : TableStatusOk;
      for (int p = 0; p < Ports; p++) begin
        if (tbl_i.index[0] == 1'(p)) begin
          rsp_q.rdata <= 1024'(port_q[p]);
          if (tbl_i.write && !bad) begin
            port_q[p]       <= entry;
            port_q[p].rsvd0 <= '0;
          end
        end
      end
    end
    if (rst) begin
      rsp_q.done <= 1'b0;
      port_q     <= '0;
    end
  end

  assign is_mac = reg_i.unit[RegAw-1:4] == RegPortMacBase[RegAw-1:4];

  always_comb begin
    reg_rdata_o = '0;
    for (int p = 0; p < Ports; p++) begin
      if (reg_i.rd && is_mac && reg_i.unit[3] == 1'(p)) reg_rdata_o = mac_q[p];
    end
  end

  always_ff @(posedge clk_g) begin
    for (int p = 0; p < Ports; p++) begin
      if (is_mac && reg_i.unit[3] == 1'(p)) begin
        if (reg_i.we[0]) mac_q[p][31:0]  <= reg_i.wdata[31:0];
        if (reg_i.we[1]) mac_q[p][63:32] <= reg_i.wdata[63:32];
      end
    end
    if (rst) mac_q <= {2 * Ports{ResetPortMac}};
  end

  assign txq    = txq_entry_t'(tbl_i.wdata[511:0]);
  assign hold_o = hold_q;

  always_comb begin
    any_stopped = '0;
    for (int p = 0; p < Ports; p++) any_stopped |= stopped[p];
  end

  always_ff @(posedge clk_g) begin
    seen_q <= any_stopped;
    if (any_stopped != seen_q) begin
      for (int q = 0; q < NumTxq; q++) hold_q[q] <= any_stopped[class_q[q]];
    end
    if (txq_commit_i) begin
      class_q[tbl_i.index[Qw-1:0]] <= txq.pfc_class[2:0];
      hold_q[tbl_i.index[Qw-1:0]]  <= any_stopped[txq.pfc_class[2:0]];
    end
    if (rst) begin
      class_q <= '0;
      hold_q  <= '0;
      seen_q  <= '0;
    end
  end

  logic [Ports-1:0] port_busy;

  assign busy_o = |port_busy;

  for (genvar p = 0; p < Ports; p++) begin : g_port
    eth_beat_t s, m;

    assign cfg_o[p] = '{rx_pause: port_q[p].rx_pause[0], rx_pfc: port_q[p].rx_pfc};
    assign s        = '{last: s_axis_eth_tlast[p], keep: s_axis_eth_tkeep[EthB*p +: EthB],
                        data: s_axis_eth_tdata[EthW*p +: EthW]};

    nic_pause_port #(.EthBits(EthBits)) u_port (
      .clk, .rst, .flr_i,
      .cfg_i     (port_q[p]),
      .mac_i     (mac_q[p][47:0]),
      .pause_i   (pause_i[p]),
      .held_i    (32'({held_i[p], 6'h0})),
      .s_i       (s),
      .s_user_i  (s_axis_eth_tuser[16*p +: 16]),
      .s_class_i (class_q[s_axis_eth_tuser[16*p +: Qw]]),
      .s_valid_i (s_axis_eth_tvalid[p]),
      .s_ready_o (s_axis_eth_tready[p]),
      .m_o       (m),
      .m_user_o  (m_axis_eth_tuser[16*p +: 16]),
      .m_valid_o (m_axis_eth_tvalid[p]),
      .m_ready_i (m_axis_eth_tready[p]),
      .stopped_o (stopped[p]),
      .sent_o    (sent_o[p]),
      .busy_o    (port_busy[p])
    );

    assign m_axis_eth_tdata[EthW*p +: EthW] = m.data;
    assign m_axis_eth_tkeep[EthB*p +: EthB] = m.keep;
    assign m_axis_eth_tlast[p]              = m.last;
  end

  logic unused_bits;
  assign unused_bits = ^{tbl_i, txq, mac_q, reg_i};
endmodule
