/// Cuts jobs into write TLPs and these into beats, one a cycle without a gap between jobs: header
/// part, payload part, completion entry. A part leaves in one TLP if MPS and 4 KB allow, else in
/// TLPs that end at multiples of MPS, so that all but the first are aligned and cross no 4 KB
/// boundary.

`include "nic_assert.svh"

module nic_rxcut
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
#(
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic             clk,
  input  logic             rst,
  input  logic [9:0]       mps_i,
  // PCIe attributes of writes of frame bytes: RO in bit 1, NS in bit 0.
  input  logic [1:0]       attr_i,
  // Frame or Event to be written out.
  input  logic             job_valid_i,
  output logic             job_ready_o,
  input  rx_job_t          job_i,
  // Descriptor of the frame.
  input  rx_desc_t         desc_i,
  // High: the stages advance in this cycle.
  input  logic             go_i,
  // Reads a chunk of 128 B; its data must have arrived when its command is at cmd_o.
  output logic             read_o,
  output logic             read_port_o,
  output logic [LineW-1:0] read_line_o,
  // Next command for the output stage: one beat.
  output logic             cmd_valid_o,
  output rx_cmd_t          cmd_o,
  // Completion entry; valid with a command that writes it.
  output rx_cqe_t          cqe_o,
  // Header fields of the frame; valid with a command that sets ECN bits.
  output rx_head_t         head_o,
  // Pulse: the frame has been read; its buffer lines are free.
  output logic             free_o,
  // With free_o: high if the frame is delivered, low if dropped.
  output logic             free_frame_o,
  output logic             free_port_o,
  output logic [7:0]       free_lines_o,
  output logic             busy_o
);
  localparam bit HasTrim = (Parts & PartTrim) != 0;

  typedef enum logic [1:0] {PartNone, PartHeader, PartPayload, PartEnd} part_e;

  part_e       part_q, part_d, part_new;
  rx_job_t     job_q;
  logic [63:0] pay_addr_q;
  logic [63:0] addr_q;
  logic [13:0] left_q, left_d;         // bytes of the part not yet cut
  logic [13:0] tlp_q;                  // bytes of the TLP not yet cut; undefined while start_q
  logic        start_q;                // the next beat begins a TLP
  logic [13:0] pos_q, pos_d;           // offset in the frame
  logic        fresh_q;                // no chunk of the frame has been read
  logic [6:0]  chunk_q;                // number of the chunk read last
  logic        cmd_valid_q;
  rx_cmd_t     cmd_q;
  rx_cqe_t     cqe_q;

  logic        data, finish, take;
  logic [1:0]  skip;
  logic [13:0] to_mps, to_page, tlp, bytes;
  logic        fits, ends;
  logic [6:0]  chunk;

  assign data   = part_q == PartHeader || part_q == PartPayload;
  assign finish = part_q == PartEnd;
  assign take   = job_valid_i && (part_q == PartNone || finish);

  assign job_ready_o = go_i && (part_q == PartNone || finish);

  // Length of this beat: the rest of the TLP, at most 128 bytes. The first beat also fixes its
  // TLP's length.
  assign skip    = start_q ? addr_q[1:0] : 2'd0;
  assign to_mps  = 14'(mps_i) - (14'(addr_q[9:0]) & (14'(mps_i) - 14'd1));
  assign to_page = 14'd4096 - 14'(addr_q[11:0]);
  assign fits    = left_q + 14'(skip) <= 14'(mps_i) && left_q <= to_page;

  always_comb begin
    tlp   = tlp_q;
    bytes = '0;
    if (data) begin
      if (start_q) tlp = fits ? left_q : to_mps;
      bytes = 14'(TlpB) - 14'(skip);
      if (tlp < bytes) bytes = tlp;
    end
  end

  assign ends   = bytes == tlp;
  assign pos_d  = pos_q + bytes;
  assign left_d = left_q - bytes;
  assign chunk  = 7'((pos_d - 14'd1) >> 7);

  // Returns the header of the TLP of len bytes at addr_q.
  function automatic logic [127:0] header(input logic [13:0] len);
    logic [10:0] dws;
    logic        one;
    dws = 11'((len + 14'(addr_q[1:0]) + 14'd3) >> 2);
    one = dws == 11'd1;
    header = mem_hdr(1'b1, addr_q, dws, first_be(addr_q[1:0], 3'(len), one),
                     last_be(3'(2'(addr_q[1:0] + 2'(len) - 2'd1)) + 3'd1, one), 8'h0);
  endfunction

  // Compute the next state of part, address and counts.
  always_comb begin
    unique case (job_i.kind)
      JobFrame: part_new = job_i.hdr_len != 14'h0 ? PartHeader : PartPayload;
      default:  part_new = PartEnd;
    endcase
    part_d = part_q;
    if (data && left_d == 14'h0) begin
      part_d = part_q == PartHeader && job_q.pay_len != 14'h0 ?
               PartPayload : PartEnd;
    end
    if (finish) part_d = PartNone;
    if (take)   part_d = part_new;
  end

  assign read_o       = go_i && data && (fresh_q || chunk != chunk_q);
  assign read_port_o  = job_q.frame.port;
  assign read_line_o  = job_q.frame.place.line + LineW'({chunk, 1'b0});
  assign free_o       = go_i && finish && job_q.kind != JobEvent;
  assign free_frame_o = go_i && finish && job_q.kind == JobFrame;
  assign free_port_o  = job_q.frame.port;
  assign free_lines_o = job_q.frame.place.lines;
  assign cmd_valid_o  = cmd_valid_q;
  assign cmd_o        = cmd_q;
  assign cqe_o        = cqe_q;
  assign head_o       = job_q.frame.info.head;
  assign busy_o       = part_q != PartNone || cmd_valid_q;

  always_ff @(posedge clk) begin
    if (go_i) begin
      part_q      <= part_d;
      cmd_valid_q <= data || (finish && job_q.kind != JobDrop);

      if (data) begin
        cmd_q.cqe     <= 1'b0;
        cmd_q.low_new <= pos_q[13:7] == chunk;
        cmd_q.ecn     <= job_q.ecn && chunk == 7'h0;
        cmd_q.odd     <= job_q.frame.place.line[0];
        cmd_q.port    <= job_q.frame.port;
        cmd_q.skip    <= skip;
        cmd_q.shift   <= 8'(pos_q[6:0]) + 8'd4 - 8'(skip);
        cmd_q.lanes   <= 8'(bytes) + 8'(skip);
        cmd_q.last    <= ends;
        if (start_q) cmd_q.hdr <= with_attr(header(tlp), attr_i);

        fresh_q <= 1'b0;
        chunk_q <= chunk;
        start_q <= ends;
        tlp_q   <= tlp - bytes;
        pos_q   <= pos_d;
        addr_q  <= addr_q + 64'(bytes);
        left_q  <= left_d;
        if (part_q == PartHeader && left_d == 14'h0) begin
          addr_q <= pay_addr_q;
          left_q <= job_q.pay_len;
        end
      end

      if (finish && job_q.kind != JobDrop) begin
        cmd_q.cqe  <= 1'b1;
        cmd_q.port <= job_q.frame.port;
        cmd_q.last <= 1'b1;
        cmd_q.hdr  <= mem_hdr(1'b1, job_q.cqe_addr, 11'd16, 4'hf, 4'hf, 8'h0);
        cqe_q      <= build_cqe(job_q, HasTrim);
      end

      if (take) begin
        job_q      <= job_i;
        pay_addr_q <= desc_i.pay_addr;
        fresh_q    <= 1'b1;
        start_q    <= 1'b1;
        pos_q      <= '0;
        addr_q     <= job_i.hdr_len != 14'h0 ? desc_i.hdr_addr : desc_i.pay_addr;
        left_q     <= job_i.hdr_len != 14'h0 ? job_i.hdr_len : job_i.pay_len;
      end
    end
    if (rst) begin
      part_q      <= PartNone;
      cmd_valid_q <= 1'b0;
    end
  end

  `NIC_ASSERT(a_chunk, read_o |-> fresh_q ? chunk == 7'h0 : chunk == chunk_q + 7'h1)
endmodule
