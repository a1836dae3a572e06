/// Tests shell_in: beats are offered in order, from their cycle on, unless the tick's stall bit is
/// set or another stream must begin first; a reset drops all of earlier epochs, and only these;
/// idle pins get noise; every take is reported with its slot.

module shell_in_test
  import shell_pkg::*;
(
  input  logic clk,
  input  logic rst,
  // High once the test has passed.
  output logic done_o
);
  localparam int Depth = 3;

  typedef struct packed {
    logic [7:0]           data;
    logic                 first;
    logic [7:0]           epoch;
    logic [CycleBits-1:0] due;
  } beat_t;

  beat_t                 queue [$];
  logic [SlotBits-1:0]   takes [$];
  logic                  beat_valid, masks, grant, drop, ready, valid, stop, event_valid,
    event_ready;
  logic                  offered, midway, active, begun, noise_want, noise_load, noisy, was_valid,
    may, may_go, sampling;
  logic [7:0]            beat, pins, epoch, beat_epoch, announced, n, noise, last_noise;
  logic [2:0]            flags;
  logic [63:0]           mask, ticks;
  logic [CycleBits-1:0]  cycle, due;
  logic [1:0]            phase;
  logic [31:0]           taken, reported;
  logic [SlotBits-1:0]   event_slot;

  shell_in #(.Bits(8), .Depth(Depth)) u_in (
    .clk, .rst,
    .beat_valid_i(beat_valid), .beat_i(beat), .beat_flags_i(flags), .beat_epoch_i(beat_epoch),
    .beat_cycle_i(due), .grant_i(grant), .more_i(1'b1), .drop_i(drop), .masks_i(masks),
    .mask_i(mask),
    .drive_i(phase == 2'd1), .sample_i(sampling), .tick_i(phase == 2'd3), .cycle_i(cycle),
    .slot_i(cycle[SlotBits-1:0]), .may_begin_i(may), .poison_i(1'b1), .noise_wait_o(noise_want),
    .noise_load_i(noise_load), .noise_i(noise), .valid_o(valid), .pins_o(pins), .ready_i(ready),
    .taken_o(taken),
    .active_o(active), .begun_o(begun), .stop_o(stop), .event_valid_o(event_valid),
    .event_ready_i(event_ready), .event_slot_o(event_slot)
  );

  assign sampling = phase == 2'd2 && !noise_want;

  // Slots: the transactor is clocked unless it stops, and sampled once it has its noise; resets and
  // masks come between slots.
  always_ff @(posedge clk) begin
    {grant, drop, masks} <= '0;
    ready <= $urandom_range(2) != 0;
    case (phase)
      2'd0: begin
        may <= $urandom_range(3) != 0;
        if (grant || masks) begin
        end else if ($urandom_range(60) == 0) begin
          {grant, drop} <= '1;
        end else if (cycle[3:0] == '0 && ticks == '1) begin
          masks <= 1'b1;
          mask  <= {$urandom(), $urandom()};
        end else if (!stop) phase <= 2'd1;
      end
      2'd3: begin
        phase <= '0;
        cycle <= cycle + 1'b1;
        ticks <= cycle[3:0] == '1 ? '1 : {1'b0, ticks[63:1]};
      end
      default: if (phase == 2'd1 || sampling) phase <= phase + 1'b1;
    endcase
    noise_load <= noise_want && !noise_load && $urandom_range(2) == 0;
    noise      <= 8'($urandom());
    if (masks) ticks <= mask;
    if (rst) begin
      phase <= '0;
      cycle <= '0;
      ticks <= '1;
      {grant, drop, masks, may, noise_load} <= '0;
    end
  end

  // The agent: transactions, each of the epoch that was announced when it began.
  always_ff @(posedge clk) begin
    beat_valid <= 1'b0;
    if (!beat_valid && queue.size() < Depth && $urandom_range(4) == 0 && !drop && !grant) begin
      beat_valid <= 1'b1;
      beat       <= n;
      n          <= n + 1'b1;
      flags      <= {1'b1, $urandom_range(2) == 0, !midway};
      if (!midway) begin
        beat_epoch <= epoch;
        due        <= cycle + CycleBits'($urandom_range(5));
      end
    end
    if (beat_valid) midway <= !flags[BeatLast];
    if (rst) begin
      beat_valid <= 1'b0;
      midway     <= 1'b0;
      n          <= '0;
    end
  end

  // Expected results.
  always_ff @(posedge clk) begin
    event_ready <= $urandom_range(9) == 0;
    if (beat_valid && beat_epoch == epoch && !drop) begin
      queue.push_back({beat, flags[BeatFirst], beat_epoch, due});
    end
    if (drop) begin
      epoch   <= epoch + 1'b1;
      {offered, was_valid} <= '0;
      queue.delete();
    end
    if (noise_load) last_noise <= noise;
    noisy <= noise_load || (noisy && phase != 2'd3);
    if (sampling) begin
      if (queue.size() != 0) begin
        may_go = !queue[0].first || (may && queue[0].due <= cycle);
        if (valid != (offered || (!ticks[0] && may_go))) $fatal(1, "shell_in_test: valid");
        if (valid && pins != queue[0].data) $fatal(1, "shell_in_test: another beat was due");
      end else if (valid) $fatal(1, "shell_in_test: a beat is offered that there is not");
      if (was_valid && !valid && !(noisy && pins == last_noise)) $fatal(1, "shell_in_test: noise");
      was_valid <= valid;
      offered   <= valid && !ready;
      if (valid && ready) begin
        void'(queue.pop_front());
        takes.push_back(cycle[SlotBits-1:0]);
      end
    end
    if (event_valid && event_ready) begin
      if (takes.size() == 0 || takes[0] != event_slot) $fatal(1, "shell_in_test: event");
      void'(takes.pop_front());
      reported <= reported + 1;
    end
    if (rst) begin
      {offered, event_ready, noisy, was_valid} <= '0;
      epoch    <= '0;
      reported <= '0;
    end
  end

  assign done_o = reported > 250;

  logic unused_bits;
  assign unused_bits = ^{taken, active, begun, noise_want, announced};
  assign announced = epoch;
endmodule
