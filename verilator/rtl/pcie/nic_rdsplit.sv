/// Takes the clients' read requests in turn and cuts each at multiples of MRRS, which divide 4 KB
/// (contract P3). One piece a cycle, the next request without a gap. MRRS may change at any time.

module nic_rdsplit
  import nic_int_pkg::*;
#(
  // Number of read clients, 2 or more.
  parameter int Clients = 3,
  // One bit a client: its requests are not split.
  parameter logic [Clients-1:0] Whole = '0,
  localparam int Cw = $clog2(Clients)
) (
  input  logic                clk,
  input  logic                rst,
  // Largest read request (MRRS) in bytes, a power of two.
  input  logic [12:0]         mrrs_i,
  // Requests of the clients.
  input  rd_req_t             req_i [Clients],
  input  logic [Clients-1:0]  req_valid_i,
  output logic [Clients-1:0]  req_ready_o,
  // Next piece of a request: client, address, length, and offset in the request.
  output logic                piece_valid_o,
  input  logic                piece_ready_i,
  output logic [Cw-1:0]       client_o,
  output logic [15:0]         cookie_o,
  output logic [63:0]         addr_o,
  output logic [12:0]         len_o,
  output logic [13:0]         off_o
);
  logic          valid_q;
  logic [Cw-1:0] client_q, turn;
  logic [15:0]   cookie_q;
  logic [63:0]   addr_q;
  logic [13:0]   left_q, off_q;
  logic [12:0]   room;
  logic          any, last, load;

  assign room  = mrrs_i - (addr_q[12:0] & (mrrs_i - 13'd1));
  assign last  = left_q <= {1'b0, room} || Whole[client_q];
  assign len_o = last ? left_q[12:0] : room;
  assign load  = any && (!valid_q || (piece_ready_i && last));

  assign piece_valid_o = valid_q;
  assign client_o      = client_q;
  assign cookie_o      = cookie_q;
  assign addr_o        = addr_q;
  assign off_o         = off_q;

  nic_arb #(.Num(Clients)) u_arb (
    .clk, .rst, .req_i(req_valid_i), .take_i(load), .valid_o(any), .index_o(turn)
  );

  always_comb begin
    req_ready_o       = '0;
    req_ready_o[turn] = load;
  end

  always_ff @(posedge clk) begin
    if (load) begin
      valid_q  <= 1'b1;
      client_q <= turn;
      cookie_q <= req_i[turn].cookie;
      addr_q   <= req_i[turn].addr;
      left_q   <= req_i[turn].len;
      off_q    <= 14'd0;
    end else if (valid_q && piece_ready_i) begin
      valid_q <= !last;
      addr_q  <= addr_q + 64'(room);
      left_q  <= left_q - 14'(room);
      off_q   <= off_q + 14'(room);
    end
    if (rst) valid_q <= 1'b0;
  end
endmodule
