/// What the transmit blocks hand to one another: fetched entries, frames to gather, frames done.

package nic_tx_pkg;
  import nic_pkg::AppendMax, nic_pkg::InlineMaxLong, nic_pkg::SegMax;

  // Inline bytes of an entry, as bits.
  localparam int InlW = 8 * InlineMaxLong;

  // What is known of a work entry (or of a queue's Event) until it ends.
  typedef struct packed {
    logic        is_event;
    logic        port;       // port of its lane
    logic        no_port;    // it sends nothing and uses no port's lane
    logic [7:0]  qid;
    logic [15:0] index;
    logic [1:0]  more;       // blocks beyond the first
    logic [31:0] wqe_id;
    logic [7:0]  status;     // nic_pkg status code
    logic        complete;   // completion entry asked for
  } tx_id_t;

  // Offloads of a frame; never udp_csum and udp_zero together.
  typedef struct packed {
    logic        ip_csum;
    logic        udp_csum;
    logic        udp_zero;
    logic        icrc;
    logic        crc;         // CRC-32C
    logic [1:0]  ecn;         // mode of the queue, 0: none
    logic [7:0]  l3;
    logic [7:0]  l4;
    logic [13:0] crc_off;    // 16,383 stands for all beyond it
    logic [13:0] crc_start;
  } tx_ofl_t;

  // A frame on its way; len is L of the contract, 0 when nothing is to leave. The last `app` bytes
  // of it are appended; while the pad bytes are not known, len is without them all and app is 4.
  typedef struct packed {
    tx_id_t      id;
    tx_ofl_t     ofl;
    logic [2:0]  app;
    logic [13:0] len;
    logic [7:0]  inl_len;
  } tx_frame_t;

  // What an entry asks of the copy engine: nothing, or bytes copied, or lines invalidated, or both.
  typedef struct packed {
    logic        any;
    logic        move;
    logic        inval;
    logic [24:0] len;        // of each piece
  } tx_copy_t;

  // A checked entry for the copy engine: bus addresses; the range of an invalidation begins at src.
  typedef struct packed {
    tx_id_t      id;
    logic        move;       // bytes are copied
    logic        inval;      // lines are invalidated
    logic [24:0] len;
    logic [63:0] src;
    logic [63:0] dst;
  } copy_job_t;

  // A checked entry: bytes beyond inl_len are of no meaning, neither are pieces from nseg on.
  typedef struct packed {
    tx_frame_t         f;
    logic [3:0]               nseg;
    logic [SegMax-1:0][13:0]  seg_len;
    logic [SegMax-1:0][63:0]  seg_addr;   // bus addresses
    logic [InlW-1:0]          inl;
    tx_copy_t                 copy;
  } tx_ent_t;

  // A decoded entry before its keys are looked up: seg_addr are virtual addresses.
  typedef struct packed {
    logic                     late_bad;   // BadOffload if the keys are right
    logic [SegMax-1:0][15:0]  key_index;
    logic [SegMax-1:0][7:0]   key_variant;
    logic [SegMax-1:0]        key_read;   // rights that the pieces need
    logic [SegMax-1:0]        key_write;
    tx_ent_t                  e;
  } tx_dec_t;

  // What the headers said: where and over what the offloads compute.
  typedef struct packed {
    logic        bad;         // BadOffload
    logic        icrc;
    logic        udp_csum;
    logic        udp_zero;
    logic        ip_csum;
    logic        crc;
    logic [13:0] crc_pos;     // of the CRC-32C; what it covers
    logic [13:0] crc_from;
    logic [13:0] crc_upto;
    logic [2:0]  crc_summed;  // so many of its bytes are in the UDP sum
    logic        swap;        // the UDP header stands at an odd offset
    logic        odd_end;     // the UDP length is odd
    logic [13:0] last;        // end of the bytes that CRC and UDP sum cover
    logic [6:0]  udp_pos;     // of the UDP checksum field
    logic [6:0]  ip_pos;      // of the IPv4 checksum field
    logic        ovl_lo;      // first byte of the UDP checksum field is summed by the IPv4 checksum
    logic        ovl_hi;      // its second byte is
    logic        ovl_swap;    // that field is odd in the IPv4 header
    logic [15:0] udp_base;    // pseudo header and the old field's complement, folded
    logic [15:0] ip_base;     // IPv4 header without the two fields, folded
  } tx_par_t;

  // A frame in the output buffer, with the results to patch into it.
  typedef struct packed {
    tx_id_t      id;
    logic [13:0] len;
    logic        icrc;
    logic [13:0] icrc_pos;
    logic [31:0] icrc_val;
    logic        crc;
    logic [13:0] crc_pos;
    logic [31:0] crc_val;
    logic        udp;
    logic [6:0]  udp_pos;
    logic [15:0] udp_val;
    logic        ip;
    logic [6:0]  ip_pos;
    logic [15:0] ip_val;
  } tx_out_t;

  // Lines of 128 bytes that a frame takes, whatever is appended to it.
  function automatic logic [7:0] lines_of(input tx_frame_t f);
    logic unused_f;
    unused_f = ^f;
    lines_of = 8'((f.len + (f.app != 3'd0 ? 14'(AppendMax) : 14'd0) + 14'd127) >> 7);
  endfunction

  // Masks of the first 0 to 128 bytes of a line.
  typedef logic [1023:0] line_mask_t[129];
  localparam line_mask_t LowBytes = low_bytes();

  function automatic line_mask_t low_bytes();
    for (int i = 0; i <= 128; i++) low_bytes[i] = ~({1024{1'b1}} << (8 * i));
  endfunction

  // A line whose first n bytes are others.
  function automatic logic [1023:0] with_inline(input logic [1023:0] line, input logic [1023:0] inl,
                                                input logic [7:0] n);
    with_inline = (line & ~LowBytes[n]) | (inl & LowBytes[n]);
  endfunction

  // Twelve bytes at byte n of a DW.
  function automatic logic [127:0] in_dw(input logic [95:0] d, input logic [1:0] n);
    unique case (n)
      2'd1:    in_dw = {24'd0, d, 8'd0};
      2'd2:    in_dw = {16'd0, d, 16'd0};
      2'd3:    in_dw = {8'd0, d, 24'd0};
      default: in_dw = {32'd0, d};
    endcase
  endfunction

  // Ones' complement sum of two 16-bit numbers.
  function automatic logic [15:0] add1c(input logic [15:0] a, input logic [15:0] b);
    logic [16:0] s;
    s = {1'b0, a} + {1'b0, b};
    add1c = s[15:0] + {15'b0, s[16]};
  endfunction

  // Ones' complement fold of a sum of up to 2^32 - 1.
  function automatic logic [15:0] fold(input logic [31:0] a);
    fold = add1c(a[31:16], a[15:0]);
  endfunction

endpackage
