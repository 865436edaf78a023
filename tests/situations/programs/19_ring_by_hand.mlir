// 19. Two steps of a ring written by hand: each multiplies with one shard of the weight, which is sent on once
// collective: gather_range over 4 sends 128
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<64x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<16x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sgd.manual_computation(%a, %b) in [#sgd.sharding<@mesh, [{"x"}, {}]>, #sgd.sharding<@mesh, [{"x"}, {}]>] out [#sgd.sharding<@mesh, [{"x"}, {}]>] over <@mesh, {"x"}> {
  ^bb0(%rows: tensor<16x16xf32>, %weight: tensor<4x8xf32>):
    %four = arith.constant dense<4> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %zero = arith.constant dense<0> : tensor<i32>
    %at0 = spmd.partition_id <@mesh, {"x"}> : tensor<i32>
    %column0 = arith.muli %at0, %four : tensor<i32>
    %part0 = sgd.dynamic_slice %rows, %zero, %column0 sizes = [16, 4] : (tensor<16x16xf32>, tensor<i32>, tensor<i32>) -> tensor<16x4xf32>
    %sum0 = sgd.dot_general %part0, %weight batching = [] x [] contracting = [1] x [0] : tensor<16x4xf32>, tensor<4x8xf32> -> tensor<16x8xf32>
    %weight1 = sgd.permute_ranks %weight pairs = [1, 0, 2, 1, 3, 2, 0, 3] over <@mesh, {"x"}> : tensor<4x8xf32>
    %next = arith.addi %at0, %one : tensor<i32>
    %at1 = sgd.remui %next, %four : tensor<i32>
    %column1 = arith.muli %at1, %four : tensor<i32>
    %part1 = sgd.dynamic_slice %rows, %zero, %column1 sizes = [16, 4] : (tensor<16x16xf32>, tensor<i32>, tensor<i32>) -> tensor<16x4xf32>
    %product1 = sgd.dot_general %part1, %weight1 batching = [] x [] contracting = [1] x [0] : tensor<16x4xf32>, tensor<4x8xf32> -> tensor<16x8xf32>
    %sum1 = arith.addf %sum0, %product1 : tensor<16x8xf32>
    sgd.yield %sum1 : tensor<16x8xf32>
  } : (tensor<64x16xf32>, tensor<16x8xf32>) -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
