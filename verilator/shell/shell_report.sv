/// Makes messages to the agent: who it is when a session begins, then the events of all
/// transactors, and the end of each grant behind its events. A byte a cycle.
/// Promises: events of one transactor keep their order; the end of a grant comes last.
/// Asserts: nothing; shell_report_test takes its messages apart.

module shell_report
  import shell_pkg::*;
#(
  // Transactors, and bytes of their payloads.
  parameter int                       Sources   = 1,
  parameter logic [Sources-1:0][15:0] Bytes     = '1,
  // The largest of these.
  parameter int                       MostBytes = 1,
  // Identity of the build.
  parameter logic [255:0]             Hash      = '0
) (
  // Host clock; reset: a session begins.
  input  logic                                            clk,
  input  logic                                            rst,
  // Events: flags and slot, and the payload.
  input  logic [Sources-1:0]                              event_valid_i,
  output logic [Sources-1:0]                              event_ready_o,
  input  logic [Sources-1:0][SlotBits+EventFlags-1:0]     event_i,
  input  logic [Sources-1:0][8*MostBytes-1:0]             payload_i,
  // Pulse: a grant is over. Level: a message was not understood.
  input  logic                                            done_i,
  input  logic                                            fault_i,
  // Bytes of messages; idle_o: there are no more for now.
  output logic                                            valid_o,
  input  logic                                            ready_i,
  output logic [7:0]                                      byte_o,
  output logic                                            idle_o
);
  localparam int Sw = Sources > 1 ? $clog2(Sources) : 1;
  localparam int Payload = MostBytes > 33 ? MostBytes : 33;  // an IDENT message has 33

  logic [8*Payload+23:0] bytes_q;
  logic [15:0]           left_q;
  logic                  ident_q, done_q, told_q, any;
  logic [Sw-1:0]         first;
  logic                  load;

  always_comb begin
    first = '0;
    for (int i = Sources - 1; i >= 0; i--) begin
      if (event_valid_i[i]) first = Sw'(i);
    end
  end

  assign any     = event_valid_i != '0;
  assign load    = left_q == '0 && !ident_q && any;
  assign valid_o = left_q != '0;
  assign byte_o  = bytes_q[7:0];
  assign idle_o  = left_q == '0 && !ident_q && !any && !done_q && !(fault_i && !told_q);

  always_comb begin
    event_ready_o = '0;
    if (load) event_ready_o[first] = 1'b1;
  end

  always_ff @(posedge clk) begin
    if (done_i) done_q <= 1'b1;
    if (valid_o && ready_i) begin
      bytes_q <= bytes_q >> 8;
      left_q  <= left_q - 1'b1;
    end
    if (left_q == '0) begin
      if (ident_q) begin
        ident_q <= 1'b0;
        left_q  <= 16'd34;
        bytes_q <= (8 * Payload + 24)'({Hash, Version, RepIdent});
      end else if (any) begin
        left_q  <= 16'd3 + (event_i[first][SlotBits+EventPayload] ? Bytes[first] : 16'd0);
        bytes_q <= {(8 * Payload)'(payload_i[first]), event_i[first], 8'(first)};
      end else if (done_q) begin
        done_q  <= 1'b0;
        left_q  <= 16'd1;
        bytes_q <= (8 * Payload + 24)'(RepDone);
      end else if (fault_i && !told_q) begin
        told_q  <= 1'b1;
        left_q  <= 16'd1;
        bytes_q <= (8 * Payload + 24)'(RepFault);
      end
    end
    if (rst) begin
      left_q  <= '0;
      ident_q <= 1'b1;
      done_q  <= 1'b0;
      told_q  <= 1'b0;
    end
  end
endmodule
