/// Trace buffer, the wave of an FPGA: keeps the values of chosen pins in consecutive cycles, from a
/// chosen one on until it is full. It never stops the clocks. It can be read any number of times.
/// Promises: the samples come in order, without a gap between the first event and the last.
/// Asserts: nothing; shell_trace_test compares samples with the pins.

module shell_trace
  import shell_pkg::*;
#(
  // Bits of all pins.
  parameter int Bits  = 8,
  // Samples that are held: a power of two, 2 to 4,096.
  parameter int Depth = 1024
) (
  // Host clock; reset: the buffer is empty.
  input  logic                 clk,
  input  logic                 rst,
  // Cycle of the first sample.
  input  logic [CycleBits-1:0] from_i,
  // Pulse: a cycle is sampled; its number, and the pins.
  input  logic                 sample_i,
  input  logic [CycleBits-1:0] cycle_i,
  input  logic [Bits-1:0]      pins_i,
  // Pulse: read all samples, from the first one on.
  input  logic                 read_i,
  // Event: the index of a sample, and the sample.
  output logic                 event_valid_o,
  input  logic                 event_ready_i,
  output logic [SlotBits-1:0]  event_slot_o,
  output logic [Bits-1:0]      event_pins_o
);
  localparam int Aw = $clog2(Depth);

  if (Depth < 2 || Depth > (1 << SlotBits) || (1 << Aw) != Depth) begin : g_bad_depth
    $fatal(1, "shell_trace: Depth must be a power of two, 2 to 4096");
  end

  logic [Bits-1:0] mem [Depth];
  logic [Aw:0]     count_q, at_q;
  logic            reading_q, keep, step;
  logic [Aw-1:0]   next;

  assign keep          = sample_i && cycle_i >= from_i && !count_q[Aw];
  assign event_valid_o = reading_q && at_q != count_q;
  assign event_slot_o  = SlotBits'(at_q);
  assign step          = event_valid_o && event_ready_i;
  assign next          = read_i ? '0 : step ? at_q[Aw-1:0] + 1'b1 : at_q[Aw-1:0];

  always_ff @(posedge clk) begin
    if (keep) mem[count_q[Aw-1:0]] <= pins_i;
    event_pins_o <= mem[next];
  end

  always_ff @(posedge clk) begin
    if (keep) count_q <= count_q + 1'b1;
    if (step) at_q <= at_q + 1'b1;
    if (at_q == count_q) reading_q <= 1'b0;
    if (read_i) begin
      reading_q <= 1'b1;
      at_q      <= '0;
    end
    if (rst) begin
      count_q   <= '0;
      at_q      <= '0;
      reading_q <= 1'b0;
    end
  end
endmodule
