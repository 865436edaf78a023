// Memory of the whole batch is refused at the op that needs it.
// RUN: sgd-opt %s --sgd-shard-sequential=refuse --split-input-file --verify-diagnostics

sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>}
!rows = tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!row = tensor<8xf32, #sgd.sharding<@mesh, [{}]>>

func.func @whole_loop(%x: !rows {sgd.sequential_dim = 0 : i64}) -> !rows {
  %0 = sgd.while(%x) trips 3 do {
  ^bb0(%rows: !rows):
    %sum = sgd.reduce add %rows dimensions = [0] : !rows -> !row
    %every = sgd.broadcast_in_dim %sum dims = [1] : !row -> !rows
    // expected-error @+1 {{needs rows of several parts of 'micro' inside of a loop, which is therefore computed for all parts at once and takes the memory of the whole batch; --micro-refuse allows none; move it out, or compile without}}
    %next = arith.subf %rows, %every : !rows
    sgd.yield %next : !rows
  } : (!rows) -> !rows
  return %0 : !rows
}

// -----

sgd.mesh @mesh = <[]> {sgd.sequential = #sgd<axis"micro"=2>}
!rows = tensor<4x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
!both = tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>

func.func @joined(%x: !rows {sgd.sequential_dim = 0 : i64}, %y: !rows {sgd.sequential_dim = 0 : i64}) -> !both {
  // expected-error @+1 {{needs rows of several parts of 'micro', and nothing is computed in parts}}
  %both = sgd.concatenate %x, %y dimension = 0 : (!rows, !rows) -> !both
  return %both : !both
}
