/// The host's side of the shell: the link with its frames, and the messages in them.
/// Promises: a session begins with everything behind it cleared (clear_o).
/// Asserts: nothing; see the blocks.

module shell_host
  import shell_pkg::*;
#(
  // Bytes of a word of the link.
  parameter int                       LinkBytes    = 1,
  parameter int                       ResendCycles = 1 << 20,
  // Of shell_commands.
  parameter int                       Inputs       = 1,
  parameter logic [Inputs-1:0][15:0]  BeatBytes    = '1,
  parameter int                       StartBytes   = 1,
  parameter int                       MaskBytes    = 1,
  parameter int                       GrantBytes   = 1,
  parameter int                       BodyBytes    = 16,
  // Of shell_report.
  parameter int                       Sources      = 1,
  parameter logic [Sources-1:0][15:0] Bytes        = '1,
  parameter int                       MostBytes    = 1,
  parameter logic [255:0]             Hash         = '0
) (
  input  logic                                        clk,
  input  logic                                        rst,
  // The link.
  input  logic [8*LinkBytes-1:0]                      link_rx_tdata,
  input  logic                                        link_rx_tvalid,
  output logic                                        link_rx_tready,
  output logic [8*LinkBytes-1:0]                      link_tx_tdata,
  output logic                                        link_tx_tvalid,
  input  logic                                        link_tx_tready,
  // Pulse: a session begins.
  output logic                                        clear_o,
  // Messages from the agent, as in shell_commands.
  output logic                                        start_o,
  output logic                                        masks_o,
  output logic                                        grant_o,
  output logic [Inputs-1:0]                           beat_o,
  output logic [8*BodyBytes-1:0]                      body_o,
  // Events, as in shell_report.
  input  logic [Sources-1:0]                          event_valid_i,
  output logic [Sources-1:0]                          event_ready_o,
  input  logic [Sources-1:0][SlotBits+EventFlags-1:0] event_i,
  input  logic [Sources-1:0][8*MostBytes-1:0]         payload_i,
  input  logic                                        done_i,
  // High: the device's clocks run; a frame that is not full waits for further events.
  input  logic                                        moving_i
);
  logic       rx_valid, rx_ready, in_valid, out_valid, out_ready, tx_valid, tx_ready, tx_last;
  logic [7:0] rx_byte, in_byte, out_byte, tx_byte;
  logic       acked, nacked, seen, missing, lost, fault, idle, reset;
  logic [7:0] session, expected, ack, lost_session;

  assign reset = rst || clear_o;

  shell_narrow #(.Bytes(LinkBytes)) u_narrow (
    .clk, .rst,
    .valid_i(link_rx_tvalid), .ready_o(link_rx_tready), .data_i(link_rx_tdata),
    .valid_o(rx_valid), .ready_i(rx_ready), .byte_o(rx_byte)
  );

  shell_link_rx u_rx (
    .clk, .rst,
    .valid_i(rx_valid), .ready_o(rx_ready), .byte_i(rx_byte),
    .session_o(session), .begin_o(clear_o), .expect_o(expected),
    .acked_o(acked), .ack_o(ack), .nacked_o(nacked),
    .seen_o(seen), .missing_o(missing), .lost_o(lost), .lost_session_o(lost_session),
    .valid_o(in_valid), .byte_o(in_byte)
  );

  shell_commands #(
    .Inputs(Inputs), .BeatBytes(BeatBytes), .StartBytes(StartBytes), .MaskBytes(MaskBytes),
    .GrantBytes(GrantBytes), .BodyBytes(BodyBytes)
  ) u_commands (
    .clk, .rst(reset),
    .valid_i(in_valid), .byte_i(in_byte),
    .start_o, .masks_o, .grant_o, .beat_o, .body_o, .fault_o(fault)
  );

  shell_report #(
    .Sources(Sources), .Bytes(Bytes), .MostBytes(MostBytes), .Hash(Hash)
  ) u_report (
    .clk, .rst(reset),
    .event_valid_i, .event_ready_o, .event_i, .payload_i, .done_i, .fault_i(fault),
    .valid_o(out_valid), .ready_i(out_ready), .byte_o(out_byte), .idle_o(idle)
  );

  shell_link_tx #(.ResendCycles(ResendCycles)) u_tx (
    .clk, .rst(reset),
    .valid_i(out_valid), .ready_o(out_ready), .byte_i(out_byte), .flush_i(idle && !moving_i),
    .session_i(session), .expect_i(expected), .acked_i(acked), .ack_i(ack), .nacked_i(nacked),
    .seen_i(seen), .missing_i(missing), .lost_i(lost), .lost_session_i(lost_session),
    .valid_o(tx_valid), .ready_i(tx_ready), .byte_o(tx_byte), .last_o(tx_last)
  );

  shell_widen #(.Bytes(LinkBytes)) u_widen (
    .clk, .rst,
    .valid_i(tx_valid), .ready_o(tx_ready), .byte_i(tx_byte), .last_i(tx_last),
    .valid_o(link_tx_tvalid), .ready_i(link_tx_tready), .data_o(link_tx_tdata)
  );
endmodule
