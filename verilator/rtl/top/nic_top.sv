/// The NIC: Ethernet streams, and one TLP stream each way (contract section 1). Connects receive
/// path, transmit path, reader and registers; its only logic combines counter events and busy.

module nic_top
  import nic_pkg::*, nic_int_pkg::*;
#(
  // Number of Ethernet ports, 1 or 2.
  parameter int Ports = 1,
  // Bits of an Ethernet stream: 256 or 512 in this build.
  parameter int EthBits = 512,
  // Bits of a TLP stream: 1,024 in this build.
  parameter int TlpBits = 1024,
  // Number of receive queues, a power of two, 4 to 256.
  parameter int NumRxq = 64,
  // Number of transmit queues, a power of two, 4 to 256.
  parameter int NumTxq = 64,
  // Number of memory keys, a power of two, 16 to 4,096.
  parameter int NumKeys = 256,
  // Number of steering rules, 4 to 256.
  parameter int NumRules = 64,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic                       clk,
  input  logic                       rst,

  // Ethernet in, one lane for each port.
  input  logic [Ports*EthBits-1:0]   s_axis_eth_tdata,
  input  logic [Ports*EthBits/8-1:0] s_axis_eth_tkeep,
  input  logic [Ports-1:0]           s_axis_eth_tlast,
  input  logic [Ports-1:0]           s_axis_eth_tvalid,
  output logic [Ports-1:0]           s_axis_eth_tready,

  // Ethernet out, one lane for each port; tuser is the frame's transmit queue.
  output logic [Ports*EthBits-1:0]   m_axis_eth_tdata,
  output logic [Ports*EthBits/8-1:0] m_axis_eth_tkeep,
  output logic [Ports-1:0]           m_axis_eth_tlast,
  output logic [Ports*16-1:0]        m_axis_eth_tuser,
  output logic [Ports-1:0]           m_axis_eth_tvalid,
  input  logic [Ports-1:0]           m_axis_eth_tready,

  // TLPs in: a packet is one TLP, thdr its header.
  input  logic [TlpBits-1:0]         s_axis_tlp_tdata,
  input  logic [TlpBits/32-1:0]      s_axis_tlp_tkeep,
  input  logic [127:0]               s_axis_tlp_thdr,
  input  logic                       s_axis_tlp_tlast,
  input  logic                       s_axis_tlp_tvalid,
  output logic                       s_axis_tlp_tready,

  // TLPs out, with the same signals as TLPs in.
  output logic [TlpBits-1:0]         m_axis_tlp_tdata,
  output logic [TlpBits/32-1:0]      m_axis_tlp_tkeep,
  output logic [127:0]               m_axis_tlp_thdr,
  output logic                       m_axis_tlp_tlast,
  output logic                       m_axis_tlp_tvalid,
  input  logic                       m_axis_tlp_tready,

  output logic                       busy
);
  if (Ports < 1 || Ports > 2) begin : g_bad_ports
    $fatal(1, "nic_top: Ports must be 1 or 2");
  end
  if (EthBits != EthW && EthBits != EthW / 2) begin : g_bad_eth
    $fatal(1, "nic_top: EthBits must be 256 or 512 in this build");
  end
  if (TlpBits != TlpW) begin : g_bad_tlp
    $fatal(1, "nic_top: TlpBits must be 1024 in this build");
  end
  if (NumRxq < 4 || NumRxq > RxqMax || (1 << $clog2(NumRxq)) != NumRxq) begin : g_bad_rxq
    $fatal(1, "nic_top: NumRxq must be a power of two, 4 to 256");
  end
  if (NumTxq < 4 || NumTxq > TxqMax || (1 << $clog2(NumTxq)) != NumTxq) begin : g_bad_txq
    $fatal(1, "nic_top: NumTxq must be a power of two, 4 to 256");
  end
  if (NumKeys < 16 || NumKeys > 4096 || (1 << $clog2(NumKeys)) != NumKeys) begin : g_bad_keys
    $fatal(1, "nic_top: NumKeys must be a power of two, 16 to 4096");
  end
  if (NumRules < 4 || NumRules > RulesMax) begin : g_bad_rules
    $fatal(1, "nic_top: NumRules must be 4 to 256");
  end
  if ((Parts & ~PartsAll) != 0) begin : g_bad_parts
    $fatal(1, "nic_top: Parts has bits that CAP1 does not know");
  end

  // Read clients; counter sources; cycles that busy outlasts activity; width of held-line counts.
  localparam int Clients   = 3 + Ports;
  localparam int EvtSources = 6;
  localparam int BusyTail  = 4;
  localparam int HeldW     = $clog2(RxBufBytes / 64) + 2;

  logic [Ports*EthW-1:0]       in_tdata, out_tdata;
  logic [Ports*EthB-1:0]       in_tkeep, out_tkeep;
  logic [Ports-1:0]            in_tlast, in_tvalid, out_tlast, out_tvalid, out_tready;
  cfg_t                        cfg;
  rss_key_t                    rss_key;
  reg_bus_t                    reg_bus;
  logic [63:0]                 rx_reg, tx_reg;
  pause_cfg_t [Ports-1:0]      pause_cfg;
  pause_t [Ports-1:0]          pause;
  logic [Ports-1:0][HeldW-1:0] held;
  tbl_req_t                    tbl;
  tbl_rsp_t                    rx_tbl, tx_tbl;
  doorbell_t                   rx_db, tx_db;
  rd_req_t                     rd_req [Clients];
  logic [Clients-1:0]          rd_valid, rd_ready;
  rd_rsp_t                     rd_rsp;
  tlp_beat_t                   rx_tlp, tx_tlp, copy_tlp;
  logic                        rx_tlp_valid, rx_tlp_ready, tx_tlp_valid, tx_tlp_ready;
  logic                        copy_tlp_valid, copy_tlp_ready, copy_left;
  logic [7:0]                  copy_bytes;
  logic [127:0]                mrd_hdr, cpl_hdr;
  logic                        mrd_valid, mrd_ready, sent;
  logic [7:0]                  sent_tag;
  logic                        cpl_valid, cpl_first, cpl_last, hold;
  logic [TlpD-1:0]             cpl_keep;
  logic [TlpW-1:0]             cpl_data;
  reg_req_t                    reg_req;
  logic                        reg_valid, reg_ready;
  logic [511:0]                reg_push_wqe;
  push_t                       push;
  answer_t                     ans;
  logic [63:0]                 ans_data;
  logic                        ans_valid, ans_ready;
  msg_t                        msg;
  logic                        msg_valid, msg_ready, taken, msg_sent, msix_work, msix_busy;
  logic                        rst_work, rx_work;
  left_t                       left;
  logic                        rx_commit, tx_commit, rx_flush, tx_flush, flushed;
  logic [Ports-1:0][31:0]      rx_evt, tx_evt;
  logic [Ports-1:0][31:0]      rx_bytes, tx_bytes;
  logic [Ports-1:0]            rx_disabled;
  logic [15:0]                 rx_dev, tx_dev;
  logic [15:0]                 dev_evt [EvtSources];
  logic                        bad_access, unsupported;
  logic [1:0]                  bad_command;
  logic                        unexpected, cpl_err, cpl_timeout;
  logic                        cnt_rd;
  logic [7:0]                  cnt_index, hits_index;
  logic [63:0]                 cnt_data, hits;
  logic                        eth_busy, rx_busy, tx_busy, demux_busy, mux_busy, reader_busy;
  logic                        regs_busy, outstanding, active;
  logic [BusyTail-1:0]         tail_q;

  nic_eth #(.Ports(Ports), .EthBits(EthBits)) u_eth (
    .clk, .rst,
    .s_axis_eth_tdata, .s_axis_eth_tkeep, .s_axis_eth_tlast, .s_axis_eth_tvalid,
    .m_axis_eth_tdata, .m_axis_eth_tkeep, .m_axis_eth_tlast, .m_axis_eth_tvalid,
    .m_axis_eth_tready,
    .rx_tdata_o(in_tdata), .rx_tkeep_o(in_tkeep), .rx_tlast_o(in_tlast), .rx_tvalid_o(in_tvalid),
    .tx_tdata_i(out_tdata), .tx_tkeep_i(out_tkeep), .tx_tlast_i(out_tlast),
    .tx_tvalid_i(out_tvalid), .tx_tready_o(out_tready), .busy_o(eth_busy)
  );

  nic_tlp_demux #(.Parts(Parts)) u_demux (
    .clk, .rst,
    .s_axis_tlp_tdata, .s_axis_tlp_tkeep, .s_axis_tlp_thdr, .s_axis_tlp_tlast,
    .s_axis_tlp_tvalid, .s_axis_tlp_tready,
    .hold_i(hold),
    .cpl_valid_o(cpl_valid), .cpl_first_o(cpl_first), .cpl_last_o(cpl_last),
    .cpl_hdr_o(cpl_hdr), .cpl_keep_o(cpl_keep), .cpl_data_o(cpl_data),
    .req_o(reg_req), .req_valid_o(reg_valid), .req_ready_i(reg_ready),
    .push_wqe_o(reg_push_wqe),
    .reg_bad_o(bad_access), .unsupported_o(unsupported), .busy_o(demux_busy)
  );

  nic_regs #(
    .Ports(Ports), .NumRxq(NumRxq), .NumTxq(NumTxq), .NumKeys(NumKeys), .NumRules(NumRules),
    .Parts(Parts)
  ) u_regs (
    .clk, .rst,
    .req_i(reg_req), .req_valid_i(reg_valid), .req_ready_o(reg_ready),
    .push_wqe_i(reg_push_wqe), .tx_push_o(push),
    .ans_o(ans), .ans_data_o(ans_data), .ans_valid_o(ans_valid), .ans_ready_i(ans_ready),
    .cfg_o(cfg), .rss_key_o(rss_key), .reg_o(reg_bus), .reg_rdata_i(rx_reg | tx_reg),
    .tbl_o(tbl), .rx_tbl_i(rx_tbl), .tx_tbl_i(tx_tbl),
    .rx_db_o(rx_db), .tx_db_o(tx_db),
    .cnt_rd_o(cnt_rd), .cnt_index_o(cnt_index), .cnt_data_i(cnt_data),
    .hits_index_o(hits_index), .hits_i(hits),
    .rx_busy_i(rx_busy), .tx_busy_i(tx_busy), .reads_i(outstanding),
    .work_i(rx_work || tx_busy || reader_busy || msix_work),
    .reg_bad_o(bad_command), .busy_o(regs_busy)
  );

  // Reset of everything that a function-level reset resets, at its end.
  assign rst_work = rst || cfg.clear;

  // Device counters: bit k of a source steps counter 128 + k.
  always_comb begin
    dev_evt[0] = rx_dev;
    dev_evt[1] = tx_dev;
    dev_evt[2] = 16'(bad_access) << (CntRegBad - CntDeviceBase) |
                 16'(unsupported) << (CntTlpUnsupported - CntDeviceBase) |
                 16'(unexpected) << (CntCplUnexpected - CntDeviceBase) |
                 16'(cpl_err) << (CntCplErr - CntDeviceBase) |
                 16'(cpl_timeout) << (CntCplTimeouts - CntDeviceBase);
    dev_evt[3] = 16'(bad_command[0]) << (CntRegBad - CntDeviceBase);
    dev_evt[4] = 16'(bad_command[1]) << (CntRegBad - CntDeviceBase);
    dev_evt[5] = 16'(msg_sent) << (CntMsix - CntDeviceBase);
  end

  nic_counters #(.Ports(Ports), .Sources(EvtSources)) u_counters (
    .clk, .rst,
    .port_evt_i(rx_evt | tx_evt), .disabled_i(rx_disabled), .rx_bytes_i(rx_bytes),
    .tx_bytes_i(tx_bytes),
    .copy_bytes_i(copy_bytes), .dev_evt_i(dev_evt), .rd_en_i(cnt_rd), .rd_index_i(cnt_index),
    .rd_data_o(cnt_data)
  );

  // Reads of work entries need no splitting. Those from client RdCopy on fetch copy or frame data.
  nic_reader #(
    .Clients(Clients), .DataClients({Clients{1'b1}} << RdCopy),
    .WholeClients(Clients'(1) << RdWqe)
  ) u_reader (
    .clk, .rst, .cfg_i(cfg),
    .req_i(rd_req), .req_valid_i(rd_valid), .req_ready_o(rd_ready), .rsp_o(rd_rsp),
    .mrd_hdr_o(mrd_hdr), .mrd_valid_o(mrd_valid), .mrd_ready_i(mrd_ready),
    .sent_i(sent), .sent_tag_i(sent_tag),
    .cpl_valid_i(cpl_valid), .cpl_first_i(cpl_first), .cpl_last_i(cpl_last),
    .cpl_hdr_i(cpl_hdr), .cpl_keep_i(cpl_keep), .cpl_data_i(cpl_data), .hold_o(hold),
    .unexpected_o(unexpected), .err_o(cpl_err), .timeout_o(cpl_timeout),
    .outstanding_o(outstanding), .busy_o(reader_busy)
  );

  nic_rx #(.Ports(Ports), .NumRxq(NumRxq), .NumRules(NumRules), .Parts(Parts)) u_rx (
    .clk, .rst,
    .s_axis_eth_tdata(in_tdata), .s_axis_eth_tkeep(in_tkeep), .s_axis_eth_tlast(in_tlast),
    .s_axis_eth_tvalid(in_tvalid), .s_axis_eth_tready,
    .cfg_i(cfg), .rss_key_i(rss_key), .tbl_i(tbl), .tbl_o(rx_tbl), .reg_i(reg_bus),
    .reg_rdata_o(rx_reg), .left_i(left), .pause_cfg_i(pause_cfg), .pause_o(pause), .held_o(held),
    .db_i(rx_db), .commit_o(rx_commit), .flush_o(rx_flush), .flushed_i(flushed),
    .rd_req_o(rd_req[RdRx]), .rd_req_valid_o(rd_valid[RdRx]), .rd_req_ready_i(rd_ready[RdRx]),
    .rd_rsp_i(rd_rsp), .tlp_o(rx_tlp), .tlp_valid_o(rx_tlp_valid), .tlp_ready_i(rx_tlp_ready),
    .port_evt_o(rx_evt), .disabled_o(rx_disabled), .bytes_o(rx_bytes), .dev_evt_o(rx_dev),
    .hits_index_i(hits_index), .hits_o(hits), .busy_o(rx_busy), .work_o(rx_work)
  );

  nic_tx #(
    .Ports(Ports), .EthBits(EthBits), .NumTxq(NumTxq), .NumKeys(NumKeys), .Parts(Parts),
    .HeldW(HeldW)
  ) u_tx (
    .clk, .rst(rst_work),
    .m_axis_eth_tdata(out_tdata), .m_axis_eth_tkeep(out_tkeep), .m_axis_eth_tlast(out_tlast),
    .m_axis_eth_tuser, .m_axis_eth_tvalid(out_tvalid), .m_axis_eth_tready(out_tready),
    .cfg_i(cfg), .tbl_i(tbl), .tbl_o(tx_tbl), .db_i(tx_db), .push_i(push),
    .commit_o(tx_commit), .flush_o(tx_flush), .flushed_i(flushed),
    .wqe_rd_req_o(rd_req[RdWqe]), .wqe_rd_req_valid_o(rd_valid[RdWqe]),
    .wqe_rd_req_ready_i(rd_ready[RdWqe]), .wqe_rd_rsp_i(rd_rsp),
    .gat_rd_req_o(rd_req[RdGather:Clients-1]), .gat_rd_req_valid_o(rd_valid[RdGather +: Ports]),
    .gat_rd_req_ready_i(rd_ready[RdGather +: Ports]), .gat_rd_rsp_i(rd_rsp),
    .copy_rd_req_o(rd_req[RdCopy]), .copy_rd_req_valid_o(rd_valid[RdCopy]),
    .copy_rd_req_ready_i(rd_ready[RdCopy]), .copy_rd_rsp_i(rd_rsp),
    .copy_tlp_o(copy_tlp), .copy_tlp_valid_o(copy_tlp_valid),
    .copy_tlp_ready_i(copy_tlp_ready), .copy_left_i(copy_left), .copy_bytes_o(copy_bytes),
    .tlp_o(tx_tlp), .tlp_valid_o(tx_tlp_valid), .tlp_ready_i(tx_tlp_ready),
    .reg_i(reg_bus), .reg_rdata_o(tx_reg), .pause_cfg_o(pause_cfg), .pause_i(pause), .held_i(held),
    .port_evt_o(tx_evt), .bytes_o(tx_bytes), .dev_evt_o(tx_dev), .busy_o(tx_busy)
  );

  if ((Parts & PartMsix) != 0) begin : g_msix
    nic_msix #(.NumRxq(NumRxq), .NumTxq(NumTxq)) u_msix (
      .clk, .rst(rst_work), .flr_i(cfg.flr), .tbl_i(tbl), .rx_commit_i(rx_commit),
      .tx_commit_i(tx_commit), .rx_flush_i(rx_flush), .tx_flush_i(tx_flush),
      .flushed_o(flushed), .taken_i(taken), .left_i(left), .msg_o(msg), .msg_valid_o(msg_valid),
      .msg_ready_i(msg_ready), .sent_o(msg_sent), .work_o(msix_work), .busy_o(msix_busy)
    );
  end else begin : g_no_msix
    logic unused_msix;
    assign unused_msix = ^{taken, left, msg_ready, rx_commit, tx_commit, rx_flush, tx_flush};
    assign flushed     = 1'b1;
    assign msg         = '0;
    assign msg_valid   = 1'b0;
    assign msg_sent    = 1'b0;
    assign msix_work   = 1'b0;
    assign msix_busy   = 1'b0;
  end

  nic_tlp_mux #(.Parts(Parts)) u_mux (
    .clk, .rst,
    .rx_i(rx_tlp), .rx_valid_i(rx_tlp_valid), .rx_ready_o(rx_tlp_ready),
    .tx_i(tx_tlp), .tx_valid_i(tx_tlp_valid), .tx_ready_o(tx_tlp_ready),
    .copy_i(copy_tlp), .copy_valid_i(copy_tlp_valid), .copy_ready_o(copy_tlp_ready),
    .mrd_hdr_i(mrd_hdr), .mrd_valid_i(mrd_valid), .mrd_ready_o(mrd_ready),
    .ans_i(ans), .ans_data_i(ans_data), .ans_valid_i(ans_valid), .ans_ready_o(ans_ready),
    .msg_i(msg), .msg_valid_i(msg_valid), .msg_ready_o(msg_ready),
    .m_axis_tlp_tdata, .m_axis_tlp_tkeep, .m_axis_tlp_thdr, .m_axis_tlp_tlast,
    .m_axis_tlp_tvalid, .m_axis_tlp_tready,
    .sent_o(sent), .sent_tag_o(sent_tag), .taken_o(taken), .left_o(left), .copy_left_o(copy_left),
    .busy_o(mux_busy)
  );

  // Work passes from block to block in a cycle or two; BusyTail cycles of busy cover the hand-over.
  assign active = eth_busy || demux_busy || regs_busy || reader_busy || rx_busy || tx_busy ||
                  mux_busy || msix_busy;
  assign busy   = active || tail_q != '0;

  always_ff @(posedge clk) begin
    tail_q <= {tail_q[BusyTail-2:0], active};
    if (rst) tail_q <= '0;
  end
endmodule
