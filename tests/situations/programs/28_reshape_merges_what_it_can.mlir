// 28. Windows of an image, batch and rows sharded, become a batch: only rows of windows are gathered, the batch stays sharded
// collective: all_gather over 2 sends 128
sgd.mesh @mesh = <["data"=2, "h"=2]>
func.func @main(%a: tensor<4x2x2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {"h"}, {}, {}]>}, %w: tensor<8x24xf32>) -> tensor<16x24xf32> {
  %0 = sgd.reshape %a : tensor<4x2x2x8xf32> -> tensor<16x8xf32>
  %1 = sgd.dot_general %0, %w batching = [] x [] contracting = [1] x [0] : tensor<16x8xf32>, tensor<8x24xf32> -> tensor<16x24xf32>
  return %1 : tensor<16x24xf32>
}
