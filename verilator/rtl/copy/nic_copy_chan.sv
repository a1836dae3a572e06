/// A channel of the copy engine: a ring of entries. It reads chunks of the source in order while
/// its buffer has room, writes bytes in order once they have come, and ends entries in order. While
/// one entry is being written, the following ones are already read.

`include "nic_assert.svh"

module nic_copy_chan
  import nic_pkg::*, nic_tx_pkg::*, nic_copy_pkg::*;
(
  input  logic          clk,
  input  logic          rst,
  // Maximum payload size, bytes.
  input  logic [9:0]    mps_i,
  // High while the channel has an entry: opens its clock gate.
  output logic          on_o,
  // Function-level reset: entries end as soon as their reads have come back.
  input  logic          flr_i,
  // Entry to execute; the sender counts the free slots.
  input  logic          job_valid_i,
  input  copy_job_t     job_i,
  // Next chunk to be read.
  output logic          rd_valid_o,
  input  logic          rd_take_i,
  output copy_rd_t      rd_o,
  // Looks up where chunk look_i begins in the channel's buffer: base_o, a byte address.
  input  logic [Cw-1:0] look_i,
  output logic [Lw+6:0] base_o,
  // Pulse: bytes of a chunk have been written into the buffer; status is that of their read.
  input  logic          done_i,
  input  logic [Cw-1:0] done_slot_i,
  input  logic [12:0]   done_len_i,
  input  logic [7:0]    done_status_i,
  // Next step of the output; the steps of one TLP come without others between them.
  output logic          step_valid_o,
  input  logic          step_take_i,
  output copy_step_t    step_o,
  // Pulse: the last TLP of an entry was accepted at the TLP port.
  input  logic          out_i,
  // Entries that have ended, in order.
  output logic          end_valid_o,
  input  logic          end_take_i,
  output tx_id_t        end_id_o
);
  // A chunk, which is one read request: its entry's slot and its length in bytes.
  typedef struct packed {
    logic [Jw-1:0] job;
    logic [9:0]    len;
  } chunk_t;

  copy_job_t         job_mem    [Jobs];
  logic [7:0]        status_mem [Jobs];
  logic [Lw:0]       after_mem  [Jobs];   // buffer line after the entry's last one
  logic [Jobs-1:0]   fail_q, flush_q;      // a read failed; a reset cut the entry short
  logic [Jw:0]       tail_q, rd_q, wr_q, out_q, end_q;

  chunk_t            chunk_mem [Chunks];
  logic [Lw+6:0]     base_mem  [Chunks];
  logic [9:0]        left_mem  [Chunks];
  logic [Chunks-1:0] come_q;
  logic [Cw:0]       ctail_q, chead_q;

  // State of the entry being read.
  logic              r_act_q;
  logic [24:0]       r_left_q;
  logic [63:0]       r_src_q;
  logic [Lw+7:0]     r_pos_q, r_pos;      // byte position in the buffer, with one wrap bit
  logic [Lw:0]       r_after, r_line;
  logic [9:0]        chunk_len;
  logic              on, r_fail, r_stop;

  // State of the entry being written.
  logic          w_act_q;                  // an entry is being written
  logic          w_move_q, w_inval_q;      // bytes are still to be written; a message is to follow
  logic          w_mid_q;                  // inside a TLP: its next beat continues it
  logic [24:0]   w_left_q;                 // bytes of the entry not yet in a TLP
  logic [63:0]   w_dst_q;                  // address of the next TLP
  logic [9:0]    w_need_q;                 // bytes of the next TLP
  logic [9:0]    w_tlp_q;                  // bytes left of the current TLP
  logic [Lw+7:0] w_avail_q;                // bytes in the buffer that are not yet written out
  logic [Lw:0]   w_line_q;
  copy_job_t     w_job;
  logic [Jw-1:0] w;
  chunk_t        chunk;
  logic          w_fail, mine, retire, give_up, data, msg, quit;
  logic [9:0]    tlp;
  logic [7:0]    bytes, room;
  logic          last, finish, unused_len;

  // While the channel has no entry, its registers other than tail_q and end_q are ignored.
  assign on   = tail_q != end_q;
  assign on_o = on;

  always_comb begin
    r_fail     = 1'b0;
    r_stop     = 1'b0;
    chunk_len  = '0;
    r_pos      = '0;
    r_after    = '0;
    r_line     = '0;
    rd_valid_o = 1'b0;
    rd_o       = '0;
    if (on) begin
      r_fail     = fail_q[rd_q[Jw-1:0]] || flr_i;
      r_stop     = r_act_q && r_fail;
      chunk_len  = r_left_q < 25'(ChunkB) - 25'(r_src_q[8:0]) ? r_left_q[9:0] :
                   10'(ChunkB) - 10'(r_src_q[8:0]);
      r_pos      = r_pos_q + (Lw + 8)'(chunk_len);
      r_after    = r_pos[Lw+7:7] + (Lw + 1)'(r_pos[6:0] != 7'd0);
      r_line     = r_pos_q[Lw+7:7] + (Lw + 1)'(r_pos_q[6:0] != 7'd0);
      rd_valid_o = r_act_q && !r_fail && (Lw + 1)'(r_after - w_line_q) <= (Lw + 1)'(Lines) &&
                   ctail_q != {~chead_q[Cw], chead_q[Cw-1:0]};
      rd_o       = '{addr: r_src_q, len: chunk_len, slot: ctail_q[Cw-1:0]};
    end
  end

  assign base_o = base_mem[look_i];

  always_ff @(posedge clk) begin
    copy_job_t j;
    logic      unused_j;
    if (on || job_valid_i) begin
      if (job_valid_i) begin
        job_mem[tail_q[Jw-1:0]] <= job_i;
        fail_q[tail_q[Jw-1:0]]  <= 1'b0;
        tail_q                  <= tail_q + 1'b1;
      end
      // Take up the next entry: start reading, or skip it if it copies nothing.
      if (!r_act_q && rd_q != tail_q) begin
        j        = job_mem[rd_q[Jw-1:0]];
        unused_j = ^j;
        r_act_q  <= j.move;
        r_left_q <= j.len;
        r_src_q  <= j.src;
        if (j.move) r_pos_q <= {r_line, j.dst[6:0]};
        else        rd_q    <= rd_q + 1'b1;
      end
      if (rd_take_i) begin
        chunk_mem[ctail_q[Cw-1:0]] <= '{job: rd_q[Jw-1:0], len: chunk_len};
        base_mem[ctail_q[Cw-1:0]]  <= r_pos_q[Lw+6:0];
        ctail_q  <= ctail_q + 1'b1;
        r_left_q <= r_left_q - 25'(chunk_len);
        r_src_q  <= r_src_q + 64'(chunk_len);
        r_pos_q  <= r_pos;
      end
      if (r_stop || (rd_take_i && r_left_q == 25'(chunk_len))) begin
        r_act_q                   <= 1'b0;
        rd_q                      <= rd_q + 1'b1;
        after_mem[rd_q[Jw-1:0]] <= r_stop ? r_line : r_after;
      end
      // Count the bytes that come back for each chunk.
      if (rd_take_i) begin
        left_mem[ctail_q[Cw-1:0]] <= chunk_len;
        come_q[ctail_q[Cw-1:0]]   <= 1'b0;
      end
      if (done_i) begin
        left_mem[done_slot_i] <= left_mem[done_slot_i] - done_len_i[9:0];
        come_q[done_slot_i]   <= left_mem[done_slot_i] == done_len_i[9:0];
        if (done_status_i != 8'(StatusOk)) begin
          fail_q[chunk_mem[done_slot_i].job] <= 1'b1;
          if (!fail_q[chunk_mem[done_slot_i].job]) begin
            status_mem[chunk_mem[done_slot_i].job] <= done_status_i;
          end
        end
      end
    end
    if (rst) begin
      tail_q  <= '0;
      rd_q    <= '0;
      r_act_q <= 1'b0;
      r_pos_q <= '0;
      ctail_q <= '0;
    end
  end

  // Output, entry by entry: its write TLPs in order of address, each once its bytes are complete,
  // then its message, then its end.
  assign w          = wr_q[Jw-1:0];
  assign unused_len = ^{done_len_i, w_job};

  always_comb begin
    w_job        = '0;
    w_fail       = 1'b0;
    chunk        = '0;
    mine         = 1'b0;
    retire       = 1'b0;
    give_up      = 1'b0;
    data         = 1'b0;
    msg          = 1'b0;
    quit         = 1'b0;
    tlp          = '0;
    room         = '0;
    bytes        = '0;
    last         = 1'b0;
    finish       = 1'b0;
    step_valid_o = 1'b0;
    step_o       = '0;
    if (on) begin
      w_job  = job_mem[w];
      w_fail = fail_q[w] || flr_i;
      chunk  = chunk_mem[chead_q[Cw-1:0]];
      mine   = w_act_q && chead_q != ctail_q && chunk.job == w;
      retire = mine && come_q[chead_q[Cw-1:0]];
      // A failed entry ends as soon as none of its reads is in flight.
      give_up = w_fail && !w_mid_q && rd_q != wr_q && !mine;
      data    = w_mid_q || (w_move_q && !w_fail && w_avail_q >= (Lw + 8)'(w_need_q));
      msg     = !w_move_q && !w_fail && w_inval_q && !w_mid_q;
      quit    = (!w_move_q && !w_inval_q && !w_mid_q) || give_up;

      tlp    = w_mid_q ? w_tlp_q : w_need_q;
      room   = w_mid_q ? 8'd128 : 8'd128 - {1'b0, w_dst_q[6:0]};
      bytes  = tlp < 10'(room) ? tlp[7:0] : room;
      last   = tlp == 10'(bytes);
      finish = !data || (last && !w_inval_q && (w_mid_q ? !w_move_q : w_left_q == 25'(tlp)));

      step_valid_o = w_act_q && (data || msg || quit);
      step_o = '{data: data, msg: msg, start: !w_mid_q, last: !data || last, done: finish,
                 line: w_line_q[Lw-1:0], bytes: bytes, len: w_need_q, lines: w_job.len[24:6],
                 addr: data ? w_dst_q : w_job.src};
    end
  end

  // Returns the bytes of a TLP that begins at address a: up to the end of a partial 128-byte line,
  // otherwise up to a multiple of MPS.
  function automatic logic [9:0] need(input logic [9:0] a, input logic [24:0] left);
    need = a[6:0] != 7'd0 ? 10'd128 - 10'(a[6:0]) : mps_i - (a & (mps_i - 10'd1));
    if (left < 25'(need)) need = left[9:0];
  endfunction

  always_ff @(posedge clk) begin
    logic [63:0] dst;
    logic [24:0] left;
    logic        unused_dst;
    if (on) begin
      if (!w_act_q && wr_q != tail_q) begin
        w_act_q   <= 1'b1;
        w_move_q  <= w_job.move;
        w_inval_q <= w_job.inval;
        w_left_q  <= w_job.len;
        w_dst_q   <= w_job.dst;
        w_need_q  <= need(w_job.dst[9:0], w_job.len);
        w_avail_q <= '0;
        flush_q[w] <= 1'b0;
      end
      if (w_act_q) begin
        w_avail_q <= w_avail_q + (retire && !w_fail ? (Lw + 8)'(chunk.len) : '0) -
                     (step_take_i && data ? (Lw + 8)'(bytes) : '0);
        if (retire) chead_q <= chead_q + 1'b1;
      end
      if (step_take_i) begin
        if (data) begin
          w_line_q <= w_line_q + 1'b1;
          w_mid_q  <= !last;
          w_tlp_q  <= tlp - 10'(bytes);
          if (!w_mid_q) begin
            dst        = w_dst_q + 64'(tlp);
            left       = w_left_q - 25'(tlp);
            unused_dst = ^dst;
            w_dst_q    <= dst;
            w_left_q   <= left;
            w_need_q   <= need(dst[9:0], left);
            w_move_q   <= left != 25'd0;
          end
        end
        if (give_up && w_job.move) w_line_q <= after_mem[w];
        if (give_up && !fail_q[w]) flush_q[w] <= 1'b1;
        if (finish) begin
          w_act_q <= 1'b0;
          wr_q    <= wr_q + 1'b1;
        end
      end
      if (out_i)      out_q <= out_q + 1'b1;
      if (end_take_i) end_q <= end_q + 1'b1;
    end
    if (rst) begin
      w_act_q  <= 1'b0;
      w_mid_q  <= 1'b0;
      w_line_q <= '0;
      wr_q     <= '0;
      out_q    <= '0;
      end_q    <= '0;
      chead_q  <= '0;
    end
  end

  // Report entries whose last TLP was accepted, in order, with their status.
  assign end_valid_o = out_q != end_q;

  always_comb begin
    end_id_o = '0;
    if (end_valid_o) end_id_o = job_mem[end_q[Jw-1:0]].id;
    if (end_valid_o && flush_q[end_q[Jw-1:0]] && end_id_o.status == 8'(StatusOk)) begin
      end_id_o.status = StatusFlushed;
    end
    if (end_valid_o && fail_q[end_q[Jw-1:0]]) end_id_o.status = status_mem[end_q[Jw-1:0]];
  end

  `NIC_ASSERT(a_room, job_valid_i |-> tail_q != {~end_q[Jw], end_q[Jw-1:0]})
endmodule
