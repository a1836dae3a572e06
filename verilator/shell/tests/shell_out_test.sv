/// Tests shell_out: ready follows stall bits and credits, the events tell all that happened at the
/// pins, and a reset ends a transaction.

module shell_out_test
  import shell_pkg::*;
(
  input  logic clk,
  input  logic rst,
  // High once the test has passed.
  output logic done_o
);
  logic                           masks, grant, valid, last, ready, stop, event_valid,
    event_ready, half, stalled, drop;
  logic [7:0]                     pins, shown, event_pins;
  logic [63:0]                    mask, ticks;
  logic [31:0]                    credits, more, taken;
  logic [1:0]                     phase;
  logic [SlotBits-1:0]            slot;
  logic [SlotBits+EventFlags-1:0] head;
  logic [SlotBits+EventFlags+7:0] events [$];
  logic [EventFlags-1:0]          flags;

  shell_out #(.Bits(8), .Depth(2)) u_out (
    .clk, .rst, .limited_i(1'b1), .credits_i(32'd2), .grant_i(grant), .more_credits_i(more),
    .drop_i(drop),
    .masks_i(masks), .mask_i(mask), .drive_i(phase == 2'd1), .sample_i(phase == 2'd2),
    .tick_i(phase == 2'd3),
    .slot_i(slot), .valid_i(valid), .pins_i(pins), .last_i(last), .ready_o(ready), .stop_o(stop),
    .event_valid_o(event_valid), .event_ready_i(event_ready), .event_o(head),
    .event_pins_o(event_pins)
  );

  always_comb begin
    flags               = '0;
    flags[EventValid]   = valid;
    flags[EventTaken]   = valid && ready;
    flags[EventPayload] = valid && !(stalled && pins == shown);
  end

  always_ff @(posedge clk) begin
    {grant, drop, masks} <= '0;
    case (phase)
      2'd0: begin
        if (grant || masks) begin
        end else if (slot[4:0] == '0 && ticks == '1) begin
          masks <= 1'b1;
          mask  <= {$urandom(), $urandom()};
        end else if ($urandom_range(9) == 0) begin
          grant <= 1'b1;
          drop  <= $urandom_range(3) == 0;
          more  <= $urandom_range(1);
        end else if (!stop) phase <= 2'd1;
      end
      2'd1: begin
        phase <= 2'd2;
        if (!valid || !stalled) {valid, last, pins} <= 10'($urandom());
        else if ($urandom_range(9) == 0) pins <= 8'($urandom());
        else if ($urandom_range(9) == 0) valid <= 1'b0;
      end
      2'd2: begin
        phase <= 2'd3;
        if (ready != (!ticks[0] && (half || credits != 0))) $fatal(1, "shell_out_test: ready");
        if ((valid && (ready || flags[EventPayload])) || (stalled && !valid)) begin
          events.push_back({flags, slot, pins});
        end
        stalled <= valid && !ready;
        if (valid) shown <= pins;
        if (valid && ready) begin
          taken <= taken + 1;
          half  <= !last;
          if (!half) credits <= credits - 1;
        end
      end
      default: begin
        phase <= '0;
        slot  <= slot + 1'b1;
        ticks <= slot[4:0] == '1 ? '1 : {1'b0, ticks[63:1]};
      end
    endcase
    if (masks) ticks <= mask;
    if (grant) credits <= credits + more;
    if (drop) {half, stalled} <= '0;
    event_ready <= $urandom_range(9) == 0;
    if (event_valid && event_ready) begin
      if (events.size() == 0) $fatal(1, "shell_out_test: an event that nothing caused");
      if (events[0][SlotBits+EventFlags+7:8] != head) $fatal(1, "shell_out_test: event");
      if (head[SlotBits+EventPayload] && events[0][7:0] != event_pins) begin
        $fatal(1, "shell_out_test: beat of an event");
      end
      void'(events.pop_front());
    end
    if (rst) begin
      {grant, drop, masks, valid, last, half, stalled, event_ready} <= '0;
      phase   <= '0;
      slot    <= '0;
      ticks   <= '1;
      credits <= 32'd2;
      taken   <= '0;
    end
  end

  assign done_o = taken > 300;
endmodule
