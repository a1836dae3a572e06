// Joins N ports, each with a header and the payload that follows it, into one. Ports are served in
// turn, a whole frame at a time; the header out says by out_hdr_port where its frame came from.

module arbmux #(
  parameter N     = 4,         // ports, a power of two
  parameter HDR   = 48,        // bits of a header
  parameter WIDTH = 64,        // bits of a beat of payload
  parameter BUG   = 0,         // 0: none; 1, 2: seeded bugs, see docs/own-rtl.md
  parameter PORT  = $clog2(N)  // bits of a port's number
) (
  input                      clock,
  input                      sreset,

  input  [N-1:0]             in_hdr_valid,
  output [N-1:0]             in_hdr_ready,
  input  [N*HDR-1:0]         in_hdr_data,
  input  [N-1:0]             in_pay_valid,
  output [N-1:0]             in_pay_ready,
  input  [N*WIDTH-1:0]       in_pay_data,
  input  [N*WIDTH/8-1:0]     in_pay_keep,
  input  [N-1:0]             in_pay_last,

  output reg                 out_hdr_valid,
  input                      out_hdr_ready,
  output reg [HDR-1:0]       out_hdr_data,
  output reg [PORT-1:0]      out_hdr_port,
  output reg                 out_pay_valid,
  input                      out_pay_ready,
  output reg [WIDTH-1:0]     out_pay_data,
  output reg [WIDTH/8-1:0]   out_pay_keep,
  output reg                 out_pay_last
);

  reg             locked;  // a frame of port `owner` is under way
  reg  [PORT-1:0] owner;
  reg  [PORT-1:0] choice;
  reg  [PORT-1:0] next;
  reg             found;

  // The next port after the last one that has a header.
  integer i;
  always @* begin
    choice = owner;
    next   = owner;
    found  = 1'b0;
    for (i = 0; i < N; i = i + 1) begin
      next = next + 1'b1;
      if (in_hdr_valid[next] && !found) begin
        choice = next;
        found  = 1'b1;
      end
    end
  end

  // Bug 2: the place of the header out counts as free though its header still waits.
  wire hdr_free = !out_hdr_valid || out_hdr_ready || BUG == 2;
  wire pay_free = !out_pay_valid || out_pay_ready;
  wire grant    = found && !locked && hdr_free;
  wire move     = locked && in_pay_valid[owner] && pay_free;

  // Bug 1: the lock goes when the last beat is offered, not when it is taken.
  wire ends = BUG == 1 ? locked && in_pay_valid[owner] && in_pay_last[owner]
                       : move && in_pay_last[owner];

  assign in_hdr_ready = grant ? {{N-1{1'b0}}, 1'b1} << choice : {N{1'b0}};
  assign in_pay_ready = locked && pay_free ? {{N-1{1'b0}}, 1'b1} << owner : {N{1'b0}};

  always @(posedge clock) begin
    if (sreset) begin
      locked        <= 1'b0;
      owner         <= {PORT{1'b0}};
      out_hdr_valid <= 1'b0;
      out_pay_valid <= 1'b0;
    end else begin
      if (out_hdr_ready) out_hdr_valid <= 1'b0;
      if (out_pay_ready) out_pay_valid <= 1'b0;
      if (ends) locked <= 1'b0;
      if (grant) begin
        locked        <= 1'b1;
        owner         <= choice;
        out_hdr_valid <= 1'b1;
        out_hdr_data  <= in_hdr_data[choice*HDR +: HDR];
        out_hdr_port  <= choice;
      end
      if (move) begin
        out_pay_valid <= 1'b1;
        out_pay_data  <= in_pay_data[owner*WIDTH +: WIDTH];
        out_pay_keep  <= in_pay_keep[owner*(WIDTH/8) +: WIDTH/8];
        out_pay_last  <= in_pay_last[owner];
      end
    end
  end

endmodule
