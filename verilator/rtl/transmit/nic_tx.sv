/// Transmit: doorbells and work entries in, frames out on Ethernet, completion entries as writes.
/// Queues -> checked entries with bus addresses -> each port's gather -> offloads -> output ->
/// completion; copies leave this path before the ports. A queue's entries keep their order.

module nic_tx
  import nic_pkg::*, nic_int_pkg::*, nic_tx_pkg::*;
#(
  // Number of Ethernet ports, 1 or 2.
  parameter int Ports = 1,
  // Bits of an Ethernet stream at the pins.
  parameter int EthBits = EthW,
  // Number of transmit queues, a power of two, 4 to 256.
  parameter int NumTxq = 64,
  // Number of memory keys, a power of two, 16 to 4,096.
  parameter int NumKeys = 256,
  // Reads of work entries in flight, a power of two.
  parameter int FetchSlots = 64,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault,
  // Frames (GatherSlots) and lines of 128 bytes in a port's gather buffer, powers of two.
  parameter int GatherSlots = 256,
  parameter int GatherLines = 512,
  // Width of a count of 64 B lines that received frames hold.
  parameter int HeldW = 12
) (
  input  logic                    clk,
  input  logic                    rst,
  output logic [Ports*EthW-1:0]   m_axis_eth_tdata,
  output logic [Ports*EthB-1:0]   m_axis_eth_tkeep,
  output logic [Ports-1:0]        m_axis_eth_tlast,
  output logic [Ports*16-1:0]     m_axis_eth_tuser,
  output logic [Ports-1:0]        m_axis_eth_tvalid,
  input  logic [Ports-1:0]        m_axis_eth_tready,
  input  cfg_t                    cfg_i,
  input  tbl_req_t                tbl_i,
  output tbl_rsp_t                tbl_o,
  // Pulse: the Txq entry on the table bus takes effect.
  output logic                    commit_o,
  // flush_o: the queue on the table bus is being disabled and has drained. flushed_i: messages have
  // reported all its entries.
  output logic                    flush_o,
  input  logic                    flushed_i,
  input  doorbell_t               db_i,
  // Work entry pushed with the doorbell, if any.
  input  push_t                   push_i,
  // Read client of work entries.
  output rd_req_t                 wqe_rd_req_o,
  output logic                    wqe_rd_req_valid_o,
  input  logic                    wqe_rd_req_ready_i,
  input  rd_rsp_t                 wqe_rd_rsp_i,
  // Read clients of pieces, one a port.
  output rd_req_t                 gat_rd_req_o [Ports],
  output logic [Ports-1:0]        gat_rd_req_valid_o,
  input  logic [Ports-1:0]        gat_rd_req_ready_i,
  input  rd_rsp_t                 gat_rd_rsp_i,
  // Read client of the copy engine.
  output rd_req_t                 copy_rd_req_o,
  output logic                    copy_rd_req_valid_o,
  input  logic                    copy_rd_req_ready_i,
  input  rd_rsp_t                 copy_rd_rsp_i,
  // TLPs of the copy engine.
  output tlp_beat_t               copy_tlp_o,
  output logic                    copy_tlp_valid_o,
  input  logic                    copy_tlp_ready_i,
  // Pulse: in the cycle before, a TLP of the copy engine was accepted at the TLP port.
  input  logic                    copy_left_i,
  // Bytes to add to COPY_BYTES.
  output logic [7:0]              copy_bytes_o,
  // Completion entries, as write TLPs.
  output tlp_beat_t               tlp_o,
  output logic                    tlp_valid_o,
  input  logic                    tlp_ready_i,
  // Accesses to the registers of this path, PORT_MAC.
  input  reg_bus_t                reg_i,
  output logic [63:0]             reg_rdata_o,
  // For each port: which pause frames it honours.
  output pause_cfg_t [Ports-1:0]  pause_cfg_o,
  // For each port: a pulse with a pause frame that was honoured.
  input  pause_t     [Ports-1:0]  pause_i,
  // For each port: 64 B lines that frames hold in its receive buffer.
  input  logic [Ports-1:0][HeldW-1:0] held_i,
  output logic [Ports-1:0][31:0]  port_evt_o,
  output logic [Ports-1:0][31:0]  bytes_o,
  output logic [15:0]             dev_evt_o,
  output logic                    busy_o
);
  localparam int Qw      = $clog2(NumTxq);
  localparam bit HasCopy = (Parts & PartCopy) != 0;
  // Entries that may wait for a port's gather buffer; 0 in builds with only one lane.
  localparam int Sends   = Ports > 1 || HasCopy || (Parts & PartLong) != 0 ? 16 : 0;
  // Sources of ended entries: the ports, the copy engine and, with two ports, entries that send
  // nothing.
  localparam int NoPort  = Ports + 1;
  localparam int Ends    = NoPort + (Ports > 1 ? 1 : 0);

  if (Ports < 1 || Ports > 2) begin : g_bad_ports
    $fatal(1, "nic_tx: Ports must be 1 or 2");
  end
  if (NumTxq < 4 || NumTxq > 256 || (1 << Qw) != NumTxq) begin : g_bad_queues
    $fatal(1, "nic_tx: NumTxq must be a power of two, 4 to 256");
  end
  if (NumKeys < 16 || NumKeys > 4096 || (1 << $clog2(NumKeys)) != NumKeys) begin : g_bad_keys
    $fatal(1, "nic_tx: NumKeys must be a power of two, 16 to 4096");
  end

  logic          q_valid, q_ready, e_valid, e_ready;
  tx_id_t        q_id;
  logic [511:0]  q_wqe;
  logic [1:0]    q_ecn;
  tx_ent_t       ent;
  logic          txq_done, key_done;
  table_status_e txq_status, key_status;
  logic [511:0]  txq_rdata;
  logic [255:0]  key_rdata;
  tbl_rsp_t      tbl_q, pause_rsp;
  logic [Qw-1:0] end_q, cqe_q;
  logic [63:0]   end_base;
  logic [3:0]    end_log;
  logic [15:0]   end_cqi;
  logic [1:0]    end_more;
  logic          q_more, ended, end_wqe, end_cqe, end_bad, queue_err, db_bad, txq_busy;
  logic          unused_cfg, pause_busy;

  logic [Ends-1:0] end_valid, end_ready;
  tx_id_t          end_id  [Ends];
  logic [13:0]     end_len [Ends];
  logic            no_port_ready;

  // Signals of each port's lane.
  logic [Ports-1:0]      p_ready, taken, sent, sent_last, pause_sent, gather_busy;
  logic [Ports-1:0][6:0] sent_bytes;

  // Frames of the lanes, before nic_pause.
  logic [Ports*EthW-1:0]  o_tdata;
  logic [Ports*EthB-1:0]  o_tkeep;
  logic [Ports-1:0]       o_tlast, o_tvalid, o_tready;
  logic [Ports*16-1:0]    o_tuser;
  logic [NumTxq-1:0]      held_queues;

  assign unused_cfg = ^cfg_i;
  assign busy_o     = txq_busy || gather_busy != '0 || tlp_valid_o || pause_busy;
  assign tbl_o      = tbl_q;

  nic_txq #(
    .Ports(Ports), .NumTxq(NumTxq), .FetchSlots(FetchSlots), .Sends(Sends), .Parts(Parts)
  ) u_txq (
    .clk, .rst, .enable_i(cfg_i.tx_enable), .flr_i(cfg_i.flr),
    .short_i(cfg_i.mrrs == 13'd128), .pause_i(held_queues), .tbl_i,
    .tbl_done_o(txq_done), .tbl_status_o(txq_status), .tbl_rdata_o(txq_rdata), .commit_o,
    .flush_o, .flushed_i, .db_i, .push_i, .rd_req_o(wqe_rd_req_o),
    .rd_req_valid_o(wqe_rd_req_valid_o),
    .rd_req_ready_i(wqe_rd_req_ready_i), .rd_rsp_i(wqe_rd_rsp_i), .valid_o(q_valid),
    .ready_i(q_ready), .id_o(q_id), .wqe_o(q_wqe), .more_o(q_more), .ecn_o(q_ecn), .sent_i(taken),
    .end_q_i(end_q), .end_base_o(end_base), .end_log_o(end_log), .end_cqi_o(end_cqi),
    .end_i(ended), .end_wqe_i(end_wqe), .end_more_i(end_more),
    .end_cqe_i(end_cqe), .cqe_i(tlp_valid_o), .cqe_q_i(cqe_q), .queue_err_o(queue_err),
    .db_bad_o(db_bad), .busy_o(txq_busy)
  );

  nic_wqe #(.Ports(Ports), .NumKeys(NumKeys), .Parts(Parts)) u_wqe (
    .clk, .rst, .tbl_i, .tbl_done_o(key_done), .tbl_status_o(key_status),
    .tbl_rdata_o(key_rdata), .valid_i(q_valid), .ready_o(q_ready), .id_i(q_id), .wqe_i(q_wqe),
    .more_i(q_more), .ecn_i(q_ecn),
    .valid_o(e_valid), .ready_i(e_ready), .ent_o(ent)
  );

  // Here entries divide into lanes. nic_txpark passes an entry only when its lane has room, so that
  // none blocks another here.
  assign e_ready        = ent.copy.any || (ent.f.id.no_port ? no_port_ready :
                          (p_ready >> ent.f.id.port & Ports'(1)) != '0);
  assign end_len[Ports] = '0;

  if (Ports > 1) begin : g_no_port
    nic_fifo #(.Width($bits(tx_id_t)), .Depth(Sends)) u_no_port (
      .clk, .rst, .in_valid_i(e_valid && !ent.copy.any && ent.f.id.no_port),
      .in_ready_o(no_port_ready), .in_data_i(ent.f.id), .out_valid_o(end_valid[NoPort]),
      .out_ready_i(end_ready[NoPort]), .out_data_o(end_id[NoPort])
    );
    assign end_len[NoPort] = '0;
  end else begin : g_all_ports
    assign no_port_ready = 1'b0;
  end

  if (HasCopy) begin : g_copy
    copy_job_t job;

    always_comb begin
      job = '0;
      if (e_valid && ent.copy.any) begin
        job = '{id: ent.f.id, move: ent.copy.move, inval: ent.copy.inval, len: ent.copy.len,
                src: ent.seg_addr[0], dst: ent.seg_addr[1]};
      end
    end

    nic_copy u_copy (
      .clk, .rst, .mps_i(cfg_i.mps), .attr_i(cfg_i.attr), .flr_i(cfg_i.flr),
      .job_valid_i(e_valid && ent.copy.any),
      .job_i(job),
      .rd_req_o(copy_rd_req_o), .rd_req_valid_o(copy_rd_req_valid_o),
      .rd_req_ready_i(copy_rd_req_ready_i), .rd_rsp_i(copy_rd_rsp_i), .tlp_o(copy_tlp_o),
      .tlp_valid_o(copy_tlp_valid_o), .tlp_ready_i(copy_tlp_ready_i), .left_i(copy_left_i),
      .end_valid_o(end_valid[Ports]), .end_ready_i(end_ready[Ports]), .end_id_o(end_id[Ports]),
      .bytes_o(copy_bytes_o)
    );
  end else begin : g_no_copy
    logic unused_copy;
    assign unused_copy         = ^{copy_rd_req_ready_i, copy_rd_rsp_i, copy_tlp_ready_i,
                                   copy_left_i, end_ready[Ports]};
    assign copy_rd_req_o       = '0;
    assign copy_rd_req_valid_o = 1'b0;
    assign copy_tlp_o          = '0;
    assign copy_tlp_valid_o    = 1'b0;
    assign copy_bytes_o        = '0;
    assign end_valid[Ports]    = 1'b0;
    assign end_id[Ports]       = '0;
  end

  for (genvar p = 0; p < Ports; p++) begin : g_port
    eth_beat_t m;

    nic_txport #(
      .Parts(Parts), .Client(RdGather + p), .Sends(Sends), .Slots(GatherSlots),
      .Lines(GatherLines)
    ) u_port (
      .clk, .rst, .valid_i(e_valid && !ent.copy.any && !ent.f.id.no_port && ent.f.id.port == 1'(p)),
      .ready_o(p_ready[p]), .ent_i(ent), .taken_o(taken[p]), .rd_req_o(gat_rd_req_o[p]),
      .rd_req_valid_o(gat_rd_req_valid_o[p]), .rd_req_ready_i(gat_rd_req_ready_i[p]),
      .rd_rsp_i(gat_rd_rsp_i), .m_o(m), .m_user_o(o_tuser[16*p +: 16]),
      .m_valid_o(o_tvalid[p]), .m_ready_i(o_tready[p]), .end_valid_o(end_valid[p]),
      .end_ready_i(end_ready[p]), .end_id_o(end_id[p]), .end_len_o(end_len[p]),
      .sent_o(sent[p]), .sent_bytes_o(sent_bytes[p]), .sent_last_o(sent_last[p]),
      .busy_o(gather_busy[p])
    );

    assign o_tdata[EthW*p +: EthW] = m.data;
    assign o_tkeep[EthB*p +: EthB] = m.keep;
    assign o_tlast[p]              = m.last;
  end

  if ((Parts & PartPause) != 0) begin : g_pause
    nic_pause #(.Ports(Ports), .EthBits(EthBits), .NumTxq(NumTxq), .HeldW(HeldW)) u_pause (
      .clk, .rst, .flr_i(cfg_i.flr), .tbl_i, .tbl_o(pause_rsp), .txq_commit_i(commit_o), .reg_i,
      .reg_rdata_o, .cfg_o(pause_cfg_o), .pause_i, .held_i, .hold_o(held_queues),
      .s_axis_eth_tdata(o_tdata), .s_axis_eth_tkeep(o_tkeep), .s_axis_eth_tlast(o_tlast),
      .s_axis_eth_tuser(o_tuser), .s_axis_eth_tvalid(o_tvalid), .s_axis_eth_tready(o_tready),
      .m_axis_eth_tdata, .m_axis_eth_tkeep, .m_axis_eth_tlast, .m_axis_eth_tuser,
      .m_axis_eth_tvalid, .m_axis_eth_tready, .sent_o(pause_sent), .busy_o(pause_busy)
    );
  end else begin : g_no_pause
    logic unused_pause;
    assign unused_pause = ^{reg_i, pause_i, held_i};
    assign {m_axis_eth_tdata, m_axis_eth_tkeep, m_axis_eth_tlast, m_axis_eth_tuser} =
           {o_tdata, o_tkeep, o_tlast, o_tuser};
    assign m_axis_eth_tvalid = o_tvalid;
    assign o_tready          = m_axis_eth_tready;
    assign reg_rdata_o       = '0;
    assign pause_cfg_o       = '0;
    assign held_queues       = '0;
    assign pause_sent        = '0;
    assign pause_rsp         = '0;
    assign pause_busy        = 1'b0;
  end

  nic_txcqe #(.NumTxq(NumTxq), .Sources(Ends)) u_cqe (
    .clk, .rst, .valid_i(end_valid), .ready_o(end_ready), .id_i(end_id), .len_i(end_len),
    .q_o(end_q), .base_i(end_base), .log_i(end_log),
    .cqi_i(end_cqi), .end_o(ended), .end_wqe_o(end_wqe), .end_more_o(end_more), .end_cqe_o(end_cqe),
    .end_bad_o(end_bad), .tlp_o, .tlp_valid_o, .tlp_ready_i, .tlp_q_o(cqe_q)
  );

  nic_txsent #(.Ports(Ports)) u_sent (
    .clk, .rst, .sent_i(sent), .bytes_i(sent_bytes), .last_i(sent_last), .pause_i(pause_sent),
    .evt_o(port_evt_o), .bytes_o
  );

  // Table answers and counter pulses leave from registers.
  always_ff @(posedge clk) begin
    tbl_q.done <= (txq_done || key_done || pause_rsp.done) && !rst;
    if (pause_rsp.done) begin
      tbl_q.status <= pause_rsp.status;
      tbl_q.rdata  <= pause_rsp.rdata;
    end
    if (txq_done) begin
      tbl_q.status <= txq_status;
      tbl_q.rdata  <= 1024'(txq_rdata);
    end
    if (key_done) begin
      tbl_q.status <= key_status;
      tbl_q.rdata  <= 1024'(key_rdata);
    end
    dev_evt_o                                  <= '0;
    dev_evt_o[CntTxWqe - CntDeviceBase]        <= end_wqe && !rst;
    dev_evt_o[CntTxErr - CntDeviceBase]        <= end_bad && !rst;
    dev_evt_o[CntQueueErr - CntDeviceBase]     <= queue_err && !rst;
    dev_evt_o[CntDbBad - CntDeviceBase]        <= db_bad && !rst;
    dev_evt_o[CntTxCqe - CntDeviceBase]        <= end_cqe && !rst;
  end
endmodule
