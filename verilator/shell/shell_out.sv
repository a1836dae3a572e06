/// Transactor of an output stream: drives ready by stall bits and credits, and reports what the
/// agent cannot know by itself: each beat that is taken, one that is offered and not taken, every
/// change of it, and its withdrawal. A beat that stands still is reported once.
/// Promises: an event for each sample that differs from what the one before lets expect; stop_o is
/// high while an event has no room.
/// Asserts: nothing; shell_out_test checks ready and events.

module shell_out
  import shell_pkg::*;
#(
  // Bits of a beat: its pins but those of the handshake.
  parameter int Bits    = 8,
  // Events that are held.
  parameter int Depth   = 16,
  // The stream has a ready.
  parameter bit Ready   = 1,
  // Ready is high only while valid is.
  parameter bit Answers = 0,
  // The beat is on the pins in the tick after it was taken.
  parameter bit Late    = 0
) (
  // Host clock; reset: clears everything.
  input  logic                               clk,
  input  logic                               rst,
  // With limited_i, beginning a transaction takes a credit. Reset loads credits_i.
  input  logic                               limited_i,
  input  logic [31:0]                        credits_i,
  // Pulse: a grant; credits that come with it; whether a reset begins.
  input  logic                               grant_i,
  input  logic [31:0]                        more_credits_i,
  input  logic                               drop_i,
  // Pulse: stall bits of the next ticks, the first one lowest.
  input  logic                               masks_i,
  input  logic [63:0]                        mask_i,
  // Pulses in the slots of the stream's clock, as in shell_clocks; the slot.
  input  logic                               drive_i,
  input  logic                               sample_i,
  input  logic                               tick_i,
  input  logic [SlotBits-1:0]                slot_i,
  // Pins; last_i is high in the last beat of a transaction.
  input  logic                               valid_i,
  input  logic [Bits-1:0]                    pins_i,
  input  logic                               last_i,
  output logic                               ready_o,
  output logic                               stop_o,
  // Event: flags and slot, and the beat.
  output logic                               event_valid_o,
  input  logic                               event_ready_i,
  output logic [SlotBits+EventFlags-1:0]     event_o,
  output logic [Bits-1:0]                    event_pins_o
);
  logic [63:0]           mask_q;
  logic [39:0]           credits_q;
  logic                  ready_q, half_q, stalled_q, late_q;
  logic [Bits-1:0]       shown_q;
  logic                  taken, same, payload, report, room;
  logic [EventFlags-1:0] flags;

  assign ready_o = Ready && ready_q && (!Answers || valid_i);
  assign taken   = valid_i && (!Ready || ready_q);
  assign same    = stalled_q && pins_i == shown_q;
  assign payload = late_q || (valid_i && !same);
  assign report  = sample_i && (taken || payload || (stalled_q && !valid_i));
  assign stop_o  = !room;

  always_comb begin
    flags               = '0;
    flags[EventValid]   = valid_i;
    flags[EventTaken]   = taken;
    flags[EventPayload] = payload;
  end

  shell_fifo #(.Width(Bits + EventFlags + SlotBits), .Depth(Depth)) u_events (
    .clk, .rst,
    .in_valid_i(report), .in_ready_o(room), .in_data_i({flags, slot_i, pins_i}),
    .out_valid_o(event_valid_o), .out_ready_i(event_ready_i), .out_data_o({event_o, event_pins_o})
  );

  always_ff @(posedge clk) begin
    if (masks_i) mask_q <= mask_i;
    else if (tick_i) mask_q <= mask_q >> 1;
    if (drive_i) ready_q <= !mask_q[0] && (!limited_i || half_q || credits_q != '0);
    if (grant_i) credits_q <= credits_q + 40'(more_credits_i);
    if (sample_i) begin
      stalled_q <= valid_i && !taken;
      late_q    <= Late && taken;
      if (valid_i) shown_q <= pins_i;
      if (taken) half_q <= !Late && !last_i;
      if (taken && limited_i && !half_q) credits_q <= credits_q - 1'b1;
    end
    if (drop_i) {ready_q, half_q, stalled_q, late_q} <= '0;
    if (rst) begin
      {ready_q, half_q, stalled_q, late_q} <= '0;
      mask_q    <= '0;
      credits_q <= 40'(credits_i);
    end
  end
endmodule
