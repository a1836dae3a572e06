/// Transactor of an input stream: holds beats until the cycle in which they are due, offers each
/// until the device takes it, and reports the slot of each take.
/// A beat is offered unless the slot's stall bit is set; the first of a transaction not before its
/// cycle and its coupled streams (may_begin_i). Idle pins keep the last beat, or with poison noise.
/// A reset drops the transactions of earlier epochs, also one that is half taken.
/// Promises: beats leave in order, none is lost; stop_o is high while the device must not be
/// clocked: the queue is empty and the agent has more, it drops, or an event has no room.
/// Asserts: nothing; shell_in_test checks order, cycles and drops.

module shell_in
  import shell_pkg::*;
#(
  // Bits of a beat: its pins but those of the handshake.
  parameter int Bits  = 8,
  // Beats, and events, that are held.
  parameter int Depth = 16,
  // A level has no handshake, and keeps its value in a reset.
  parameter bit Level = 0,
  // The first beat of a transaction comes with that of another stream, whatever the stall bit says.
  parameter bit With  = 0
) (
  // Host clock; reset: clears everything, pins too.
  input  logic                 clk,
  input  logic                 rst,
  // Pulse: a beat, its flags (BeatFirst and so on), its epoch, and the cycle from which it is due.
  input  logic                 beat_valid_i,
  input  logic [Bits-1:0]      beat_i,
  input  logic [2:0]           beat_flags_i,
  input  logic [7:0]           beat_epoch_i,
  input  logic [CycleBits-1:0] beat_cycle_i,
  // Pulse: a grant; whether the agent has more beats of this stream; whether a reset begins.
  input  logic                 grant_i,
  input  logic                 more_i,
  input  logic                 drop_i,
  // Pulse: stall bits of the next ticks, the first one lowest.
  input  logic                 masks_i,
  input  logic [63:0]          mask_i,
  // Pulses in the slots of the stream's clock, as in shell_clocks; the cycle and the slot.
  input  logic                 drive_i,
  input  logic                 sample_i,
  input  logic                 tick_i,
  input  logic [CycleBits-1:0] cycle_i,
  input  logic [SlotBits-1:0]  slot_i,
  // High: no coupled stream forbids the first beat of a transaction.
  input  logic                 may_begin_i,
  // Poison: idle pins get noise, asked for by noise_wait_o.
  input  logic                 poison_i,
  output logic                 noise_wait_o,
  input  logic                 noise_load_i,
  input  logic [Bits-1:0]      noise_i,
  // Pins.
  output logic                 valid_o,
  output logic [Bits-1:0]      pins_o,
  input  logic                 ready_i,
  // Transactions taken; whether one is offered or half taken; the same, or one is begun now.
  output logic [31:0]          taken_o,
  output logic                 active_o,
  output logic                 begun_o,
  output logic                 stop_o,
  // Event: the slot in which a beat was taken.
  output logic                 event_valid_o,
  input  logic                 event_ready_i,
  output logic [SlotBits-1:0]  event_slot_o
);
  logic [Bits-1:0]      head;
  logic [CycleBits-1:0] head_cycle;
  logic [7:0]           head_epoch, epoch_q, age;
  logic                 head_first, head_last, have, room;
  logic                 offered_q, valid_q, half_q, more_q;
  logic                 old, due, go, retire, take, pop, event_room;
  logic [63:0]          mask_q;

  shell_fifo #(.Width(Bits + CycleBits + 10), .Depth(Depth)) u_beats (
    .clk, .rst,
    .in_valid_i(beat_valid_i), .in_ready_o(room),
    .in_data_i({
      beat_flags_i[BeatLast], beat_flags_i[BeatFirst], beat_epoch_i, beat_cycle_i, beat_i
    }),
    .out_valid_o(have), .out_ready_i(pop),
    .out_data_o({head_last, head_first, head_epoch, head_cycle, head})
  );

  shell_fifo #(.Width(SlotBits), .Depth(Depth)) u_events (
    .clk, .rst,
    .in_valid_i(take), .in_ready_o(event_room), .in_data_i(slot_i),
    .out_valid_o(event_valid_o), .out_ready_i(event_ready_i), .out_data_o(event_slot_o)
  );

  assign age    = epoch_q - head_epoch;
  assign old    = !Level && have && age != '0 && !age[7];
  assign due    = have && !old && (!head_first || (head_cycle <= cycle_i && may_begin_i));
  assign go     = drive_i && !offered_q && due && ((With && head_first) || !mask_q[0]);
  assign retire = drive_i && !offered_q && !go && valid_q && !Level;
  assign take   = sample_i && offered_q && ready_i;
  assign pop    = take || old;

  assign valid_o  = valid_q;
  assign active_o = half_q || offered_q;
  assign begun_o  = active_o || go;
  assign stop_o   = old || (!have && more_q) || !event_room;

  always_ff @(posedge clk) begin
    if (beat_valid_i) more_q <= beat_flags_i[BeatMore];
    if (grant_i) more_q <= more_i;
    if (masks_i) mask_q <= mask_i;
    else if (tick_i) mask_q <= mask_q >> 1;
    if (go) begin
      pins_o    <= head;
      offered_q <= 1'b1;
      valid_q   <= 1'b1;
    end
    if (retire) begin
      valid_q      <= 1'b0;
      noise_wait_o <= poison_i;
    end
    if (noise_load_i) begin
      pins_o       <= noise_i;
      noise_wait_o <= 1'b0;
    end
    if (take) offered_q <= 1'b0;
    if (pop) half_q <= take && !head_last;
    if (pop && head_last) taken_o <= taken_o + 1'b1;
    if (drop_i) begin
      epoch_q <= epoch_q + 1'b1;
      if (!Level) begin
        offered_q <= 1'b0;
        valid_q   <= 1'b0;
        pins_o    <= '0;
      end
    end
    if (rst) begin
      {offered_q, valid_q, half_q, more_q, noise_wait_o} <= '0;
      epoch_q <= '0;
      mask_q  <= '0;
      taken_o <= '0;
      pins_o  <= '0;
    end
  end

  logic unused_bits;
  assign unused_bits = room;  // the agent never sends more beats than fit
endmodule
