/// Receive-side scaling (contract section 9): computes the Toeplitz hash of every frame, and the
/// queue of frames whose rule or default action is Rss. The hash is computed in the three cycles of
/// nic_steer; two more cycles combine both results. Also holds table Indirection.

module nic_rss
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
#(
  // Number of Ethernet ports.
  parameter int Ports = 1,
  // Number of receive queues.
  parameter int NumRxq = 64,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic                   clk,
  input  logic                   rst,
  // Default action, for frames that no rule matches.
  input  rx_default_t            default_i,
  input  rss_key_t               rss_key_i,
  input  tbl_req_t               tbl_i,
  output tbl_rsp_t               tbl_o,
  // Steering key of a frame.
  input  logic       [Ports-1:0] key_valid_i,
  input  steer_key_t [Ports-1:0] key_i,
  // Result of nic_steer for the frame, three cycles after its key.
  input  rx_steer_t  [Ports-1:0] steer_i,
  // Decision (deliver to a queue, or drop), two cycles after steer_i.
  output rx_fate_t   [Ports-1:0] fate_o
);
  localparam bit HasRss = (Parts & PartRss) != 0;
  localparam int Iw     = $clog2(RssEntries);
  localparam int Words  = 9;               // words of the longest input: IPv6 addresses, ports

  // Decision by rule or default action, before RSS; index: entry of table Indirection to look up.
  typedef struct packed {
    rx_fate_t      fate;
    logic          rss;
    logic [Iw-1:0] index;
  } choice_t;

  function automatic logic [31:0] swap(input logic [31:0] w);
    swap = {w[7:0], w[15:8], w[23:16], w[31:24]};
  endfunction

  // Returns the hash input in words whose first bit is bit 31.
  function automatic logic [Words-1:0][31:0] input_of(input steer_key_t k);
    logic [31:0] l4;
    logic        unused_bits;
    unused_bits = ^k;
    l4 = (k.is_udp || k.is_tcp) && !k.is_frag ? {k.src_port, k.dst_port} : 32'h0;
    input_of = '0;
    if (k.is_ipv4) begin
      input_of[0] = swap(k.src_addr[31:0]);
      input_of[1] = swap(k.dst_addr[31:0]);
      input_of[2] = l4;
    end
    if (k.is_ipv6) begin
      for (int w = 0; w < 4; w++) begin
        input_of[w]     = swap(k.src_addr[32*w +: 32]);
        input_of[4 + w] = swap(k.dst_addr[32*w +: 32]);
      end
      input_of[8] = l4;
    end
  endfunction

  // Returns a word's contribution to the hash, from the 63 key bits that it meets.
  function automatic logic [31:0] hash_of(input logic [31:0] w, input logic [31:0] key,
                                          input logic [31:0] after);
    logic [63:0] bits;
    bits    = {key, after};
    hash_of = '0;
    for (int b = 0; b < 32; b++) if (w[31 - b]) hash_of ^= bits[63 - b -: 32];
  endfunction

  function automatic choice_t choose(input rx_steer_t s, input logic [31:0] hash);
    logic [15:0] first;
    logic [3:0]  log;
    first = s.hit ? s.queue_f : default_i.queue_f;
    log   = s.hit ? s.rss_log : default_i.rss_log;
    choose.rss          = HasRss && (s.hit ? s.rss : default_i.rss);
    choose.index        = first[Iw-1:0] + (hash[Iw-1:0] & ~({Iw{1'b1}} << log));
    choose.fate.hit     = s.hit;
    choose.fate.deliver = choose.rss || (s.hit ? s.to_queue : default_i.to_queue);
    choose.fate.rule    = s.rule;
    choose.fate.queue_f = first;
    choose.fate.hash    = hash;
    choose.fate.draw    = s.hit ? s.draw : '0;
  endfunction

  // Queue read from table Indirection, for each port.
  logic [15:0] entry [Ports];

  for (genvar p = 0; p < Ports; p++) begin : g_port
    logic [3:0]  valid_q;
    logic [31:0] hash;
    choice_t     choice_q;
    rx_fate_t    fate_q;

    assign fate_o[p] = fate_q;

    always_ff @(posedge clk) begin
      valid_q <= {valid_q[2:0], key_valid_i[p]};
      if (valid_q[2]) choice_q <= choose(steer_i[p], hash);
      if (valid_q[3]) begin
        fate_q <= choice_q.fate;
        if (choice_q.rss) fate_q.queue_f <= entry[p];
      end
      if (rst) valid_q <= '0;
    end

    if (HasRss) begin : g_hash
      logic [Words-1:0][31:0] word, part_q;
      logic [31:0]            hash2_q, hash3_q;

      assign word = input_of(key_i[p]);
      assign hash = hash3_q;

      logic unused_key;
      assign unused_key = ^key_i[p];

      always_ff @(posedge clk) begin
        if (key_valid_i[p]) begin
          for (int w = 0; w < Words; w++) begin
            part_q[w] <= word[w] == 32'h0 ? 32'h0 :
                         hash_of(word[w], swap(rss_key_i[32*w +: 32]),
                                 swap(rss_key_i[32*w + 32 +: 32]));
          end
        end
        if (valid_q[0]) begin
          logic [31:0] h;
          h = '0;
          for (int w = 0; w < Words; w++) h ^= part_q[w];
          hash2_q <= h;
        end
        if (valid_q[1]) hash3_q <= hash2_q;
      end
    end else begin : g_no_hash
      logic unused_key;
      assign unused_key = ^{key_i[p], choice_q.index};
      assign hash = '0;
    end
  end

  if (HasRss) begin : g_table
    logic [$clog2(NumRxq)-1:0] queues [RssEntries];
    logic [RssEntries-1:0]     known_q;          // entry was written since reset; else it reads 0
    indirection_entry_t        wanted;
    logic [Iw-1:0]             index;
    logic                      mine, bad;
    tbl_rsp_t                  rsp_q;

    assign wanted = indirection_entry_t'(tbl_i.wdata[31:0]);
    assign index  = tbl_i.index[Iw-1:0];
    assign mine   = tbl_i.valid && tbl_i.id == TableIndirection && !rsp_q.done;
    assign bad    = tbl_i.write && wanted.queue_f >= 16'(NumRxq);
    assign tbl_o  = rsp_q;

    for (genvar p = 0; p < Ports; p++) begin : g_read
      logic [Iw-1:0] i;
      assign i        = g_port[p].choice_q.index;
      assign entry[p] = known_q[i] ? 16'(queues[i]) : 16'h0;
    end

    always_ff @(posedge clk) begin
      if (mine && tbl_i.write && !bad) begin
        queues[index]  <= wanted.queue_f[$clog2(NumRxq)-1:0];
        known_q[index] <= 1'b1;
      end
      rsp_q.done <= mine;
      if (mine) begin
        rsp_q.status <= bad ? TableStatusBadValue : TableStatusOk;
        rsp_q.rdata  <= known_q[index] ? 1024'(queues[index]) : '0;
      end
      if (rst) begin
        known_q    <= '0;
        rsp_q.done <= 1'b0;
      end
    end

    logic unused_bits;
    assign unused_bits = ^{wanted.rsvd0, tbl_i.index[15:Iw], tbl_i.wdata[1023:32]};
  end else begin : g_no_table
    logic unused_bits;
    assign unused_bits = ^{tbl_i, rss_key_i};
    assign tbl_o       = '0;
    for (genvar p = 0; p < Ports; p++) begin : g_read
      assign entry[p] = '0;
    end
  end
endmodule
