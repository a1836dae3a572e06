/// Writer: sends frames and completion entries as write TLPs, 128 bytes a cycle. Two 128 B chunks
/// of the receive buffer are in registers; one shift moves the bytes of a beat to their lanes.

`include "nic_assert.svh"

module nic_rxdma
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
#(
  // Number of Ethernet ports, 1 or 2.
  parameter int Ports = 1,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic                        clk,
  input  logic                        rst,
  // Maximum payload size, bytes.
  input  logic [9:0]                  mps_i,
  // PCIe attributes of writes of frame bytes: RO in bit 1, NS in bit 0.
  input  logic [1:0]                  attr_i,
  // Frame or Event to be written out.
  input  logic                        job_valid_i,
  output logic                        job_ready_o,
  input  rx_job_t                     job_i,
  // Descriptor of the frame.
  input  rx_desc_t                    desc_i,
  // Read of lines read_line_o and the next of a port's buffer; data from the next cycle on.
  output logic [Ports-1:0]            read_o,
  output logic [LineW-1:0]            read_line_o,
  input  logic [Ports-1:0][EthW-1:0]  even_i,
  input  logic [Ports-1:0][EthW-1:0]  odd_i,
  // Pulse: frees free_lines_o lines of the buffer of a port.
  output logic [Ports-1:0]            free_o,
  output logic [Ports-1:0]            free_frame_o,
  output logic [7:0]                  free_lines_o,
  output tlp_beat_t                   tlp_o,
  output logic                        tlp_valid_o,
  input  logic                        tlp_ready_i,
  // Pulse: a completion entry of queue done_queue_o has left.
  output logic                        done_o,
  output logic [15:0]                 done_queue_o,
  // With done_o: one-hot, the port whose frame the entry reports; zero for an Event.
  output logic [Ports-1:0]            delivered_o,
  output logic                        busy_o
);
  logic            free_frame;
  logic            go, read, read_port, free, free_port, cut_busy;
  logic            cmd_valid;
  rx_cmd_t         cmd;
  rx_cqe_t         cqe;
  rx_head_t        head;
  logic [EthW-1:0] prev_even_q, prev_odd_q;   // chunk before the one being read

  tlp_beat_t       out_d, out;
  rx_cqe_t         entry;                     // completion entry in the beat at the output
  logic            unused_entry;

  nic_rxcut #(.Parts(Parts)) u_cut (
    .clk, .rst, .mps_i, .attr_i,
    .job_valid_i, .job_ready_o, .job_i, .desc_i,
    .go_i         (go),
    .read_o       (read),
    .read_port_o  (read_port),
    .read_line_o,
    .cmd_valid_o  (cmd_valid),
    .cmd_o        (cmd),
    .cqe_o        (cqe),
    .head_o       (head),
    .free_o       (free),
    .free_frame_o (free_frame),
    .free_port_o  (free_port),
    .free_lines_o,
    .busy_o       (cut_busy)
  );

  always_comb begin
    read_o = '0;
    free_o = '0;
    for (int p = 0; p < Ports; p++) begin
      read_o[p] = read && read_port == 1'(p);
      free_o[p] = free && free_port == 1'(p);
      free_frame_o[p] = free_frame && free_port == 1'(p);
    end
  end

  // Returns a beat's bytes: those of {newer, low, four zeros} from byte number `shift` on; bytes
  // below number `skip` and from number `lanes` on are zeroed.
  function automatic logic [TlpW-1:0] beat_of(input logic [TlpW-1:0] newer,
                                              input logic [TlpW-1:0] low, input logic [7:0] shift,
                                              input logic [7:0] lanes, input logic [1:0] skip);
    logic [2*TlpW+31:0] window;
    window  = {newer, low, 32'h0};
    beat_of = window[{1'b0, shift, 3'b000} +: TlpW];
    if (lanes < 8'(TlpB)) beat_of &= ~({TlpW{1'b1}} << {lanes[6:0], 3'b000});
    beat_of[23:0] &= 24'hffffff << {skip, 3'b000};
  endfunction

  function automatic logic [TlpD-1:0] keep_of(input logic [7:0] lanes);
    keep_of = TlpD'((33'h1 << 6'((lanes + 8'd3) >> 2)) - 33'h1);
  endfunction

  // Returns a frame's first 64 bytes with ECN 3 and the IPv4 checksum adjusted.
  function automatic logic [EthW-1:0] marked(input logic [EthW-1:0] line, input rx_head_t h);
    logic [8:0] at;
    logic       unused_bits;
    unused_bits = ^h;
    at     = h.tags[1] ? 9'd176 : h.tags[0] ? 9'd144 : 9'd112;    // offset of the IP header, bits
    marked = line;
    if (h.l3_type == L3TypeIpv6) begin
      marked[at + 9'd12 +: 2] = 2'b11;
    end else begin
      marked[at + 9'd8 +: 2]   = 2'b11;
      marked[at + 9'd80 +: 16] = {h.ecn_csum[7:0], h.ecn_csum[15:8]};
    end
  endfunction

  logic [EthW-1:0] even, odd;

  always_comb begin
    even = even_i[cmd.port];
    odd  = odd_i[cmd.port];
    if (cmd.ecn && cmd.odd)  odd  = marked(odd, head);
    if (cmd.ecn && !cmd.odd) even = marked(even, head);
  end

  always_comb begin
    out_d = '0;
    if (cmd_valid) begin
      out_d.hdr  = cmd.hdr;
      out_d.last = cmd.last;
      if (cmd.cqe) begin
        out_d.entry = 1'b1;
        out_d.keep  = TlpD'(16'hffff);
        out_d.data  = TlpW'(cqe);
      end else begin
        out_d.keep = keep_of(cmd.lanes);
        if (cmd.odd) begin
          out_d.data = beat_of({even, odd}, cmd.low_new ? {even, odd} : {prev_even_q, prev_odd_q},
                               cmd.shift, cmd.lanes, cmd.skip);
        end else begin
          out_d.data = beat_of({odd, even}, cmd.low_new ? {odd, even} : {prev_odd_q, prev_even_q},
                               cmd.shift, cmd.lanes, cmd.skip);
        end
      end
    end
  end

  nic_skid #(.Width($bits(tlp_beat_t))) u_skid (
    .clk, .rst,
    .in_valid_i  (cmd_valid),
    .in_ready_o  (go),
    .in_data_i   (out_d),
    .out_valid_o (tlp_valid_o),
    .out_ready_i (tlp_ready_i),
    .out_data_o  (out)
  );

  // The queue of a departing completion entry is a field of the entry.
  assign entry        = rx_cqe_t'(out.data[511:0]);
  assign unused_entry = ^entry;
  assign tlp_o        = out;
  assign done_o       = tlp_valid_o && out.entry && tlp_ready_i;
  assign done_queue_o = entry.queue_f;
  assign busy_o       = cut_busy || tlp_valid_o;

  always_comb begin
    delivered_o = '0;
    delivered_o[Ports == 2 ? entry.port[0] : 1'b0] = done_o && entry.type_f != CqeTypeEvent;
  end

  always_ff @(posedge clk) begin
    if (read) begin
      // A frame's chunks are read in order: this one becomes the chunk before.
      prev_even_q <= even;
      prev_odd_q  <= odd;
    end
  end

  `NIC_HELD(a_held, tlp_valid_o, tlp_ready_i, tlp_o)
  `NIC_KEEP(a_keep, tlp_valid_o, tlp_o.keep, tlp_o.last)
  `NIC_ASSERT(a_bytes, tlp_valid_o |-> tlp_o.keep != '0)
endmodule
