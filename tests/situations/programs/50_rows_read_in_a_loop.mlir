// 50. A loop that reads one row of a value sharded over rows in each iteration: gathered once, before the loop
// collective: all_gather over 4 sends 384
sgd.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<1x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}) {
  %zero = arith.constant dense<0.0> : tensor<1x16xf32>
  %start = arith.constant dense<0> : tensor<i32>
  %0:3 = sgd.while(%start, %a, %zero) trips 8 do {
  ^bb0(%i: tensor<i32>, %all: tensor<8x16xf32>, %sum: tensor<1x16xf32>):
    %first = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %i, %one : tensor<i32>
    %row = sgd.dynamic_slice %all, %i, %first sizes = [1, 16] : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
    %1 = math.tanh %row : tensor<1x16xf32>
    %2 = arith.addf %sum, %1 : tensor<1x16xf32>
    %3 = math.tanh %2 : tensor<1x16xf32>
    sgd.yield %next, %all, %3 : tensor<i32>, tensor<8x16xf32>, tensor<1x16xf32>
  } : (tensor<i32>, tensor<8x16xf32>, tensor<1x16xf32>) -> (tensor<i32>, tensor<8x16xf32>, tensor<1x16xf32>)
  return %0#2 : tensor<1x16xf32>
}
