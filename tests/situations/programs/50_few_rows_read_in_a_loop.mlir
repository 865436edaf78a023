// 50. A loop that reads few rows of a value sharded over many: each row as it is read
// collective: all_reduce over 4 sends 96
// collective: all_reduce over 4 sends 96
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<64x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<1x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %zero = arith.constant dense<0.0> : tensor<1x16xf32>
  %start = arith.constant dense<7> : tensor<i32>
  %0:3 = sgd.while(%start, %a, %zero) trips 2 do {
  ^bb0(%i: tensor<i32>, %all: tensor<64x16xf32>, %sum: tensor<1x16xf32>):
    %first = arith.constant dense<0> : tensor<i32>
    %step = arith.constant dense<13> : tensor<i32>
    %next = arith.addi %i, %step : tensor<i32>
    %row = sgd.dynamic_slice %all, %i, %first sizes = [1, 16] : (tensor<64x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
    %1 = math.tanh %row : tensor<1x16xf32>
    %2 = arith.addf %sum, %1 : tensor<1x16xf32>
    %3 = math.tanh %2 : tensor<1x16xf32>
    sgd.yield %next, %all, %3 : tensor<i32>, tensor<64x16xf32>, tensor<1x16xf32>
  } : (tensor<i32>, tensor<64x16xf32>, tensor<1x16xf32>) -> (tensor<i32>, tensor<64x16xf32>, tensor<1x16xf32>)
  return %0#2 : tensor<1x16xf32>
}
