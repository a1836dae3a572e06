/// Writes read-response beats into a memory of 128-byte lines at any byte address: one rotation,
/// and masked writes to two neighbouring lines, which lie in different banks (line bit 0). Two
/// cycles deep, never stalls; reports the end of a request when its bytes are written.

module nic_place
  import nic_int_pkg::*, nic_tx_pkg::*;
#(
  // Bits of a byte address in the memory. Its size is a power of two; addresses wrap.
  parameter int Aw = 16,
  // Number of the read client whose responses are placed.
  parameter int Client = RdGather,
  localparam int Lw = Aw - 8
) (
  input  logic            clk,
  input  logic            rst,
  // Response, and the byte address of the first byte of its request.
  input  rd_rsp_t         rsp_i,
  input  logic [Aw-1:0]   base_i,
  // Bank writes, addresses in lines of the bank; both banks see the same data.
  output logic [1:0]      we_o,
  output logic [Lw-1:0]   even_addr_o,
  output logic [Lw-1:0]   odd_addr_o,
  output logic [TlpW-1:0] even_mask_o,
  output logic [TlpW-1:0] odd_mask_o,
  output logic [TlpW-1:0] data_o,
  // Pulse: one of the reads into which a request is split has ended; its bytes are written in this
  // cycle at the latest.
  output logic            done_o,
  output logic [15:0]     cookie_o,
  output logic [12:0]     done_len_o,
  output logic [7:0]      status_o
);
  logic            v1_q, done1_q;
  logic [TlpW-1:0] raw1_q;
  logic [6:0]      rot1_q;
  logic [7:0]      end1_q;
  logic [Aw-1:0]   dst1_q;
  logic [15:0]     cookie1_q;
  logic [12:0]     len1_q;
  logic [7:0]      status1_q;

  logic [1:0]      we_q;
  logic [Lw-1:0]   even_q, odd_q;
  logic [TlpW-1:0] mask_even_q, mask_odd_q, data_q;
  logic            done2_q;
  logic [15:0]     cookie2_q;
  logic [12:0]     len2_q;
  logic [7:0]      status2_q;

  assign we_o        = we_q;
  assign even_addr_o = even_q;
  assign odd_addr_o  = odd_q;
  assign even_mask_o = mask_even_q;
  assign odd_mask_o  = mask_odd_q;
  assign data_o      = data_q;
  assign done_o      = done2_q;
  assign cookie_o    = cookie2_q;
  assign done_len_o  = len2_q;
  assign status_o    = status2_q;

  // First stage: compute the destination. end1_q is the offset of the last byte from the line's
  // start.
  always_ff @(posedge clk) begin
    logic [Aw-1:0] dst;
    v1_q    <= rsp_i.to[Client] && rsp_i.nbytes != 8'd0 && !rst;
    done1_q <= rsp_i.to[Client] && rsp_i.done && !rst;
    if (rsp_i.to[Client]) begin
      raw1_q    <= rsp_i.data;
      dst       = base_i + Aw'(rsp_i.off);
      dst1_q    <= dst;
      rot1_q    <= dst[6:0] - rsp_i.lane;
      end1_q    <= {1'b0, dst[6:0]} + (rsp_i.nbytes - 8'd1);
      cookie1_q <= rsp_i.cookie;
      len1_q    <= rsp_i.done_len;
      status1_q <= rsp_i.status;
    end
  end

  // Second stage: rotate by bytes, then by DWs; compute the masks that write only the bytes from
  // the first to the last.
  always_ff @(posedge clk) begin
    logic [TlpW-1:0] from, upto, first, second, turned;
    logic            wrap;
    done2_q <= done1_q && !rst;
    we_q    <= 2'b00;
    if (done1_q) begin
      cookie2_q <= cookie1_q;
      len2_q    <= len1_q;
      status2_q <= status1_q;
    end
    if (v1_q) begin
      from   = ~LowBytes[{1'b0, dst1_q[6:0]}];
      upto   = LowBytes[{1'b0, end1_q[6:0]} + 8'd1];
      wrap   = end1_q[7];
      first  = wrap ? from : from & upto;
      second = upto;
      // Byte rotation: each DW gets bytes of the same DW and of the preceding one in raw1_q.
      turned = raw1_q;
      if (rot1_q[1:0] != 2'd0) begin
        for (int i = 0; i < TlpD; i++) begin
          turned[32*i +: 32] = 32'({raw1_q[32*i +: 32], raw1_q[32*((i + TlpD - 1) % TlpD) +: 32]} >>
                                   (6'd32 - {1'b0, rot1_q[1:0], 3'b0}));
        end
      end
      data_q <= (turned << {rot1_q[6:2], 5'b0}) |
                (turned >> (11'd1024 - {1'b0, rot1_q[6:2], 5'b0}));
      even_q <= dst1_q[Aw-1:8] + Lw'(dst1_q[7]);
      odd_q  <= dst1_q[Aw-1:8];
      if (dst1_q[7]) begin
        we_q        <= {1'b1, wrap};
        mask_odd_q  <= first;
        mask_even_q <= second;
      end else begin
        we_q        <= {wrap, 1'b1};
        mask_even_q <= first;
        mask_odd_q  <= second;
      end
    end
    if (rst) we_q <= 2'b00;
  end
endmodule
