/// Tests shell_trace: it holds the pins of the cycles from the chosen one on, and gives all of them
/// each time it is read, also before it is full; and none of another run.

module shell_trace_test
  import shell_pkg::*;
(
  input  logic clk,
  input  logic rst,
  // High once the test has passed.
  output logic done_o
);
  localparam int Depth = 8;

  logic                 sample, read, reading, clear, event_valid, event_ready;
  logic [CycleBits-1:0] cycle, from;
  logic [7:0]           pins, event_pins;
  logic [SlotBits-1:0]  event_slot;
  logic [7:0]           kept [$];
  logic [31:0]          at, full, runs;

  shell_trace #(.Bits(8), .Depth(Depth)) u_trace (
    .clk, .rst(rst || clear), .from_i(from), .sample_i(sample), .cycle_i(cycle), .pins_i(pins),
    .read_i(read),
    .event_valid_o(event_valid), .event_ready_i(event_ready), .event_slot_o(event_slot),
    .event_pins_o(event_pins)
  );

  // Cycles are sampled unless the buffer is read; now and then a run begins.
  always_ff @(posedge clk) begin
    {read, clear} <= '0;
    sample      <= !sample && !read && !reading && !clear && $urandom_range(2) != 0;
    event_ready <= $urandom_range(2) == 0;
    if (sample) begin
      if (cycle >= from && kept.size() < Depth) kept.push_back(pins);
      cycle <= cycle + 1'b1;
      pins  <= 8'($urandom());
    end else if (!read && !reading && !clear && $urandom_range(9) == 0) begin
      if (cycle > from + 12 && $urandom_range(3) == 0) begin
        clear <= 1'b1;
        kept.delete();
        sample <= 1'b0;
        cycle <= '0;
        from  <= CycleBits'($urandom_range(20));
        runs  <= runs + 1;
      end else begin
        {read, reading} <= '1;
        at <= '0;
        sample <= 1'b0;
      end
    end
    if (reading && !read) begin
      if (event_valid != (at != kept.size())) $fatal(1, "shell_trace_test: number of samples");
      if (event_valid && event_ready) begin
        if (event_slot != SlotBits'(at) || event_pins != kept[at]) begin
          $fatal(1, "shell_trace_test: sample");
        end
        at <= at + 1;
      end
      if (!event_valid) begin
        reading <= 1'b0;
        if (kept.size() == Depth) full <= full + 1;
      end
    end
    if (!reading && event_valid) $fatal(1, "shell_trace_test: nothing was to be read");
    if (rst) begin
      {sample, read, reading, clear, event_ready} <= '0;
      {cycle, pins} <= '0;
      from <= CycleBits'(5);
      {at, full, runs} <= '0;
    end
  end

  assign done_o = full > 50 && runs > 50;
endmodule
