/// Test device for nic_pause. Requests: commands of table PortCfg (op 0); set the class of a
/// transmit queue (op 1); write PORT_MAC (op 2); receive two pause frames and, some cycles later,
/// report which of queues 0 to 7 are held (op 3); step through three fill levels of the receive
/// buffer and then empty it, and report the pause frames sent meanwhile (op 4).

module blk_pause
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
  output logic [2111:0] m_axis_rsp_tdata,
  output logic          m_axis_rsp_tlast,
  output logic          m_axis_rsp_tvalid,
  input  logic          m_axis_rsp_tready
);
  localparam int Steps = 4;
  localparam int HeldW = 12;

  typedef struct packed {
    logic [1:0][EthW-1:0] frame;
    logic [31:0] probe;      // cycles from the second frame to the report
    logic [31:0] apart;      // cycles between the two frames, 1 or more
    logic [45:0] rsvd;
    logic [1:0]  dropped;    // a bit a frame: not honoured (too short, or rx_enable 0)
    logic [15:0] op;
  } frames_t;

  typedef struct packed {
    logic [Steps-1:0][31:0] cycles;
    logic [Steps-1:0][15:0] lines;
    logic [63:0] rsvd;
  } levels_t;

  typedef enum logic [3:0] {StIdle, StTable, StClass, StMac, StFirst, StApart, StSecond, StProbe,
      StTry, StClear,
                            StLevel, StEnd, StResult} state_e;

  state_e        state_q;
  logic [1151:0] o_q;
  table_op_t     t_op;
  frames_t       f;
  levels_t       l;
  logic [31:0]   timer_q;
  logic [2:0]    try_q;
  logic [1:0]    step_q, match_q;
  logic [7:0]    open_q, hold_q, bad_q;
  logic [Steps-1:0][7:0]      sent_q;
  logic [Steps-1:0][EthW-1:0] frame_q;
  logic [63:0]   mac_q, rdata;
  tbl_req_t      tbl, t_req;
  tbl_rsp_t      tbl_rsp, table_rsp, table_q;
  txq_entry_t    txq;
  reg_bus_t      bus;
  pause_cfg_t    cfg;
  pause_t        pause;
  rx_beat_t      beat;
  logic          match, table_done, level, idle, own, bad, s_valid, s_last, s_ready, m_valid,
      m_last, m_ready;
  logic          out_valid, out_last, out_ready, unused_sent, unused_busy;
  logic [63:0]   hold;
  logic [EthW-1:0] m_data, own_data;
  logic [EthB-1:0] m_keep;
  logic [15:0]   m_user;

  assign t_op  = table_op_t'(o_q[$bits(table_op_t)-1:0]);
  assign f     = frames_t'(o_q);
  assign l     = levels_t'(o_q[$bits(levels_t)-1:0]);
  assign level = state_q == StLevel;
  assign s_axis_req_tready = state_q == StIdle;
  assign m_axis_rsp_tvalid = state_q == StResult;
  assign m_axis_rsp_tlast  = 1'b1;

  always_comb begin
    txq           = '0;
    txq.pfc_class = o_q[23:16];
    tbl           = t_req;
    if (state_q == StClass) tbl = '{valid: 1'b0, write: 1'b1, id: TableTxq, index: 16'(o_q[15:8]),
        wdata: 1024'(txq)};
    bus = '{we: state_q == StMac && timer_q == 32'd0 ? o_q[9:8] : 2'b00, rd: state_q == StMac,
            unit: RegPortMacBase[RegAw-1:3], wdata: o_q[127:64]};
    beat       = '0;
    beat.valid = state_q == StFirst || state_q == StSecond;
    beat.first = 1'b1;
    beat.last  = 1'b1;
    beat.bytes = 7'd64;
    // To see whether a frame may begin, offer a frame of one beat; withdraw it if it may not.
    s_valid = state_q == StTry || out_valid;
    s_last  = state_q == StTry || out_last;
    m_ready = state_q == StTry || out_ready;
    unique case (o_q[7:0])
      8'd0:    m_axis_rsp_tdata = 2112'(table_res(8'd0, table_q));
      8'd2:    m_axis_rsp_tdata = 2112'({mac_q, 56'h0, o_q[7:0]});
      8'd3:    m_axis_rsp_tdata = 2112'({24'h0, hold_q, open_q, 7'h0, match_q[1], 7'h0,
          match_q[0], o_q[7:0]});
      default: m_axis_rsp_tdata = 2112'({frame_q, 16'h0, bad_q, sent_q, o_q[7:0]});
    endcase
  end

  blk_table u_table (
    .clk, .rst, .start_i(state_q == StIdle && s_axis_req_tvalid && s_axis_req_tdata[7:0] == 8'd0),
    .req_i(table_req(table_op_t'(s_axis_req_tdata[$bits(table_op_t)-1:0]))), .tbl_o(t_req),
    .tbl_i(tbl_rsp),
    .done_o(table_done), .rsp_o(table_rsp)
  );

  nic_pause_rx u_rx (
    .clk, .rst, .cfg_i(cfg), .beat_i(beat), .data_i(f.frame[state_q == StSecond]), .match_o(match),
    .honour_i(match && beat.valid && !f.dropped[state_q == StSecond]), .pause_o(pause)
  );

  nic_pause #(.HeldW(HeldW)) u_pause (
    .clk, .rst, .flr_i(state_q == StClear), .tbl_i(tbl), .tbl_o(tbl_rsp),
    .txq_commit_i(state_q == StClass),
    .reg_i(bus), .reg_rdata_o(rdata), .cfg_o(cfg), .pause_i(pause),
    .held_i(level ? l.lines[step_q][HeldW-1:0] : '0),
    .hold_o(hold), .s_axis_eth_tdata('1), .s_axis_eth_tkeep('1), .s_axis_eth_tlast(s_last),
    .s_axis_eth_tuser(16'(try_q)),
    .s_axis_eth_tvalid(s_valid), .s_axis_eth_tready(s_ready), .m_axis_eth_tdata(m_data),
    .m_axis_eth_tkeep(m_keep),
    .m_axis_eth_tlast(m_last), .m_axis_eth_tuser(m_user), .m_axis_eth_tvalid(m_valid),
    .m_axis_eth_tready(m_ready),
    .sent_o(unused_sent), .busy_o(unused_busy)
  );

  blk_pause_out u_out (
    .clk, .rst, .run_i(level), .idle_o(idle), .s_valid_o(out_valid), .s_last_o(out_last),
    .s_ready_i(s_ready),
    .m_valid_i(m_valid), .m_last_i(m_last), .m_user_i(m_user), .m_data_i(m_data), .m_keep_i(m_keep),
    .m_ready_o(out_ready), .own_o(own), .data_o(own_data), .bad_o(bad)
  );

  always_ff @(posedge clk) begin
    timer_q <= timer_q + 32'd1;
    unique case (state_q)
      StIdle: begin
        timer_q <= '0;
        {step_q, try_q, match_q, open_q, bad_q, sent_q, frame_q} <= '0;
        o_q <= s_axis_req_tdata;
        if (s_axis_req_tvalid) begin
          unique case (s_axis_req_tdata[7:0])
            8'd0:    state_q <= StTable;
            8'd1:    state_q <= StClass;
            8'd2:    state_q <= StMac;
            8'd3:    state_q <= StFirst;
            default: state_q <= StLevel;
          endcase
        end
      end
      StTable: if (table_done) {state_q, table_q} <= {StResult, table_rsp};
      StClass: state_q <= StIdle;
      StMac: if (timer_q == 32'd1) {state_q, mac_q} <= {StResult, rdata};
      StFirst: {state_q, timer_q, match_q[0]} <= {StApart, 32'd0, match};
      StApart: if (timer_q >= f.apart) state_q <= StSecond;
      StSecond: {state_q, timer_q, match_q[1]} <= {StProbe, 32'd0, match};
      StProbe: if (timer_q >= f.probe) {state_q, hold_q} <= {StTry, hold[7:0]};
      StTry: begin
        open_q[try_q] <= m_valid;
        try_q         <= try_q + 3'd1;
        if (try_q == 3'd7) state_q <= StClear;
      end
      StClear: state_q <= StResult;
      StLevel: begin
        if (own) begin
          sent_q[step_q]  <= sent_q[step_q] + 8'd1;
          frame_q[step_q] <= own_data;
        end
        if (bad) bad_q <= bad_q + 8'd1;
        if (timer_q >= l.cycles[step_q]) begin
          timer_q <= '0;
          step_q  <= step_q + 2'd1;
          if (step_q == 2'(Steps - 1)) state_q <= StEnd;
        end
      end
      StEnd: if (idle) state_q <= StResult;
      default: if (m_axis_rsp_tready) state_q <= StIdle;
    endcase
    if (rst) state_q <= StIdle;
  end

  logic unused_bits;
  assign unused_bits = ^{s_axis_req_tlast, t_op, o_q, f, l, hold, table_q};
endmodule
