/// The 256 read tags: a free list, the bytes that each request still lacks, and a scanner that
/// checks one tag a cycle for requests that timed out and quarantines that have ended (contract
/// P6).

`include "nic_assert.svh"

module nic_tags
  import nic_int_pkg::*;
#(
  // Bits of a client's number.
  parameter int Cw = 2
) (
  input  logic          clk,
  input  logic          rst,
  // Completion timeout and shortest quarantine, cycles.
  input  logic [31:0]   timeout_i,
  // High while a tag is free: tag_o.
  output logic          free_o,
  output logic [7:0]    tag_o,
  // Pulse: a request takes tag_o; its fields are stored under the tag.
  input  logic          take_i,
  input  logic [Cw-1:0] take_client_i,
  input  logic [15:0]   take_cookie_i,
  input  logic [13:0]   take_off_i,
  input  logic [12:0]   take_len_i,
  input  logic [6:0]    take_lower_i,
  // Pulse: the request with tag sent_tag_i was accepted at the TLP port.
  input  logic          sent_i,
  input  logic [7:0]    sent_tag_i,
  // Tag of a completion; the outputs below show its request in the same cycle.
  input  logic [7:0]    cpl_tag_i,
  // High: the tag's request has been sent and waits for data.
  output logic          live_o,
  output logic [Cw-1:0] client_o,
  output logic [15:0]   cookie_o,
  output logic [12:0]   len_o,
  output logic [13:0]   off_o,
  output logic [12:0]   left_o,
  output logic [6:0]    lower_o,
  // Pulse: the completion brought cpl_bytes_i of the bytes that its request lacks.
  input  logic          part_i,
  input  logic [12:0]   cpl_bytes_i,
  // Pulse: the completion ended its request.
  input  logic          end_i,
  // With end_i: more completions with the tag may still come, so it goes into quarantine.
  input  logic          bad_i,
  // late_o: a request that timed out waits for its answer. late_ready_i: it is answered in this
  // cycle.
  output logic          late_o,
  input  logic          late_ready_i,
  output logic [Cw-1:0] late_client_o,
  output logic [15:0]   late_cookie_o,
  output logic [12:0]   late_len_o,
  // High while some request was taken and has not ended.
  output logic          outstanding_o
);
  localparam int Tags = 256;

  // TagIdle: free, or its request is not yet accepted. TagBad: ended, to go into quarantine.
  typedef enum logic [1:0] {TagIdle, TagSent, TagBad, TagQuarantine} tag_state_e;

  // fixed_t: fields constant during a request. moving_t: fields that its completions update.
  typedef struct packed {
    logic [Cw-1:0] client;
    logic [15:0]   cookie;
    logic [12:0]   len;
  } fixed_t;

  typedef struct packed {
    logic [13:0] off;
    logic [12:0] left;
    logic [6:0]  lower;
  } moving_t;

  fixed_t      fixed_mem [Tags];
  moving_t     moving_mem [Tags];
  tag_state_e  state_mem [Tags];   // defined for tags below fresh_q
  logic [32:0] since_mem [Tags];   // time of acceptance, or of the quarantine's begin
  logic [7:0]  free_mem [Tags];    // ring of tags given back

  logic [8:0]  fresh_q;            // tags below this were used at least once
  logic [8:0]  wr_q, rd_q;         // write and read pointer of free_mem
  logic [8:0]  count_q;
  logic [8:0]  held_q;             // number of tags that are TagBad or in quarantine
  logic [32:0] now_q;
  logic [7:0]  scan_q;
  logic        late_q;
  logic        sent_q;             // sent_i and sent_tag_i, delayed by a cycle as completions are
  logic [7:0]  sent_tag_q;
  fixed_t      late_fixed_q, cpl_fixed;
  moving_t     cpl_moving;
  tag_state_e  scan_state;
  logic        scanned, aged, kill, stamp, back, scanning;
  logic [32:0] age;

  assign free_o = !fresh_q[8] || wr_q != rd_q;
  assign tag_o  = fresh_q[8] ? free_mem[rd_q[7:0]] : fresh_q[7:0];

  assign cpl_fixed  = fixed_mem[cpl_tag_i];
  assign cpl_moving = moving_mem[cpl_tag_i];
  assign live_o     = state_mem[cpl_tag_i] == TagSent && {1'b0, cpl_tag_i} < fresh_q &&
                      !(kill && scan_q == cpl_tag_i);
  assign client_o   = cpl_fixed.client;
  assign cookie_o   = cpl_fixed.cookie;
  assign len_o      = cpl_fixed.len;
  assign off_o      = cpl_moving.off;
  assign left_o     = cpl_moving.left;
  assign lower_o    = cpl_moving.lower;

  // A tag leaves quarantine only in a cycle in which end_i gives back no other; else in the next
  // scan round.
  assign scan_state = state_mem[scan_q];
  assign scanned    = {1'b0, scan_q} < fresh_q;
  assign age        = now_q - since_mem[scan_q];
  assign aged       = age >= {1'b0, timeout_i};
  assign kill       = scanned && scan_state == TagSent && aged && !late_q;
  assign stamp      = scanned && scan_state == TagBad;
  assign back       = scanned && scan_state == TagQuarantine && aged && !(end_i && !bad_i);

  assign late_o        = late_q;
  assign late_client_o = late_fixed_q.client;
  assign late_cookie_o = late_fixed_q.cookie;
  assign late_len_o    = late_fixed_q.len;
  assign outstanding_o = count_q != 9'd0 || late_q;

  // Time and scanner stop while no request is outstanding and no tag in quarantine.
  assign scanning = count_q != 9'd0 || held_q != 9'd0;

  always_ff @(posedge clk) begin
    if (scanning) begin
      now_q  <= now_q + 33'd1;
      scan_q <= scan_q + 8'd1;
    end
    count_q <= count_q + 9'(take_i) - 9'(end_i) - 9'(kill);
    held_q  <= held_q + 9'(end_i && bad_i) + 9'(kill) - 9'(back);

    if (take_i) begin
      fixed_mem[tag_o]  <= '{client: take_client_i, cookie: take_cookie_i, len: take_len_i};
      moving_mem[tag_o] <= '{off: take_off_i, left: take_len_i, lower: take_lower_i};
      state_mem[tag_o]  <= TagIdle;
      if (fresh_q[8]) rd_q <= rd_q + 9'd1;
      else fresh_q <= fresh_q + 9'd1;
    end
    // A completion's beat is judged in the cycle after its acceptance. One accepted in the same
    // cycle as the request came too early to answer it (contract P7), so the request is also
    // delayed by one.
    sent_q     <= sent_i;
    sent_tag_q <= sent_tag_i;
    if (sent_q) begin
      state_mem[sent_tag_q] <= TagSent;
      since_mem[sent_tag_q] <= now_q;
    end
    if (part_i) begin
      moving_mem[cpl_tag_i] <= '{
        off:   cpl_moving.off + 14'(cpl_bytes_i),
        left:  cpl_moving.left - cpl_bytes_i,
        lower: cpl_moving.lower + cpl_bytes_i[6:0]
      };
    end
    if (end_i) state_mem[cpl_tag_i] <= bad_i ? TagBad : TagIdle;
    if (kill || stamp) begin
      state_mem[scan_q] <= TagQuarantine;
      since_mem[scan_q] <= now_q;
    end
    if (back) state_mem[scan_q] <= TagIdle;
    if (back || (end_i && !bad_i)) begin
      free_mem[wr_q[7:0]] <= back ? scan_q : cpl_tag_i;
      wr_q <= wr_q + 9'd1;
    end
    if (kill) begin
      late_q       <= 1'b1;
      late_fixed_q <= fixed_mem[scan_q];
    end else if (late_ready_i) begin
      late_q <= 1'b0;
    end

    if (rst) begin
      sent_q  <= 1'b0;
      now_q   <= '0;
      scan_q  <= '0;
      count_q <= '0;
      held_q  <= '0;
      fresh_q <= '0;
      wr_q    <= '0;
      rd_q    <= '0;
      late_q  <= 1'b0;
    end
  end

  `NIC_ASSERT(a_take, take_i |-> free_o)
  `NIC_ASSERT(a_one, !(part_i && end_i))
endmodule
