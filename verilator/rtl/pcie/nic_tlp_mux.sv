/// Output of the TLP port: writes of the receive path, transmit completion entries, read requests,
/// answers, TLPs of the copy engine and messages take turns, a whole TLP each. Reports when read
/// requests, completion entries and messages are accepted.

`include "nic_assert.svh"

module nic_tlp_mux
  import nic_pkg::*, nic_int_pkg::*;
#(
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic             clk,
  input  logic             rst,
  // Writes of the receive path.
  input  tlp_beat_t        rx_i,
  input  logic             rx_valid_i,
  output logic             rx_ready_o,
  // Completion entries of the transmit path.
  input  tlp_beat_t        tx_i,
  input  logic             tx_valid_i,
  output logic             tx_ready_o,
  // Packets of the copy engine.
  input  tlp_beat_t        copy_i,
  input  logic             copy_valid_i,
  output logic             copy_ready_o,
  // Read requests: header only.
  input  logic [127:0]     mrd_hdr_i,
  input  logic             mrd_valid_i,
  output logic             mrd_ready_o,
  // Answers to register requests.
  input  answer_t          ans_i,
  input  logic [63:0]      ans_data_i,
  input  logic             ans_valid_i,
  output logic             ans_ready_o,
  // Messages (MSI-X).
  input  msg_t             msg_i,
  input  logic             msg_valid_i,
  output logic             msg_ready_o,
  output logic [TlpW-1:0]  m_axis_tlp_tdata,
  output logic [TlpD-1:0]  m_axis_tlp_tkeep,
  output logic [127:0]     m_axis_tlp_thdr,
  output logic             m_axis_tlp_tlast,
  output logic             m_axis_tlp_tvalid,
  input  logic             m_axis_tlp_tready,
  // Pulse: the read request with tag sent_tag_o is accepted in this cycle.
  output logic             sent_o,
  output logic [7:0]       sent_tag_o,
  // Pulse: a completion entry or a message came in. Only in builds with part msix or pause.
  output logic             taken_o,
  // Completion entry or message accepted in this cycle. Only in builds with part msix or pause.
  output left_t            left_o,
  // Pulse: in the cycle before, a packet of the copy engine was accepted.
  output logic             copy_left_o,
  // High while a packet is in the block.
  output logic             busy_o
);
  typedef enum logic [2:0] {SrcRx, SrcTx, SrcMrd, SrcAns, SrcCopy, SrcMsg} src_e;

  localparam logic [15:0] CompleterId = {RequesterNic[7:0], RequesterNic[15:8]};

  // Returns the header of an answer.
  function automatic logic [127:0] cpl_hdr(input answer_t a);
    cpl_hdr = '0;
    cpl_hdr[7:0]   = a.ok ? 8'h4a : 8'h0a;
    cpl_hdr[14:12] = a.tc;
    cpl_hdr[10]    = a.attr[2];
    cpl_hdr[21:20] = a.attr[1:0];
    cpl_hdr[31:24] = !a.ok ? 8'd0 : a.two ? 8'd2 : 8'd1;
    cpl_hdr[47:32] = CompleterId;
    cpl_hdr[51:48] = a.bytes[11:8];
    cpl_hdr[55:53] = a.ok ? 3'd0 : 3'd1;
    cpl_hdr[63:56] = a.bytes[7:0];
    cpl_hdr[79:64] = a.rid;
    cpl_hdr[87:80] = a.tag;
    cpl_hdr[94:88] = a.lower;
  endfunction

  logic [5:0] req;
  logic [2:0] turn, locked_src_q;
  src_e       src;
  logic       locked_q, any, unused_any, take, in_ready, unused_entry;
  tlp_beat_t  beat, out;

  assign req  = {msg_valid_i, copy_valid_i, ans_valid_i, mrd_valid_i, tx_valid_i, rx_valid_i};
  assign src  = src_e'(locked_q ? locked_src_q : turn);
  assign any  = req[src];
  assign take = any && in_ready;

  nic_arb #(.Num(6)) u_arb (
    .clk, .rst, .req_i(req), .take_i(take && !locked_q), .valid_o(unused_any), .index_o(turn)
  );

  // Select the source. The receive path, the most frequent one, has the first input.
  always_comb begin
    if (src == SrcRx) beat = rx_i;
    else unique case (src)
      SrcTx: beat = tx_i;
      SrcCopy: beat = copy_i;
      SrcMrd: begin
        beat      = '0;
        beat.last = 1'b1;
        beat.hdr  = mrd_hdr_i;
      end
      SrcMsg: begin
        beat            = '0;
        beat.last       = 1'b1;
        beat.hdr        = msg_i.hdr;
        beat.keep[0]    = 1'b1;
        beat.data[31:0] = msg_i.data;
      end
      default: begin
        beat            = '0;
        beat.last       = 1'b1;
        beat.hdr        = cpl_hdr(ans_i);
        beat.keep[0]    = ans_i.ok;
        beat.keep[1]    = ans_i.ok && ans_i.two;
        beat.data[63:0] = ans_i.ok ? ans_data_i : 64'd0;
      end
    endcase
  end

  assign rx_ready_o  = take && src == SrcRx;
  assign tx_ready_o  = take && src == SrcTx;
  assign mrd_ready_o = take && src == SrcMrd;
  assign ans_ready_o = take && src == SrcAns;
  assign copy_ready_o = take && src == SrcCopy;
  assign msg_ready_o = take && src == SrcMsg;

  always_ff @(posedge clk) begin
    if (take) begin
      locked_q     <= !beat.last;
      locked_src_q <= src;
    end
    if (rst) locked_q <= 1'b0;
  end

  // Messages and pause need to know which entries leave: type and queue travel with the packet.
  if ((Parts & (PartMsix | PartPause)) != 0) begin : g_mark
    left_t mark, mark_out;
    logic  unused_ready, unused_valid;

    always_comb begin
      mark = '0;
      if (src == SrcMsg) begin
        mark = '{entry: 1'b0, msg: 1'b1, event_f: 1'b0, tx: msg_i.tx, queue_f: msg_i.queue_f};
      end else if (beat.entry) begin
        mark = '{entry: 1'b1, msg: 1'b0, event_f: beat.data[7:0] == CqeTypeEvent,
                 tx: src == SrcTx, queue_f: beat.data[23:16]};
      end
    end
    nic_skid #(.Width($bits(left_t))) u_mark (
      .clk, .rst,
      .in_valid_i(any), .in_ready_o(unused_ready), .in_data_i(mark),
      .out_valid_o(unused_valid), .out_ready_i(m_axis_tlp_tready), .out_data_o(mark_out)
    );

    assign taken_o = take && (mark.entry || mark.msg);
    assign left_o  = m_axis_tlp_tvalid && m_axis_tlp_tready ? mark_out : '0;
  end else begin : g_no_mark
    logic unused_mark;
    assign unused_mark = ^msg_i;
    assign taken_o     = 1'b0;
    assign left_o      = '0;
  end

  if ((Parts & PartCopy) != 0) begin : g_copy
    logic of_copy, left_q, unused_ready, unused_valid;
    nic_skid #(.Width(1)) u_copy (
      .clk, .rst, .in_valid_i(any), .in_ready_o(unused_ready), .in_data_i(src == SrcCopy),
      .out_valid_o(unused_valid), .out_ready_i(m_axis_tlp_tready), .out_data_o(of_copy)
    );
    always_ff @(posedge clk) begin
      left_q <= of_copy && m_axis_tlp_tvalid && m_axis_tlp_tready && m_axis_tlp_tlast && !rst;
    end
    assign copy_left_o = left_q;
  end else begin : g_no_copy
    assign copy_left_o = 1'b0;
  end

  nic_skid #(.Width($bits(tlp_beat_t))) u_out (
    .clk, .rst,
    .in_valid_i(any), .in_ready_o(in_ready), .in_data_i(beat),
    .out_valid_o(m_axis_tlp_tvalid), .out_ready_i(m_axis_tlp_tready), .out_data_o(out)
  );

  assign unused_entry     = out.entry;
  assign m_axis_tlp_tdata = out.data;
  assign m_axis_tlp_tkeep = out.keep;
  assign m_axis_tlp_thdr  = out.hdr;
  assign m_axis_tlp_tlast = out.last;

  // Memory reads are the device's only TLPs whose first byte is 0x00 or 0x20.
  assign sent_o     = m_axis_tlp_tvalid && m_axis_tlp_tready &&
                      {out.hdr[7:6], out.hdr[4:0]} == 7'd0;
  assign sent_tag_o = out.hdr[55:48];
  assign busy_o     = m_axis_tlp_tvalid || any;

  `NIC_HELD(a_held, m_axis_tlp_tvalid, m_axis_tlp_tready,
    {m_axis_tlp_tdata, m_axis_tlp_tkeep, m_axis_tlp_thdr, m_axis_tlp_tlast})
  `NIC_KEEP(a_keep, m_axis_tlp_tvalid, m_axis_tlp_tkeep, m_axis_tlp_tlast)
endmodule
