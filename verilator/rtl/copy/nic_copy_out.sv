/// Output stage of the copy engine: channels take turns, a whole TLP each; buffer lines become
/// beats of writes, ranges become messages (contract D2, D4). An entry that ends without a TLP
/// passes in its turn.

`include "nic_assert.svh"

module nic_copy_out
  import nic_pkg::*, nic_int_pkg::*, nic_copy_pkg::*;
(
  input  logic                clk,
  input  logic                rst,
  // Attributes of requests that carry data.
  input  logic [1:0]          attr_i,
  // One bit a channel: it has a step for the output.
  input  logic [Channels-1:0] step_valid_i,
  // Step of the channel turn_o.
  input  copy_step_t          step_i,
  // Pulse: step_i is taken.
  output logic                go_o,
  // Channel whose turn it is.
  output logic [Chw-1:0]      turn_o,
  // Line to be read from a channel's buffer; it is at even_i and odd_i from the next cycle on.
  output logic                read_o,
  output logic [Chw-1:0]      read_chan_o,
  output logic [Lw-1:0]       read_line_o,
  input  logic [TlpW-1:0]     even_i,
  input  logic [TlpW-1:0]     odd_i,
  output tlp_beat_t           tlp_o,
  output logic                tlp_valid_o,
  input  logic                tlp_ready_i,
  // Pulse: a TLP of the engine was accepted at the TLP port, a cycle or more after it left here.
  input  logic                left_i,
  // Pulse: the last TLP of an entry of channel end_chan_o was accepted.
  output logic                end_o,
  output logic [Chw-1:0]      end_chan_o,
  // Bytes of writes that leave in this cycle, 0..128.
  output logic [7:0]          bytes_o
);
  localparam logic [15:0] Arm    = {RequesterArm[7:0], RequesterArm[15:8]};
  localparam logic [15:0] Vendor = {InvalidateVendor[7:0], InvalidateVendor[15:8]};
  localparam logic [15:0] Nic    = {RequesterNic[7:0], RequesterNic[15:8]};

  // The step whose line is in the buffer's read registers.
  typedef struct packed {
    logic           data;
    logic           msg;
    logic           last;
    logic           done;
    logic [Chw-1:0] chan;
    logic           odd;
    logic [4:0]     shift;   // DWs of the line before the beat's first one
    logic [1:0]     skip;    // bytes of the first DW that are not enabled
    logic [7:0]     bytes;
    logic [127:0]   hdr;
    logic [18:0]    lines;
    logic [63:0]    addr;
  } cmd_t;

  typedef struct packed {
    logic           tlp;     // a beat of a TLP; low: only the end of an entry
    logic           done;
    logic [Chw-1:0] chan;
    logic [7:0]     bytes;
    tlp_beat_t      beat;
  } out_t;

  logic           mid_q, any, ready, valid_q, out_valid, out_take, handed;
  logic           away, away_ready, away_done;
  logic [Chw-1:0] turn, chan_q, sel, away_chan;
  cmd_t           cmd_q;
  out_t           out_d, out;

  nic_arb #(.Num(Channels)) u_arb (
    .clk, .rst, .req_i(step_valid_i), .take_i(ready && !mid_q), .valid_o(any), .index_o(turn)
  );
  assign sel         = mid_q ? chan_q : turn;
  assign go_o        = ready;
  assign turn_o      = sel;
  assign read_o      = any && ready && step_i.data;
  assign read_chan_o = sel;
  assign read_line_o = step_i.line;

  // Returns the header of a write of len bytes at addr.
  function automatic logic [127:0] write_hdr(input logic [63:0] addr, input logic [9:0] len);
    logic [10:0] stop;
    logic [2:0]  in_last;
    logic [10:0] dws;
    stop      = 11'(addr[1:0]) + 11'(len);
    dws       = (stop + 11'd3) >> 2;
    in_last   = stop[1:0] == 2'd0 ? 3'd4 : {1'b0, stop[1:0]};
    write_hdr = mem_hdr(1'b1, addr, dws, first_be(addr[1:0], len[2:0], dws == 11'd1),
                        last_be(in_last, dws == 11'd1), 8'd0);
  endfunction

  // Returns the header of an invalidation message to the Arm root.
  function automatic logic [127:0] msg_hdr();
    msg_hdr        = '0;
    msg_hdr[7:0]   = 8'h72;
    msg_hdr[31:24] = 8'd4;
    msg_hdr[47:32] = Nic;
    msg_hdr[63:56] = 8'(InvalidateCode);
    msg_hdr[79:64] = Arm;
    msg_hdr[95:80] = Vendor;
  endfunction

  always_ff @(posedge clk) begin
    if (ready) begin
      valid_q <= any;
      if (any) begin
        mid_q       <= !step_i.last;
        chan_q      <= sel;
        cmd_q.data  <= step_i.data;
        cmd_q.msg   <= step_i.msg;
        cmd_q.last  <= step_i.last;
        cmd_q.done  <= step_i.done;
        cmd_q.chan  <= sel;
        cmd_q.odd   <= step_i.line[0];
        cmd_q.shift <= step_i.start ? step_i.addr[6:2] : 5'd0;
        cmd_q.skip  <= step_i.start ? step_i.addr[1:0] : 2'd0;
        cmd_q.bytes <= step_i.bytes;
        cmd_q.lines <= step_i.lines;
        cmd_q.addr  <= step_i.addr;
        if (step_i.msg)        cmd_q.hdr <= msg_hdr();
        else if (step_i.start) cmd_q.hdr <= with_attr(write_hdr(step_i.addr, step_i.len), attr_i);
      end
    end
    if (rst) begin
      valid_q <= 1'b0;
      mid_q   <= 1'b0;
    end
  end

  // Build the beat: shift the line to its first DW, and zero the bytes that are not enabled.
  always_comb begin
    logic [7:0] upto;
    out_d = '0;
    upto  = 8'(cmd_q.skip) + cmd_q.bytes;
    if (valid_q) begin
      out_d.tlp       = cmd_q.data || cmd_q.msg;
      out_d.done      = cmd_q.done;
      out_d.chan      = cmd_q.chan;
      out_d.bytes     = cmd_q.data ? cmd_q.bytes : 8'd0;
      out_d.beat.hdr  = cmd_q.hdr;
      out_d.beat.last = cmd_q.last;
      if (cmd_q.msg) begin
        out_d.beat.keep = TlpD'(4'hf);
        out_d.beat.data = TlpW'({13'd0, cmd_q.lines, cmd_q.addr});
      end else if (cmd_q.data) begin
        out_d.beat.keep = TlpD'((33'h1 << 6'((upto + 8'd3) >> 2)) - 33'h1);
        out_d.beat.data = cmd_q.odd ? odd_i : even_i;
        if (cmd_q.shift != 5'd0) out_d.beat.data = out_d.beat.data >> {cmd_q.shift, 5'b0};
        if (!upto[7]) out_d.beat.data &= ~({TlpW{1'b1}} << {upto[6:0], 3'b000});
        out_d.beat.data[23:0] &= 24'hffffff << {cmd_q.skip, 3'b000};
      end
    end
  end

  nic_skid #(.Width($bits(out_t))) u_skid (
    .clk, .rst, .in_valid_i(valid_q), .in_ready_o(ready), .in_data_i(out_d),
    .out_valid_o(out_valid), .out_ready_i(out_take), .out_data_o(out)
  );

  assign tlp_o       = out.beat;
  assign tlp_valid_o = out_valid && out.tlp;
  assign handed      = tlp_valid_o && tlp_ready_i;
  assign bytes_o     = handed ? out.bytes : 8'd0;

  // TLPs that were sent and are not yet accepted at the TLP port. An entry that ends without a TLP
  // waits until this queue is empty.
  nic_fifo #(.Width(1 + Chw), .Depth(4)) u_away (
    .clk, .rst, .in_valid_i(handed && out.beat.last), .in_ready_o(away_ready),
    .in_data_i({out.done, out.chan}), .out_valid_o(away), .out_ready_i(left_i),
    .out_data_o({away_done, away_chan})
  );
  assign out_take   = out.tlp ? tlp_ready_i : !away;
  assign end_o      = away ? left_i && away_done : out_valid && !out.tlp && out.done;
  assign end_chan_o = away ? away_chan : out.chan;

  `NIC_HELD(a_held, tlp_valid_o, tlp_ready_i, tlp_o)
  `NIC_ASSERT(a_away, (away_ready || !handed) && (away || !left_i))
  `NIC_KEEP(a_keep, tlp_valid_o, tlp_o.keep, tlp_o.last)
  `NIC_ASSERT(a_bytes, tlp_valid_o |-> tlp_o.keep != '0)
endmodule
