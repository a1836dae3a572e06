/// Plain registers: identity, sizes, enables, PCIe limits, receive options. Decodes them for the
/// other blocks.

module nic_cfg
  import nic_pkg::*, nic_int_pkg::*;
#(
  // Number of Ethernet ports.
  parameter int Ports = 1,
  // Number of receive queues.
  parameter int NumRxq = 64,
  // Number of transmit queues.
  parameter int NumTxq = 64,
  // Number of memory keys.
  parameter int NumKeys = 256,
  // Number of steering rules.
  parameter int NumRules = 64,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic             clk,
  input  logic             rst,
  // Pulse: a write of CTRL.flr requests a function-level reset.
  output logic             start_o,
  // High during a function-level reset.
  input  logic             flr_i,
  // High at the end of a function-level reset: registers return to their reset values.
  input  logic             clear_i,
  // Write enables of the lower and upper 32-bit register of the 8 bytes at unit_i.
  input  logic [1:0]       we_i,
  input  logic [RegAw-1:3] unit_i,
  input  logic [63:0]      wdata_i,
  // Reads the two registers at unit_i, in the same cycle; 0 for registers of other blocks.
  input  logic             rd_i,
  output logic [63:0]      rdata_o,
  output cfg_t             cfg_o,
  // High while the blocks have not yet seen a change: keeps the registers' clock on.
  output logic             changed_o,
  // RSS key.
  output rss_key_t         rss_key_o,
  // Fields of STATUS: receive path busy, transmit path busy, reads outstanding.
  input  logic             rx_busy_i,
  input  logic             tx_busy_i,
  input  logic             reads_i
);
  localparam logic [31:0] CplTimeoutMin = 32'd1024;
  localparam bit          HasRss        = (Parts & PartRss) != 0;

  // Fields that exist in this build; all other bits read 0.
  logic [1:0]  attr_q;                   // RO in bit 1, NS in bit 0
  logic        rx_enable_q, tx_enable_q, rcb_q, drop_ip_q, drop_l4_q, drop_icrc_q;
  logic        drop_crc32c_q;
  logic [2:0]  mps_q, mrrs_q;
  logic [31:0] cpl_timeout_q, scratch_q;
  logic [15:0] default_queue_q, roce_port_q;
  logic [7:0]  default_action_q;
  logic [3:0]  default_log_q;
  rss_key_t    rss_key_q;
  logic        changed_q;
  cfg_t        cfg_q;

  logic        unused_wdata;

  assign unused_wdata = ^wdata_i[31:16];
  assign start_o      = (Parts & PartFlr) != 0 && we_i[0] && unit_i == RegCtrl[RegAw-1:3] &&
                        wdata_i[31];

  // 8-byte units of RSS_KEY.
  localparam int KeyUnits = RegRssKeyCount / 2;

  function automatic logic is_key(input logic [RegAw-1:3] unit);
    is_key = HasRss && unit >= RegRssKeyBase[RegAw-1:3] &&
             unit < RegRssKeyBase[RegAw-1:3] + (RegAw-3)'(KeyUnits);
  endfunction

  function automatic logic [63:0] value(input logic [RegAw-1:3] unit);
    cap0_reg_t       cap0;
    ctrl_reg_t       ctrl;
    status_reg_t     status;
    devctl_reg_t     devctl;
    rx_ctrl_reg_t    rx_ctrl;
    rx_default_reg_t rx_default;

    cap0          = '0;
    cap0.ports    = 4'(Ports);
    cap0.log_rxq  = 4'($clog2(NumRxq));
    cap0.log_txq  = 4'($clog2(NumTxq));
    cap0.log_keys = 4'($clog2(NumKeys));
    cap0.rules    = 16'(NumRules);

    ctrl           = '0;
    ctrl.rx_enable = rx_enable_q;
    ctrl.tx_enable = tx_enable_q;
    ctrl.flr       = flr_i;

    status                   = '0;
    status.rx_busy           = rx_busy_i;
    status.tx_busy           = tx_busy_i;
    status.reads_outstanding = reads_i;

    devctl      = '0;
    devctl.mps  = mps_q;
    devctl.mrrs = mrrs_q;
    devctl.rcb  = rcb_q;
    {devctl.relaxed_ordering, devctl.no_snoop} = attr_q;

    rx_ctrl                  = '0;
    rx_ctrl.drop_bad_ip_csum = drop_ip_q;
    rx_ctrl.drop_bad_l4_csum = drop_l4_q;
    rx_ctrl.drop_bad_icrc    = drop_icrc_q;
    rx_ctrl.drop_bad_crc32c  = drop_crc32c_q;

    rx_default         = '0;
    rx_default.queue_f = default_queue_q;
    rx_default.action  = default_action_q;
    rx_default.rss_log = default_log_q;

    unique case (unit)
      RegId[RegAw-1:3]:       value = {ResetVersion, ResetId};
      RegCap0[RegAw-1:3]:     value = {32'(Parts), cap0};
      RegCtrl[RegAw-1:3]:     value = {status, ctrl};
      RegDevctl[RegAw-1:3]:   value = {cpl_timeout_q, devctl};
      RegRxCtrl[RegAw-1:3]:   value = {rx_default, rx_ctrl};
      RegRocePort[RegAw-1:3]: value = {scratch_q, 16'd0, roce_port_q};
      default:                value = 64'd0;
    endcase
    if (is_key(unit)) begin
      for (int k = 0; k < KeyUnits; k++) if (unit[5:3] == 3'(k)) value = rss_key_q[64*k +: 64];
    end
  endfunction

  always_comb begin
    rdata_o = 64'd0;
    if (rd_i) rdata_o = value(unit_i);
  end

  // Returns the configuration for the blocks, which see it one cycle later.
  function automatic cfg_t in_force();
    in_force                  = '0;
    in_force.attr             = attr_q;
    in_force.rx_enable        = rx_enable_q;
    in_force.tx_enable        = tx_enable_q;
    in_force.mps              = 10'd128 << (mps_q <= 3'd2 ? mps_q : 3'd0);
    in_force.mrrs             = 13'd128 << (mrrs_q <= 3'd5 ? mrrs_q : 3'd0);
    in_force.rcb128           = rcb_q;
    in_force.cpl_timeout      = cpl_timeout_q < CplTimeoutMin ? CplTimeoutMin : cpl_timeout_q;
    in_force.drop_ip_csum     = drop_ip_q;
    in_force.drop_l4_csum     = drop_l4_q;
    in_force.drop_icrc        = drop_icrc_q;
    in_force.drop_crc32c      = drop_crc32c_q;
    in_force.rx_default.queue_f  = default_queue_q;
    in_force.rx_default.to_queue = default_action_q == ActionQueue;
    in_force.rx_default.rss      = HasRss && default_action_q == ActionRss;
    in_force.rx_default.rss_log  = default_log_q > 4'(RssLogMax) ? 4'(RssLogMax) : default_log_q;
    in_force.roce_port        = roce_port_q;
  endfunction

  assign cfg_o     = cfg_q;
  assign changed_o = changed_q || cfg_q.flr || cfg_q.clear;
  assign rss_key_o = rss_key_q;

  always_ff @(posedge clk) begin
    changed_q <= we_i != 2'b00 || clear_i || rst;
    if (changed_q) cfg_q <= in_force();
    cfg_q.flr   <= flr_i;
    cfg_q.clear <= clear_i;
  end

  always_ff @(posedge clk) begin
    if (we_i != 2'b00) begin
      unique case (unit_i)
        RegCtrl[RegAw-1:3]: if (we_i[0]) begin
          rx_enable_q <= wdata_i[0] && !start_o;
          tx_enable_q <= wdata_i[1] && !start_o;
        end
        RegDevctl[RegAw-1:3]: begin
          if (we_i[0]) begin
            mps_q  <= wdata_i[2:0];
            mrrs_q <= wdata_i[6:4];
            rcb_q  <= wdata_i[8];
            if ((Parts & PartAttr) != 0) attr_q <= {wdata_i[9], wdata_i[10]};
          end
          if (we_i[1]) cpl_timeout_q <= wdata_i[63:32];
        end
        RegRxCtrl[RegAw-1:3]: begin
          if (we_i[0]) {drop_icrc_q, drop_l4_q, drop_ip_q} <= wdata_i[2:0];
          if (we_i[0] && (Parts & PartCrc32c) != 0) drop_crc32c_q <= wdata_i[3];
          if (we_i[1]) {default_action_q, default_queue_q} <= wdata_i[55:32];
          if (we_i[1] && HasRss) default_log_q <= wdata_i[59:56];
        end
        RegRocePort[RegAw-1:3]: begin
          if (we_i[0]) roce_port_q <= wdata_i[15:0];
          if (we_i[1]) scratch_q   <= wdata_i[63:32];
        end
        default: ;
      endcase
      if (is_key(unit_i)) begin
        for (int k = 0; k < KeyUnits; k++) begin
          if (unit_i[5:3] == 3'(k)) begin
            if (we_i[0]) rss_key_q[64*k +: 32]      <= wdata_i[31:0];
            if (we_i[1]) rss_key_q[64*k + 32 +: 32] <= wdata_i[63:32];
          end
        end
      end
    end
    if (rst || clear_i) begin
      {tx_enable_q, rx_enable_q}           <= ResetCtrl[1:0];
      mps_q                                <= ResetDevctl[2:0];
      mrrs_q                               <= ResetDevctl[6:4];
      rcb_q                                <= ResetDevctl[8];
      attr_q                               <= {ResetDevctl[9], ResetDevctl[10]};
      cpl_timeout_q                        <= ResetCplTimeout;
      {drop_crc32c_q, drop_icrc_q, drop_l4_q, drop_ip_q} <= ResetRxCtrl[3:0];
      {default_log_q, default_action_q, default_queue_q} <= ResetRxDefault[27:0];
      rss_key_q                            <= {RegRssKeyCount{ResetRssKey}};
      roce_port_q                          <= ResetRocePort[15:0];
      scratch_q                            <= ResetScratch;
    end
  end
endmodule
