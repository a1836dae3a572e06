/// Takes the agent's messages apart: collects the bytes of one, then pulses the output of its kind
/// while body_o holds it, its last byte highest. A byte a cycle, always ready.
/// Promises: a message that it does not know raises fault_o, and everything behind it is ignored.
/// Asserts: nothing; shell_commands_test sends it random messages.

module shell_commands
  import shell_pkg::*;
#(
  // Input streams, and bytes of their beats.
  parameter int                      Inputs     = 1,
  parameter logic [Inputs-1:0][15:0] BeatBytes  = '1,
  // Bytes of the other messages.
  parameter int                      StartBytes = 1,
  parameter int                      MaskBytes  = 1,
  parameter int                      GrantBytes = 1,
  // Bytes of the longest one.
  parameter int                      BodyBytes  = 16
) (
  input  logic                   clk,
  input  logic                   rst,
  // Bytes of messages.
  input  logic                   valid_i,
  input  logic [7:0]             byte_i,
  // Pulses: a message is complete.
  output logic                   start_o,
  output logic                   masks_o,
  output logic                   grant_o,
  output logic [Inputs-1:0]      beat_o,
  output logic [8*BodyBytes-1:0] body_o,
  output logic                   fault_o
);
  typedef enum logic [1:0] {Code, Stream, Body} state_e;

  state_e      state_q;
  logic [7:0]  code_q, stream_q;
  logic [15:0] left_q, beat_bytes;
  logic        last;

  assign last = left_q == 16'd1;

  always_comb begin
    beat_bytes = '0;
    for (int i = 0; i < Inputs; i++) begin
      if (byte_i == 8'(i)) beat_bytes = BeatBytes[i];
    end
  end

  always_ff @(posedge clk) begin
    {start_o, masks_o, grant_o} <= '0;
    beat_o <= '0;
    if (valid_i && !fault_o) begin
      body_o <= {byte_i, body_o[8*BodyBytes-1:8]};
      left_q <= left_q - 1'b1;
      case (state_q)
        Code: begin
          code_q  <= byte_i;
          state_q <= Body;
          case (byte_i)
            CmdStart: left_q <= 16'(StartBytes);
            CmdBeat:  state_q <= Stream;
            CmdMasks: left_q <= 16'(MaskBytes);
            CmdGrant: left_q <= 16'(GrantBytes);
            default:  fault_o <= 1'b1;
          endcase
        end
        Stream: begin
          stream_q <= byte_i;
          left_q   <= 16'(BeatHead - 1) + beat_bytes;
          state_q  <= Body;
          if (int'(byte_i) >= Inputs || beat_bytes == '0) fault_o <= 1'b1;
        end
        default: begin
          if (last) begin
            state_q <= Code;
            start_o <= code_q == CmdStart;
            masks_o <= code_q == CmdMasks;
            grant_o <= code_q == CmdGrant;
            for (int i = 0; i < Inputs; i++) begin
              beat_o[i] <= code_q == CmdBeat && stream_q == 8'(i);
            end
          end
        end
      endcase
    end
    if (rst) begin
      state_q <= Code;
      fault_o <= 1'b0;
      {start_o, masks_o, grant_o} <= '0;
      beat_o  <= '0;
    end
  end
endmodule
