/// Drives work_o, high while there is work that a function-level reset must wait for: a number of
/// gaps, each followed by work, then a constant level. A reset may end once the work has ended; the
/// answer reports what the reset did.

module blk_work (
  input  logic        clk,
  input  logic        rst,
  input  logic        start_i,
  // Bytes from the highest: cycles of a gap, cycles of work between gaps, number of gaps, level
  // after them.
  input  logic [31:0] pattern_i,
  // flr_i: a reset is in progress. clear_i: it resets the registers.
  input  logic        flr_i,
  input  logic        clear_i,
  output logic        work_o,
  output logic        valid_o,
  input  logic        ready_i,
  // Answer, one byte for each item, from the lowest: 1 if a reset was in progress at the start; 1
  // if, since the last answer, a reset cleared the registers or ended while there was work; number
  // of times that a reset cleared the registers after the work; 1 if the reset lasted more than
  // `Late` cycles after the work; 1 if no reset is in progress any more.
  output logic [39:0] told_o,
  output logic        idle_o
);
  localparam int Late = 8192;    // cycles from the work's end to the reset's, at most
  localparam int Lw   = $clog2(Late) + 1;

  typedef enum logic [2:0] {StIdle, StGap, StWork, StLast, StEnd, StTold} state_e;

  typedef struct packed {
    logic [7:0] gap;
    logic [7:0] width;
    logic [7:0] gaps;
    logic [7:0] level;
  } pattern_t;

  state_e        state_q;
  pattern_t      p_q;
  logic [7:0]    timer_q, clears_q;
  logic [Lw-1:0] cycles_q;
  logic          level_q, was_q, early_q, flr_q, clear_q, ends;

  assign idle_o  = state_q == StIdle;
  assign valid_o = state_q == StTold;
  assign work_o  = state_q == StWork || (level_q && state_q != StGap);
  assign told_o  = {7'h0, !flr_i, 7'h0, cycles_q > Lw'(Late), clears_q, 7'h0, early_q, 7'h0, was_q};
  assign ends    = clear_i || (flr_q && !flr_i);

  always_ff @(posedge clk) begin
    flr_q   <= flr_i;
    clear_q <= clear_i;
    timer_q <= timer_q + 8'd1;
    if (ends && (work_o || state_q == StGap)) early_q <= 1'b1;
    unique case (state_q)
      StIdle: if (start_i) begin
        p_q      <= pattern_t'(pattern_i);
        was_q    <= flr_i;
        timer_q  <= '0;
        cycles_q <= '0;
        clears_q <= '0;
        state_q  <= pattern_i[15:8] == 8'd0 ? StLast : StGap;
      end
      StGap: if (timer_q == p_q.gap) {state_q, timer_q} <= {StWork, 8'd0};
      StWork: if (timer_q == p_q.width) begin
        timer_q  <= '0;
        p_q.gaps <= p_q.gaps - 8'd1;
        state_q  <= p_q.gaps == 8'd1 ? StLast : StGap;
      end
      StLast: begin
        level_q <= p_q.level[0];
        state_q <= p_q.level[0] ? StTold : StEnd;
      end
      StEnd: begin
        cycles_q <= cycles_q + 1'b1;
        if (clear_i && !clear_q) clears_q <= clears_q + 8'd1;
        if (!flr_i || cycles_q > Lw'(Late)) state_q <= StTold;
      end
      default: if (ready_i) {state_q, early_q} <= {StIdle, 1'b0};
    endcase
    if (rst) begin
      state_q <= StIdle;
      level_q <= 1'b0;
      early_q <= 1'b0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^p_q;
endmodule
