/// Tests shell_commands: each message of a random sequence raises its pulse, with its bytes; one
/// that is not known is a fault, and nothing behind it has an effect.

module shell_commands_test
  import shell_pkg::*;
(
  input  logic clk,
  input  logic rst,
  // High once the test has passed.
  output logic done_o
);
  // Bytes behind the code: of start, masks, grant, and beats of two inputs.
  localparam int Body = BeatHead + 6;
  localparam int Last = 300;  // messages that are known

  logic              valid, start, masks, grant, fault;
  logic [1:0]        beat;
  logic [7:0]        data, kind;
  logic [8*Body-1:0] body, sent, mask;
  logic [31:0]       left, length, messages;
  logic [4:0]        pulses, due;

  shell_commands #(
    .Inputs(2), .BeatBytes({16'd6, 16'd2}), .StartBytes(5), .MaskBytes(8), .GrantBytes(7),
    .BodyBytes(Body)
  ) u_commands (
    .clk, .rst, .valid_i(valid), .byte_i(data),
    .start_o(start), .masks_o(masks), .grant_o(grant), .beat_o(beat), .body_o(body), .fault_o(fault)
  );

  assign pulses = {beat, grant, masks, start};
  assign mask   = '1 << (8 * (Body - length));

  // kind: 0 start, 1 masks, 2 grant, 3 and 4 beats of the inputs.
  always_comb begin
    case (kind)
      8'd0:    length = 5;
      8'd1:    length = 8;
      8'd2:    length = 7;
      8'd3:    length = BeatHead + 2;
      default: length = BeatHead + 6;
    endcase
  end

  always_ff @(posedge clk) begin
    valid <= 1'b0;
    due   <= '0;
    if ($urandom_range(2) != 0 && messages <= Last + 20 && !(valid && left == '0)) begin
      valid <= 1'b1;
      if (left == '0) begin
        data <= messages == Last ? 8'h77 : kind == 8'd0 ? CmdStart : kind == 8'd1 ? CmdMasks
              : kind == 8'd2 ? CmdGrant : CmdBeat;
        left <= length;
      end else begin
        left <= left - 1;
        data <= kind >= 8'd3 && left == length ? kind - 8'd3 : 8'($urandom());
      end
    end
    if (valid) sent <= {data, sent[8*Body-1:8]};
    if (valid && left == '0) begin
      due      <= 5'b1 << kind;
      messages <= messages + 1;
      kind     <= 8'($urandom_range(4));
    end
    // A message's pulse comes in the cycle behind its last byte.
    if (messages <= Last && pulses != due) $fatal(1, "shell_commands_test: pulses");
    if (messages > Last + 1 && pulses != '0) begin
      $fatal(1, "shell_commands_test: a message behind a fault");
    end
    if (fault != (messages >= Last) && messages != Last) $fatal(1, "shell_commands_test: fault");
    if (pulses != '0 && (body & past_mask) != (sent & past_mask)) begin
      $fatal(1, "shell_commands_test: body");
    end
    past_mask <= mask;
    if (rst) begin
      {valid, left, messages, kind, due} <= '0;
    end
  end

  logic [8*Body-1:0] past_mask;

  assign done_o = messages > Last + 10;
endmodule
