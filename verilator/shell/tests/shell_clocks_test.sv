/// Tests shell_clocks: edges of three clocks against their times, as many slots as were granted,
/// none while stopped.

module shell_clocks_test
  import shell_pkg::*;
(
  input  logic clk,
  input  logic rst,
  // High once the test has passed.
  output logic done_o
);
  localparam logic [2:0][31:0] First  = {32'd4999, 32'd3000, 32'd2000};
  localparam logic [2:0][31:0] Period = {32'd5001, 32'd3000, 32'd2000};

  logic                       grant, stop, stopped, settle, moving, done, running;
  logic [SlotBits:0]          slots, left;
  logic [2:0]                 drive, sample, rise, want;
  logic [2:0][CycleBits-1:0]  ticks, count;
  logic [SlotBits-1:0]        slot, at;
  logic [2:0][63:0]           due;
  logic [63:0]                first;
  logic [31:0]                grants;

  shell_clocks #(.Clocks(3)) u_clocks (
    .clk, .rst, .first_i(First), .period_i(Period),
    .grant_i(grant), .slots_i(slots), .stop_i(stop), .wait_i(settle),
    .drive_o(drive), .sample_o(sample), .rise_o(rise), .ticks_o(ticks), .slot_o(slot),
    .moving_o(moving), .done_o(done)
  );

  always_comb begin
    first = due[0];
    for (int k = 1; k < 3; k++) if (due[k] < first) first = due[k];
    for (int k = 0; k < 3; k++) want[k] = due[k] == first;
  end

  always_ff @(posedge clk) begin
    grant   <= 1'b0;
    stop    <= $urandom_range(3) == 0;
    settle  <= $urandom_range(3) == 0;
    stopped <= stop;
    if (!running && !grant && $urandom_range(3) == 0) begin
      grant   <= 1'b1;
      running <= 1'b1;
      slots   <= (SlotBits + 1)'($urandom_range(20, 1));
    end
    if (grant) begin
      left   <= slots;
      at     <= '0;
      grants <= grants + 1;
    end
    if (drive != '0 && stopped) $fatal(1, "shell_clocks_test: a slot begins while stopped");
    if (sample != '0 && settle) $fatal(1, "shell_clocks_test: sampled too early");
    if (rise != '0) begin
      if (left == '0) $fatal(1, "shell_clocks_test: an edge outside a grant");
      if (rise != want || slot != at || ticks != count) $fatal(1, "shell_clocks_test: wrong edges");
      left <= left - 1'b1;
      at   <= at + 1'b1;
      for (int k = 0; k < 3; k++) begin
        if (want[k]) due[k] <= due[k] + 64'(Period[k]);
        if (want[k]) count[k] <= count[k] + 1'b1;
      end
    end
    if (done) begin
      if (left != '0) $fatal(1, "shell_clocks_test: slots are missing");
      running <= 1'b0;
    end
    if (rst) begin
      {grant, stop, settle, stopped, running} <= '0;
      {left, at, count} <= '0;
      grants <= '0;
      for (int k = 0; k < 3; k++) due[k] <= 64'(First[k]);
    end
  end

  assign done_o = grants > 100;

  logic unused_bits;
  assign unused_bits = moving;
endmodule
