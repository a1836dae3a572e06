/// Gathers frames: gives many frames at once a slot and buffer lines, requests their pieces, places
/// the bytes in whatever order they come, and sends the frames in the order of their entries.

module nic_gather
  import nic_int_pkg::*, nic_tx_pkg::*;
#(
  // Number of the read client through which the pieces are read.
  parameter int Client = RdGather,
  // 1 if pad bytes and ICRC may be appended (part append).
  parameter bit HasAppend = 1'b1,
  // Frame slots, a power of two.
  parameter int Slots = 256,
  // Lines of 128 bytes of the buffer, a power of two.
  parameter int Lines = 512,
  localparam int Sw = $clog2(Slots),
  localparam int Lw = $clog2(Lines)
) (
  input  logic            clk,
  input  logic            rst,
  // Checked entries of the port.
  input  logic            valid_i,
  output logic            ready_o,
  input  tx_ent_t         ent_i,
  output rd_req_t         rd_req_o,
  output logic            rd_req_valid_o,
  input  logic            rd_req_ready_i,
  input  rd_rsp_t         rd_rsp_i,
  // Lines to the offloads (see nic_gather_read). A frame begins only while room_i is high; it is
  // then never held back.
  input  logic            room_i,
  output logic            ln_valid_o,
  output logic            ln_first_o,
  output logic            ln_last_o,
  output logic            ln_two_o,
  output tx_frame_t       ln_frame_o,
  // Inline bytes for the beginning of the line, where ln_data_o is undefined.
  output logic [TlpW-1:0] ln_inl_o,
  output logic [7:0]      ln_inl_len_o,
  output logic [TlpW-1:0] ln_data_o,
  // Pulse: a frame of take_beats_o beats begins to leave.
  output logic            take_o,
  output logic [7:0]      take_beats_o,
  // High while an entry is in the block.
  output logic            busy_o
);
  // State of a slot's reads: bytes still to come, and the status of the first failure.
  typedef struct packed {
    logic [7:0]  status;
    logic [13:0] bytes;
  } acc_t;

  tx_frame_t        frame_mem [Slots];
  logic [InlW-1:0]  inl_mem   [Slots];
  acc_t             acc_mem   [Slots];
  logic [Slots-1:0] ready_q;
  logic [Sw-1:0]    head_q;
  logic             bank_q;

  logic             alloc, any, re;
  logic [Sw-1:0]    slot;
  logic [13:0]      bytes;
  logic [Lw-1:0]    line, first;
  logic [1:0]       lines_free;
  logic [Lw+6:0]    base;
  tx_frame_t        head;

  logic [1:0]       we;
  logic [Lw-2:0]    even_a, odd_a;
  logic [TlpW-1:0]  even_m, odd_m, wdata, even_d, odd_d;
  logic             done;
  logic [15:0]      cookie;
  logic [12:0]      done_len;
  logic [7:0]       done_status;
  logic             unused_cookie;

  assign unused_cookie = ^cookie;
  assign take_beats_o  = 8'((head.len + 14'd63) >> 6);
  assign busy_o        = any;

  nic_gather_alloc #(.Slots(Slots), .Lines(Lines)) u_alloc (
    .clk, .rst, .valid_i, .ready_o, .ent_i, .alloc_o(alloc), .slot_o(slot), .line_o(first),
    .bytes_o(bytes),
    .slot_free_i(take_o), .lines_free_i(lines_free), .any_o(any), .rd_req_o, .rd_req_valid_o,
    .rd_req_ready_i, .look_i(rd_rsp_i.cookie[Sw+2:0]), .base_o(base)
  );

  nic_place #(.Aw(Lw + 7), .Client(Client)) u_place (
    .clk, .rst, .rsp_i(rd_rsp_i), .base_i(base), .we_o(we), .even_addr_o(even_a),
    .odd_addr_o(odd_a), .even_mask_o(even_m), .odd_mask_o(odd_m), .data_o(wdata), .done_o(done),
    .cookie_o(cookie), .done_len_o(done_len), .status_o(done_status)
  );

  // [T15]: append as many pad bytes as the frame's BTH says, and the ICRC. nic_gather_pad finds the
  // pad count in the bytes read.
  if (HasAppend) begin : g_append
    logic [1:0] pad;

    nic_gather_pad #(.Client(Client), .Slots(Slots), .Lines(Lines)) u_pad (
      .clk, .alloc_i(alloc), .slot_i(slot), .line_i(first), .ent_i, .rsp_i(rd_rsp_i),
      .rsp_slot_i(rd_rsp_i.cookie[Sw+2:3]),
      .we_i(we), .even_addr_i(even_a), .odd_addr_i(odd_a), .even_mask_i(even_m),
      .odd_mask_i(odd_m), .data_i(wdata), .look_i(head_q), .pad_o(pad)
    );
    always_comb begin
      head = frame_mem[head_q];
      if (head.app != 3'd0) begin
        head.app = 3'd4 + 3'(pad);
        head.len = head.len + 14'(head.app);
      end
    end
  end else begin : g_no_append
    logic unused_first;
    assign unused_first = ^first;
    assign head         = frame_mem[head_q];
  end

  nic_ram_mask #(.Width(TlpW), .Depth(Lines / 2)) u_even (
    .clk, .we_i(we[0]), .waddr_i(even_a), .wdata_i(wdata), .wmask_i(even_m),
    .re_i(re && !line[0]), .raddr_i(line[Lw-1:1]), .rdata_o(even_d)
  );
  nic_ram_mask #(.Width(TlpW), .Depth(Lines / 2)) u_odd (
    .clk, .we_i(we[1]), .waddr_i(odd_a), .wdata_i(wdata), .wmask_i(odd_m),
    .re_i(re && line[0]), .raddr_i(line[Lw-1:1]), .rdata_o(odd_d)
  );
  assign ln_data_o = bank_q ? odd_d : even_d;

  nic_gather_read #(.Lines(Lines)) u_read (
    .clk, .rst, .valid_i(any && ready_q[head_q]), .frame_i(head),
    .lines_i(lines_of(frame_mem[head_q])), .inl_i(inl_mem[head_q]),
    .status_i(acc_mem[head_q].status), .take_o, .room_i, .re_o(re), .line_o(line),
    .lines_free_o(lines_free), .ln_valid_o,
    .ln_first_o, .ln_last_o, .ln_two_o, .ln_frame_o, .ln_inl_o, .ln_inl_len_o
  );

  always_ff @(posedge clk) begin
    acc_t          a;
    logic [Sw-1:0] s;
    if (re) bank_q <= line[0];
    if (alloc) begin
      frame_mem[slot] <= ent_i.f;
      inl_mem[slot]   <= ent_i.inl;
      acc_mem[slot]   <= '{status: 8'd0, bytes: bytes};
      ready_q[slot]   <= bytes == 14'd0;
    end
    if (done) begin
      s            = cookie[Sw+2:3];
      a            = acc_mem[s];
      a.bytes      = a.bytes - 14'(done_len);
      if (a.status == 8'd0) a.status = done_status;
      acc_mem[s]   <= a;
      ready_q[s]   <= a.bytes == 14'd0;
    end
    if (take_o) head_q <= head_q + 1'b1;
    if (rst) head_q <= '0;
  end
endmodule
