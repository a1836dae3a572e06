/// Tests shell_observe: an event for each sample that differs from the one before.

module shell_observe_test
  import shell_pkg::*;
(
  input  logic clk,
  input  logic rst,
  // High once the test has passed.
  output logic done_o
);
  logic                  sample, stop, event_valid, event_ready;
  logic [3:0]            pins, latest, event_pins;
  logic [SlotBits-1:0]   slot, event_slot;
  logic [SlotBits+3:0]   changes [$];
  logic [31:0]           seen;

  shell_observe #(.Bits(4), .Depth(2)) u_observe (
    .clk, .rst, .sample_i(sample), .slot_i(slot), .pins_i(pins), .stop_o(stop),
    .event_valid_o(event_valid),
    .event_ready_i(event_ready), .event_slot_o(event_slot), .event_pins_o(event_pins)
  );

  always_ff @(posedge clk) begin
    sample      <= !stop && !sample;
    event_ready <= $urandom_range(9) == 0;
    if (sample) begin
      slot   <= slot + 1'b1;
      latest <= pins;
      if (pins != latest) changes.push_back({slot, pins});
      if ($urandom_range(1) == 0) pins <= 4'($urandom());
    end
    if (event_valid && event_ready) begin
      if (changes.size() == 0 || changes[0] != {event_slot, event_pins}) begin
        $fatal(1, "shell_observe_test: event");
      end
      void'(changes.pop_front());
      seen <= seen + 1;
    end
    if (rst) begin
      {sample, event_ready} <= '0;
      {pins, latest} <= '0;
      slot <= '0;
      seen <= '0;
    end
  end

  assign done_o = seen > 200;
endmodule
