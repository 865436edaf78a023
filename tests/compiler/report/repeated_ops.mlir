// What each kind of repeated operations is warned of, and what to do about it.
// RUN: sgd-opt %s --split-input-file --sgd-shard --sgd-warn-of-repeated-ops --verify-diagnostics -o /dev/null

sgd.mesh @mesh = <["data"=2, "model"=4]>

// An axis that shards nothing.
func.func @unused(%x: tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>})
    -> (tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}) {
  // expected-warning-re @+1 {{75 % of a rank's operations repeat those of other ranks: 4 ranks along "model" compute the same dot_general at {{.*}} (75 %); no tensor is sharded over "model"; shard an input over it, as "batch": "model" in a recipe does}}
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

sgd.mesh @mesh = <["data"=2]>

// An update of state that is whole on each rank; the gradient is divided, and far more than the update.
func.func @update(%w: tensor<64x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}, %x: tensor<2x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<64x64xf32> {sgd.carry = 0 : i64, sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %g = sgd.dot_general %x, %x batching = [] x [] contracting = [0] x [0] : tensor<2x64xf32>, tensor<2x64xf32> -> tensor<64x64xf32>
  // expected-warning @+1 {{they update state that each of these ranks holds whole; shard it, as "zero": 1 in a recipe does}}
  %change = math.tanh %g : tensor<64x64xf32>
  %next = arith.subf %w, %change : tensor<64x64xf32>
  return %next : tensor<64x64xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// Operands that a constraint in front of the loop has gathered: the warning names its place.
func.func @gathered(%x: tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %whole = sgd.sharding_constraint %x <@mesh, [{}, {}]> : tensor<8x8xf32>
  %loop = sgd.while (%whole) trips 3 do {
  ^bb0(%y: tensor<8x8xf32>):
    // expected-warning @+1 {{their operands are gathered over "x"}}
    %z = sgd.dot_general %y, %y batching = [] x [] contracting = [1] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    sgd.yield %z : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %loop : tensor<8x8xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// Less than a tenth is repeated: the sum of eight numbers beside matmuls. Nothing is said, nor of what nobody reads.
func.func @little(%x: tensor<64x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<64x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
                  %few: tensor<8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>})
    -> (tensor<64x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, tensor<f32> {sgd.sharding = #sgd.sharding<@mesh, []>}) {
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %unread = sgd.dot_general %w, %w batching = [] x [] contracting = [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %sum = sgd.reduce add %few dimensions = [0] : tensor<8xf32> -> tensor<f32>
  return %y, %sum : tensor<64x64xf32>, tensor<f32>
}
