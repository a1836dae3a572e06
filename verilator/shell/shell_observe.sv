/// Reports every change of the observed signals, as they are sampled in each cycle.
/// Promises: an event in the slot of the first cycle with another value; stop_o is high while an
/// event has no room.
/// Asserts: nothing; shell_observe_test compares events with the samples.

module shell_observe
  import shell_pkg::*;
#(
  // Bits of all signals.
  parameter int Bits  = 8,
  // Events that are held.
  parameter int Depth = 16
) (
  // Host clock; reset: all signals count as 0.
  input  logic                clk,
  input  logic                rst,
  // Pulse: a cycle is sampled, and its slot.
  input  logic                sample_i,
  input  logic [SlotBits-1:0] slot_i,
  input  logic [Bits-1:0]     pins_i,
  output logic                stop_o,
  // Event: the slot, and the values.
  output logic                event_valid_o,
  input  logic                event_ready_i,
  output logic [SlotBits-1:0] event_slot_o,
  output logic [Bits-1:0]     event_pins_o
);
  logic [Bits-1:0] shown_q;
  logic            change, room;

  assign change = sample_i && pins_i != shown_q;
  assign stop_o = !room;

  shell_fifo #(.Width(Bits + SlotBits), .Depth(Depth)) u_events (
    .clk, .rst,
    .in_valid_i(change), .in_ready_o(room), .in_data_i({slot_i, pins_i}),
    .out_valid_o(event_valid_o), .out_ready_i(event_ready_i),
    .out_data_o({event_slot_o, event_pins_o})
  );

  always_ff @(posedge clk) begin
    if (sample_i) shown_q <= pins_i;
    if (rst) shown_q <= '0;
  end
endmodule
