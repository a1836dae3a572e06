/// Types and functions shared by the NIC's blocks: internal streams, read clients, table bus.
/// Widths are those of the default build; nic_top refuses others at elaboration.

package nic_int_pkg;
  import nic_pkg::*;

  localparam int EthW = 512;
  localparam int EthB = EthW / 8;
  localparam int TlpW = 1024;
  localparam int TlpB = TlpW / 8;
  localparam int TlpD = TlpB / 4;

  // One beat of a TLP stream; hdr is valid in every beat of the packet. Wide fields of these
  // structs begin at multiples of 32 bits: a simulator then copies words without shifting.
  typedef struct packed {
    logic              entry;    // the packet is a completion entry
    logic              last;
    logic [127:0]      hdr;
    logic [TlpD-1:0]   keep;
    logic [TlpW-1:0]   data;
  } tlp_beat_t;

  // Reports that a completion entry or an MSI-X message of a queue was accepted at the TLP port.
  typedef struct packed {
    logic              entry;
    logic              msg;
    logic              event_f;  // the entry is an Event
    logic              tx;       // the queue is a transmit queue
    logic [7:0]        queue_f;
  } left_t;

  // An MSI-X message of a queue.
  typedef struct packed {
    logic              tx;
    logic [7:0]        queue_f;
    logic [127:0]      hdr;
    logic [31:0]       data;
  } msg_t;

  // One beat of a frame inside the device.
  typedef struct packed {
    logic              last;
    logic [EthB-1:0]   keep;
    logic [EthW-1:0]   data;
  } eth_beat_t;

  // A read client asks for len bytes at addr; the reader splits by MRRS and 4 KB and picks tags.
  typedef struct packed {
    logic [63:0] addr;
    logic [13:0] len;     // 1..9216
    logic [15:0] cookie;  // returned with every response
  } rd_req_t;

  // The largest number of read clients, and their numbers.
  localparam int RdClients = 5;
  localparam int RdRx      = 0;
  localparam int RdWqe     = 1;
  localparam int RdCopy    = 2;
  localparam int RdGather  = 3;          // first of the gather clients, one for each port

  // Response beat to one of the clients, which always accept it. Bytes data[8*lane +: 8*nbytes] are
  // the bytes off .. off+nbytes-1 of the client's request. `done` ends one split of the request:
  // done_len bytes of it have ended, with status; a failed split brings no usable bytes.
  typedef struct packed {
    logic [RdClients-1:0] to;     // one-hot: the client addressed; zero: none
    logic [15:0]       cookie;
    logic [13:0]       off;
    logic [6:0]        lane;
    logic [7:0]        nbytes;    // 0..128
    logic              done;
    logic [12:0]       done_len;
    logic [7:0]        status;    // nic_pkg status code, meaningful with done
    logic [TlpW-1:0]   data;
  } rd_rsp_t;

  // Table bus: valid is held, all fields stable, until the owner answers with done for one cycle.
  // nic_regs has checked operation, table and index; the owner checks Enabled, values and NotBuilt.
  typedef struct packed {
    logic          valid;
    logic          write;
    logic [7:0]    id;
    logic [15:0]   index;
    logic [1023:0] wdata;   // byte i of the entry in bits 8i+7:8i
  } tbl_req_t;

  typedef struct packed {
    logic          done;
    logic [2:0]    status;
    logic [1023:0] rdata;
  } tbl_rsp_t;

  // Which pause frames a port honours: rx_pause for port pauses
  // (opcode 1), rx_pfc for priority pauses, one bit for each class.
  typedef struct packed {
    logic       rx_pause;
    logic [7:0] rx_pfc;
  } pause_cfg_t;

  // A pause frame was honoured: it stops the port (all) or the set classes; times are in quanta.
  typedef struct packed {
    logic             valid;
    logic             all;
    logic [7:0]       classes;
    logic [15:0]      quanta;
    logic [7:0][15:0] of_class;
  } pause_t;

  // Accesses to registers that lie outside nic_regs: writes of the lower (we[0]) and upper (we[1])
  // 32-bit register of the 8 bytes at address 8 * unit, or a read, answered in the same cycle.
  typedef struct packed {
    logic [1:0]       we;
    logic             rd;
    logic [RegAw-1:3] unit;
    logic [63:0]      wdata;
  } reg_bus_t;

  // Doorbell pulse; never held back.
  typedef struct packed {
    logic        valid;
    logic [15:0] queue_f;
    logic [15:0] pi;
  } doorbell_t;

  // A work entry written to TX_PUSH, valid beside its doorbell. The doorbell's pi is then ignored:
  // the producer index advances by one.
  typedef struct packed {
    logic         valid;
    logic [511:0] wqe;
  } push_t;

  // Default action: for frames that no rule matches.
  typedef struct packed {
    logic [15:0] queue_f;
    logic        to_queue;
    logic        rss;
    logic [3:0]  rss_log;       // at most 8
  } rx_default_t;

  // Configuration registers, decoded for the blocks.
  typedef struct packed {
    logic        flr;           // high during a function-level reset: work ends, none begins
    logic        clear;         // a reset ends: clears all but counters, ordinals, arriving frames
    logic        rx_enable;
    logic        tx_enable;
    logic [1:0]  attr;          // RO (bit 1), NS (bit 0) of requests with frame or copy data
    logic [9:0]  mps;           // bytes: 128, 256, 512
    logic [12:0] mrrs;          // bytes: 128 .. 4096
    logic        rcb128;
    logic [31:0] cpl_timeout;   // cycles, >= 1024
    logic        drop_ip_csum;
    logic        drop_l4_csum;
    logic        drop_icrc;
    logic        drop_crc32c;
    rx_default_t rx_default;
    logic [15:0] roce_port;
  } cfg_t;

  // The Toeplitz key, byte i in bits 8i+7:8i.
  typedef logic [8*RssKeyBytes-1:0] rss_key_t;

  // Answer to a register read, or to a request that is refused.
  typedef struct packed {
    logic [15:0] rid;        // requester ID, in the order of header bytes 4 and 5
    logic [7:0]  tag;
    logic [2:0]  tc;
    logic [2:0]  attr;
    logic [11:0] bytes;      // byte count; 4,096 is coded as 0
    logic [6:0]  lower;      // lower address
    logic        ok;         // CplD of one or two DWs, else a Cpl with status UR
    logic        two;
  } answer_t;

  // A request that the TLP port forwards: a register access, or, with none of the three flags, only
  // an answer to send.
  typedef struct packed {
    logic        read;
    logic        write;
    logic        push;       // write of a work entry, whose bytes come on a port of their own
    logic [19:2] addr;       // byte offset in BAR0
    logic [63:0] data;       // data of a write
    answer_t     ans;
  } reg_req_t;

  // Returns the header of a memory request of dw DWs, 1..1024.
  function automatic logic [127:0] mem_hdr(input logic write, input logic [63:0] addr,
                                           input logic [10:0] dw, input logic [3:0] first_be,
                                           input logic [3:0] last_be, input logic [7:0] tag);
    logic        four;
    logic        unused_bits;
    logic [31:0] lo;
    unused_bits = ^{addr[1:0], dw[10]};            // DW aligned; 1,024 DWs are coded as 0
    four = |addr[63:32];
    lo = {addr[31:2], 2'b00};
    mem_hdr = '0;
    mem_hdr[7:0]   = {1'b0, write, four, 5'b00000};
    mem_hdr[23:16] = {6'b0, dw[9:8]};
    mem_hdr[31:24] = dw[7:0];
    mem_hdr[47:32] = {8'h00, 8'h02};               // requester 0x0200, high byte first
    mem_hdr[55:48] = tag;
    mem_hdr[63:56] = {last_be, first_be};
    if (four) begin
      mem_hdr[95:64]  = {addr[39:32], addr[47:40], addr[55:48], addr[63:56]};
      mem_hdr[127:96] = {lo[7:0], lo[15:8], lo[23:16], lo[31:24]};
    end else begin
      mem_hdr[95:64]  = {lo[7:0], lo[15:8], lo[23:16], lo[31:24]};
    end
  endfunction

  // Returns the header with attributes: RO in bit 1, NS in bit 0.
  function automatic logic [127:0] with_attr(input logic [127:0] hdr, input logic [1:0] attr);
    with_attr        = hdr;
    with_attr[21:20] = attr;
  endfunction

  // Returns the first-DW byte enables of len_in_dw bytes from byte a on; one: all bytes lie in one
  // DW.
  function automatic logic [3:0] first_be(input logic [1:0] a, input logic [2:0] len_in_dw,
                                          input logic one);
    logic [3:0] from_a;
    logic [3:0] upto;
    from_a = 4'hf << a;
    upto = 4'((8'h1 << (3'(a) + len_in_dw)) - 8'h1);   // used only if argument `one` is 1
    first_be = one ? (from_a & upto) : from_a;
  endfunction

  // Returns the last-DW byte enables of a transfer that ends before byte e (1..4) of its last DW;
  // one: it has only one DW.
  function automatic logic [3:0] last_be(input logic [2:0] e, input logic one);
    last_be = one ? 4'h0 : 4'((5'h1 << e) - 5'h1);
  endfunction

endpackage
