/// Tests shell_host with a list of frames: those of another session, out of order, damaged or sent
/// twice change nothing, a session that the shell does not know is answered, a session begins with
/// everything cleared, and one under way does not begin again.

module shell_host_test
  import shell_pkg::*;
(
  input  logic clk,
  input  logic rst,
  // High once the test has passed.
  output logic done_o
);
  localparam int Word = 4;    // bytes of a word of the link
  localparam int Gap  = 400;  // cycles for a frame and what it causes

  // A frame with up to two bytes of payload, and the totals behind it, the highest digit first:
  // sessions begun, start messages received; identities, frames of kind lost, requests to send
  // again and faults sent by the shell. At power-up it sends its identity in session 0.
  typedef struct packed {
    frame_e          kind;
    logic            damaged;
    logic [7:0]      session, seq;
    logic [1:0]      length;
    logic [1:0][7:0] payload;
    logic [5:0][3:0] count;
  } step_t;

  localparam logic [15:0] Start = {8'haa, CmdStart};
  localparam int          Steps = 15;
  localparam step_t [Steps-1:0] Script = {
    step_t'{FrameData,  1'b0, 8'd3, 8'd1, 2'd2, Start,                24'h233321},
    step_t'{FrameData,  1'b0, 8'd4, 8'd1, 2'd1, 16'h77,               24'h233221},
    step_t'{FrameData,  1'b0, 8'd4, 8'd0, 2'd2, Start,                24'h233220},
    step_t'{FrameReset, 1'b0, 8'd4, 8'd0, 2'd0, 16'h0,                24'h223220},
    step_t'{FrameData,  1'b0, 8'd3, 8'd3, 2'd1, Start,                24'h122220},
    step_t'{FrameData,  1'b0, 8'd3, 8'd2, 2'd2, Start,                24'h122220},
    step_t'{FrameData,  1'b0, 8'd3, 8'd2, 2'd1, {8'h0, Start[15:8]},  24'h122220},
    step_t'{FrameReset, 1'b0, 8'd3, 8'd0, 2'd0, 16'h0,                24'h112220},
    step_t'{FrameData,  1'b0, 8'd3, 8'd1, 2'd1, Start,                24'h112220},
    step_t'{FrameData,  1'b1, 8'd3, 8'd1, 2'd2, Start,                24'h112220},
    step_t'{FrameData,  1'b0, 8'd3, 8'd2, 2'd2, Start,                24'h112210},
    step_t'{FrameData,  1'b0, 8'd9, 8'd1, 2'd2, Start,                24'h112200},
    step_t'{FrameData,  1'b0, 8'd3, 8'd0, 2'd2, Start,                24'h112100},
    step_t'{FrameReset, 1'b0, 8'd3, 8'd0, 2'd0, 16'h0,                24'h102100},
    step_t'{FrameData,  1'b0, 8'd7, 8'd0, 2'd2, Start,                24'h001100}
  };

  // Returns a frame, filled up with zeros. It acknowledges the shell's first one.
  function automatic logic [15:0][7:0] frame(step_t s);
    logic [15:0][7:0] f;
    logic [31:0]      crc;
    f    = '0;
    f[0] = FrameStart;
    f[1] = 8'(s.kind);
    f[2] = s.session;
    f[3] = s.seq;
    f[4] = 8'(s.kind == FrameData);
    f[5] = 8'(s.length);
    for (int i = 0; i < int'(s.length); i++) f[7+i] = s.payload[i];
    crc = '1;
    for (int i = 1; i < 7 + int'(s.length); i++) crc = crc32c(crc, f[i]);
    if (s.damaged) crc[5] = !crc[5];
    for (int i = 0; i < 4; i++) f[7+int'(s.length)+i] = ~crc[8*i +: 8];
    return f;
  endfunction

  step_t            step;
  logic [31:0]      at, cycle, got;
  logic [2:0]       word;
  logic [15:0][7:0] bytes;
  logic [5:0][3:0]  count;
  logic             clear, start, masks, grant, beat, rx_ready, tx_valid, tx_ready, valid;
  logic             event_ready, over;
  logic [31:0]      tx_data;
  logic [6:0][7:0]  head;
  logic [7:0]       data;
  logic [87:0]      body;

  assign step  = Script[at];
  assign bytes = frame(step);

  shell_host #(.LinkBytes(Word), .BeatBytes(16'd2), .BodyBytes(11)) u_host (
    .clk, .rst,
    .link_rx_tdata(bytes[4*word[1:0] +: 4]), .link_rx_tvalid(!word[2]), .link_rx_tready(rx_ready),
    .link_tx_tdata(tx_data), .link_tx_tvalid(tx_valid), .link_tx_tready(tx_ready),
    .clear_o(clear), .start_o(start), .masks_o(masks), .grant_o(grant), .beat_o(beat),
    .body_o(body),
    .event_valid_i(1'b0), .event_ready_o(event_ready), .event_i('0), .payload_i('0), .done_i(1'b0),
    .moving_i(1'b0)
  );
  shell_narrow #(.Bytes(Word)) u_narrow (
    .clk, .rst, .valid_i(tx_valid), .ready_o(tx_ready), .data_i(tx_data),
    .valid_o(valid), .ready_i(1'b1), .byte_o(data)
  );

  always_ff @(posedge clk) begin
    cycle <= cycle + 1;
    if (!word[2] && rx_ready) word <= word + 1'b1;
    if (clear) count[5] <= count[5] + 1'b1;
    if (start) count[4] <= count[4] + 1'b1;
    if (masks || grant || beat) $fatal(1, "shell_host_test: a message that was not sent");
    // Frames of the shell: `got` bytes of one so far.
    if (valid && (got != 0 || data == FrameStart)) begin
      got <= got + 1;
      if (got < 7) head[got[2:0]] <= data;
      if (got == 6 && head[1][1:0] == FrameLost) begin
        count[2] <= count[2] + 1'b1;
        if (head[2] != step.session) $fatal(1, "shell_host_test: another session is lost");
      end
      if (got == 6 && head[1][KindNack]) count[1] <= count[1] + 1'b1;
      if (got == 7 && head[5] != '0 && data == RepIdent) count[3] <= count[3] + 1'b1;
      if (got == 7 && head[5] != '0 && data == RepFault) count[0] <= count[0] + 1'b1;
      if (got > 6 && got == 10 + 32'(head[5])) got <= '0;
    end
    if (cycle == Gap) begin
      if (count != step.count) $fatal(1, "shell_host_test: frame %0d: %h", at, count);
      cycle <= '0;
      if (at == Steps - 1) over <= 1'b1;
      else {at, word} <= {at + 1, 3'd0};
    end
    if (rst) {at, cycle, word, count, got, over} <= '0;
  end

  assign done_o = over;

  logic unused_bits;
  assign unused_bits = ^{body, event_ready, head};
endmodule
