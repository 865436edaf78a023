// Values that a loop over coordinates leaves for several later ones.
// RUN: sgd-opt %s --sgd-form-loops | FileCheck %s

sgd.mesh @mesh = <["micro"=4]> {sgd.sequential = #sgd<axis"micro"=4>}

// The second loop reads %e, the third one %y, from which %e can be computed again: %y alone is left for both.
// CHECK-LABEL: @shared(
// CHECK: sgd.while
// CHECK: %[[Y:.*]] = sgd.dot_general
// CHECK: math.exp
// CHECK: %[[ROW:.*]] = sgd.reshape %[[Y]]
// CHECK: sgd.dynamic_update_slice %{{.*}}, %[[ROW]], {{.*}} -> tensor<4x2x8xf32>
// CHECK-NOT: sgd.dynamic_update_slice
// CHECK: sgd.while
// CHECK: math.exp
// CHECK-NOT: sgd.dynamic_update_slice
// CHECK: sgd.while
// CHECK: arith.maximumf
func.func @shared(%x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}, %w: tensor<8x8xf32>)
    -> (tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) {
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %e = math.exp %y : tensor<2x8xf32>
  %s = sgd.reduce add %e dimensions = [0] : tensor<2x8xf32> -> tensor<8xf32>
  %0 = spmd.all_reduce add(%s) <@mesh, {"micro"}> : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sgd.broadcast_in_dim %0 dims = [1] : tensor<8xf32> -> tensor<2x8xf32>
  %d = arith.subf %e, %1 : tensor<2x8xf32>
  %q = sgd.reduce max %d dimensions = [0] : tensor<2x8xf32> -> tensor<8xf32>
  %2 = spmd.all_reduce max(%q) <@mesh, {"micro"}> : (tensor<8xf32>) -> tensor<8xf32>
  %3 = sgd.broadcast_in_dim %2 dims = [1] : tensor<8xf32> -> tensor<2x8xf32>
  %r = arith.maximumf %y, %3 : tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}
