/// Controlled clocks: grants edges to the device's clocks, as many slots as the agent allows. A
/// slot is a time at which one or more of the clocks rise; edges that coincide rise together.
/// Each slot takes four cycles of the host clock: Pick finds the clocks that rise next and waits
/// for the transactors; Drive sets the pins of their streams; Settle waits for noise, and samples;
/// Edge lets the edges pass. Pins change, are sampled and are clocked at different edges of the
/// host clock, so skew between it and the gated clocks does no harm.
/// Promises: no edge outside a grant, none while stop_i is high in Pick.
/// Asserts: nothing; shell_clocks_test counts the edges.

module shell_clocks
  import shell_pkg::*;
#(
  // Clocks of the device.
  parameter int Clocks = 1
) (
  // Host clock, and reset: synchronous, active high. Reset loads first_i.
  input  logic                              clk,
  input  logic                              rst,
  // Time from the start to a clock's first edge, and from edge to edge, in ps.
  input  logic [Clocks-1:0][31:0]           first_i,
  input  logic [Clocks-1:0][31:0]           period_i,
  // Pulse: run so many slots.
  input  logic                              grant_i,
  input  logic [SlotBits:0]                 slots_i,
  // High: a transactor waits for beats, or has no room for another event.
  input  logic                              stop_i,
  // High: pins are not ready to be sampled.
  input  logic                              wait_i,
  // Pulses in each slot, a bit for each clock that rises in it: drive pins, sample pins, edge.
  output logic [Clocks-1:0]                 drive_o,
  output logic [Clocks-1:0]                 sample_o,
  output logic [Clocks-1:0]                 rise_o,
  // Edges of each clock since the start.
  output logic [Clocks-1:0][CycleBits-1:0]  ticks_o,
  // Index of the slot in its grant.
  output logic [SlotBits-1:0]               slot_o,
  // High while a grant's slots run, and are not stopped.
  output logic                              moving_o,
  // Pulse: the grant is over.
  output logic                              done_o
);
  typedef enum logic [2:0] {Idle, Pick, Drive, Settle, Edge} state_e;

  state_e                  state_q;
  logic [Clocks-1:0][31:0] left_q;
  logic [31:0]             least, least_q;
  logic [Clocks-1:0]       next, rise_q;
  logic [SlotBits:0]       slots_q;
  logic                    over;

  always_comb begin
    least = left_q[0];
    for (int k = 1; k < Clocks; k++) begin
      if (left_q[k] < least) least = left_q[k];
    end
    for (int k = 0; k < Clocks; k++) next[k] = left_q[k] == least;
  end

  assign over     = slots_q == '0;
  assign done_o   = state_q == Pick && over;
  assign moving_o = state_q != Idle && !(state_q == Pick && stop_i);
  assign drive_o  = state_q == Drive ? rise_q : '0;
  assign sample_o = state_q == Settle && !wait_i ? rise_q : '0;
  assign rise_o   = state_q == Edge ? rise_q : '0;

  always_ff @(posedge clk) begin
    case (state_q)
      Idle: begin
        if (grant_i) begin
          state_q <= Pick;
          slots_q <= slots_i;
          slot_o  <= '0;
        end
      end
      Pick: begin
        rise_q  <= next;
        least_q <= least;
        if (over) state_q <= Idle;
        else if (!stop_i) state_q <= Drive;
      end
      Drive: state_q <= Settle;
      Settle: if (!wait_i) state_q <= Edge;
      default: begin
        state_q <= Pick;
        slots_q <= slots_q - 1'b1;
        slot_o  <= slot_o + 1'b1;
        for (int k = 0; k < Clocks; k++) begin
          left_q[k] <= rise_q[k] ? period_i[k] : left_q[k] - least_q;
          if (rise_q[k]) ticks_o[k] <= ticks_o[k] + 1'b1;
        end
      end
    endcase
    if (rst) begin
      state_q <= Idle;
      left_q  <= first_i;
      ticks_o <= '0;
    end
  end
endmodule
