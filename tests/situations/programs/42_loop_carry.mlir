// 42. A carry that is sharded like what the loop adds to it: nothing is sent
// no collectives
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<3x8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}, {}]>}) -> tensor<8x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %start = arith.constant dense<0> : tensor<i32>
  %0:3 = sgd.while(%start, %a, %zero) trips 3 do {
  ^bb0(%i: tensor<i32>, %all: tensor<3x8x16xf32>, %sum: tensor<8x16xf32>):
    %first = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %i, %one : tensor<i32>
    %slice = sgd.dynamic_slice %all, %i, %first, %first sizes = [1, 8, 16] : (tensor<3x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16xf32>
    %row = sgd.reshape %slice : tensor<1x8x16xf32> -> tensor<8x16xf32>
    %1 = arith.addf %sum, %row : tensor<8x16xf32>
    sgd.yield %next, %all, %1 : tensor<i32>, tensor<3x8x16xf32>, tensor<8x16xf32>
  } : (tensor<i32>, tensor<3x8x16xf32>, tensor<8x16xf32>) -> (tensor<i32>, tensor<3x8x16xf32>, tensor<8x16xf32>)
  return %0#2 : tensor<8x16xf32>
}
