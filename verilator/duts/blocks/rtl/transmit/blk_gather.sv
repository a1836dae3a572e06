/// Test device for nic_gather, with a memory. Requests: entries; result: their frames line by line,
/// each followed by a beat of side-band fields. An entry with a failing read waits until no other
/// entry is in flight. At intervals the output is closed, so that the buffer fills.

module blk_gather
  import nic_int_pkg::*;
  import nic_tx_pkg::*;
(
  input  logic            clk,
  input  logic            rst,
  input  logic [831:0]    s_axis_req_tdata,
  input  logic            s_axis_req_tlast,
  input  logic            s_axis_req_tvalid,
  output logic            s_axis_req_tready,
  output logic [TlpW-1:0] m_axis_rsp_tdata,
  output logic            m_axis_rsp_tlast,
  output logic            m_axis_rsp_tvalid,
  input  logic            m_axis_rsp_tready
);
  localparam int Depth = 256;              // size of the output queue, lines
  localparam int Lw    = $clog2(Depth) + 1;
  localparam int Most  = 72;               // lines of the longest frame
  localparam int Every = 64;               // the output stalls each time so many frames have left
  localparam int Hold  = 4096;             // cycles for which the output stalls

  typedef struct packed {
    logic [383:0]     inl;
    logic [2:0][63:0] seg_addr;
    logic [15:0]      rsvd;
    logic [2:0][15:0] seg_len;
    logic [15:0]      crc_start;
    logic [15:0]      crc_off;
    logic [7:0]       l4;
    logic [7:0]       l3;
    logic [7:0]       asked;       // offloads requested, a bit each
    logic [7:0]       status;
    logic [31:0]      wqe_id;
    logic [15:0]      index;
    logic [7:0]       ecn;
    logic [7:0]       qid;
    logic [7:0]       late;
    logic [7:0]       fault;       // fault of the piece in slot 3
    logic [15:0]      len;
    logic [7:0]       complete;
    logic [7:0]       port;
    logic [7:0]       inl_len;
    logic [7:0]       nseg;
  } op_t;

  typedef struct packed {
    logic [383:0] inl;
    logic [63:0]  rsvd;
    logic [15:0]  crc_start;
    logic [15:0]  crc_off;
    logic [15:0]  beats;
    logic [7:0]   taken;           // take_beats_o in the cycle of take_o
    logic [7:0]   l4;
    logic [7:0]   l3;
    logic [7:0]   ecn;
    logic [7:0]   asked;
    logic [7:0]   inl_len;
    logic [15:0]  len;
    logic [31:0]  wqe_id;
    logic [15:0]  index;
    logic [7:0]   port;
    logic [7:0]   qid;
    logic [7:0]   complete;
    logic [7:0]   status;
  } told_t;

  typedef struct packed {
    logic            last;
    logic            two;
    logic [7:0]      taken;
    tx_frame_t       frame;
    logic [383:0]    inl;
    logic [TlpW-1:0] data;
  } line_t;

  op_t           op;
  tx_ent_t       ent;
  line_t         line, head;
  told_t         told;
  rd_req_t       rd_req;
  rd_rsp_t       rd_rsp;
  logic          ready, take, rd_valid, rd_ready, line_valid, line_first, taken, there, out,
      unused_ready, unused_busy, unused_inl;
  logic [TlpW-1:0] line_inl;
  logic [7:0]    unused_inl_len, taken_beats, taken_q, fault_q;
  logic [Lw-1:0] lines_q;
  logic [8:0]    count_q;
  logic          late_q, behind_q, open;
  logic [$clog2(Every)-1:0] frames_q;
  logic [$clog2(Hold)-1:0]  hold_q;
  logic [15:0]   beats_q;

  assign op    = op_t'(s_axis_req_tdata);
  assign s_axis_req_tready = ready && (op.fault == 8'd0 || count_q == '0) && !count_q[8];
  assign take  = s_axis_req_tvalid && s_axis_req_tready;

  always_comb begin
    ent           = '0;
    ent.f.id      = '{qid: op.qid, port: op.port[0], no_port: 1'b0, index: op.index,
                      wqe_id: op.wqe_id, status: op.status, complete: op.complete[0],
                      is_event: 1'b0, more: 2'd0};
    ent.f.ofl     = '{ip_csum: op.asked[0], udp_csum: op.asked[1], udp_zero: op.asked[2],
                      icrc: op.asked[3], crc: op.asked[4], ecn: op.ecn[1:0], l3: op.l3, l4: op.l4,
                      crc_off: op.crc_off[13:0], crc_start: op.crc_start[13:0]};
    ent.f.len     = op.len[13:0];
    ent.f.inl_len = op.inl_len;
    ent.nseg      = op.nseg[3:0];
    ent.inl       = InlW'(op.inl);
    for (int i = 0; i < 3; i++) begin
      ent.seg_addr[i] = op.seg_addr[i];
      ent.seg_len[i]  = op.seg_len[i][13:0];
    end
  end

  nic_gather u_gather (
    .clk, .rst, .valid_i(take), .ready_o(ready), .ent_i(ent), .rd_req_o(rd_req),
    .rd_req_valid_o(rd_valid), .rd_req_ready_i(rd_ready), .rd_rsp_i(rd_rsp),
    .room_i(lines_q <= Lw'(Depth - Most)), .ln_valid_o(line_valid), .ln_first_o(line_first),
    .ln_last_o(line.last), .ln_two_o(line.two), .ln_frame_o(line.frame), .ln_inl_o(line_inl),
    .ln_inl_len_o(unused_inl_len), .ln_data_o(line.data), .take_o(taken),
    .take_beats_o(taken_beats),
    .busy_o(unused_busy)
  );
  assign line.taken = taken_q;
  assign line.inl   = line_inl[383:0];
  assign unused_inl = ^line_inl;

  blk_memory #(.Client(RdGather)) u_memory (
    .clk, .rst, .mrrs_i(13'd256), .attr_i(2'b00), .start_i(take && op.fault != 8'd0),
    .start_slot_i(2'd3), .fault_i({fault_q[2:0], 9'd0}), .late_i({late_q, 3'd0}), .req_i(rd_req),
    .req_valid_i(rd_valid), .req_ready_o(rd_ready), .rsp_o(rd_rsp)
  );

  nic_fifo #(.Width($bits(line_t)), .Depth(Depth)) u_lines (
    .clk, .rst, .in_valid_i(line_valid), .in_ready_o(unused_ready), .in_data_i(line),
    .out_valid_o(there), .out_ready_i(out), .out_data_o(head)
  );

  // Output the bytes of a line; after a frame's last line, its side-band fields.
  assign open              = hold_q == '0;
  assign m_axis_rsp_tvalid = there && open;
  assign m_axis_rsp_tlast  = behind_q;
  assign m_axis_rsp_tdata  = behind_q ? TlpW'(told) : head.data;
  assign out               = m_axis_rsp_tready && open && (behind_q || !head.last);

  always_comb begin
    told = '{status: head.frame.id.status, complete: 8'(head.frame.id.complete),
             qid: head.frame.id.qid, port: 8'(head.frame.id.port), index: head.frame.id.index,
             wqe_id: head.frame.id.wqe_id, len: 16'(head.frame.len),
             inl_len: 8'(head.frame.inl_len),
             asked: {3'd0, head.frame.ofl.crc, head.frame.ofl.icrc, head.frame.ofl.udp_zero,
                     head.frame.ofl.udp_csum, head.frame.ofl.ip_csum},
             ecn: 8'(head.frame.ofl.ecn), l3: head.frame.ofl.l3, l4: head.frame.ofl.l4,
             taken: head.taken, beats: beats_q, crc_off: 16'(head.frame.ofl.crc_off),
             crc_start: 16'(head.frame.ofl.crc_start), rsvd: '0, inl: head.inl};
  end

  always_ff @(posedge clk) begin
    if (take && op.fault != 8'd0) {fault_q, late_q} <= {op.fault, op.late[0]};
    if (taken) taken_q <= taken_beats;
    lines_q <= lines_q - Lw'(there && out) +
               (!taken ? '0 : taken_beats == 8'd0 ? Lw'(1) : Lw'((9'(taken_beats) + 9'd1) >> 1));
    count_q <= count_q + 9'(take) - 9'(m_axis_rsp_tready && open && behind_q);
    if (!open) hold_q <= hold_q - 1'b1;
    if (m_axis_rsp_tready && open && behind_q) begin
      frames_q <= frames_q + 1'b1;
      if (&frames_q) hold_q <= '1;
    end
    if (there && m_axis_rsp_tready && open) begin
      behind_q <= head.last && !behind_q;
      beats_q  <= behind_q ? 16'd0 : beats_q + 16'd1 + 16'(head.two);
    end
    if (rst) {lines_q, count_q, behind_q, beats_q, frames_q, hold_q} <= '0;
  end

  logic unused_bits;
  assign unused_bits = ^{s_axis_req_tlast, op, line_first, head, fault_q};
endmodule
