// Coordinates of the sequential axis become iterations.
// RUN: sgd-opt %s --sgd-form-loops --split-input-file | FileCheck %s
// RUN: sgd-opt %s --sgd-form-loops=sums-in-own-type --split-input-file | FileCheck %s --check-prefix=OWN
// RUN: not sgd-opt %s --sgd-form-loops=refuse --split-input-file 2>&1 | FileCheck %s --check-prefix=REFUSE

sgd.mesh @mesh = <["micro"=4, "data"=2]> {sgd.sequential = #sgd<axis"micro"=4>}

// One loop; the argument holds four blocks of two rows, the result is summed in it, and once over ranks after it.
// CHECK: sgd.mesh @mesh = <["data"=2]>
// CHECK-LABEL: @accumulated(
// CHECK-SAME: %[[X:.*]]: tensor<8x8xf32> {sgd.blocks = array<i64: 4, 1>, {{.*}}sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}
func.func @accumulated(%x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro", "data"}, {}]>}, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[LOOP:.*]]:4 = sgd.while({{.*}}) trips 4 do {
  // CHECK: ^bb0(%[[I:.*]]: tensor<i32>, %[[ALL:.*]]: tensor<8x8xf32>, %[[W:.*]]: tensor<8x8xf32>, %[[SUM:.*]]: tensor<8x8xf32>):
  // CHECK: %[[AT:.*]] = arith.muli %[[I]], %{{.*}}
  // CHECK: %[[ROWS:.*]] = sgd.dynamic_slice %[[ALL]], %[[AT]], %{{.*}} sizes = [2, 8]
  // CHECK: %[[Y:.*]] = sgd.dot_general %[[ROWS]], %[[W]]
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %g = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  // CHECK: %[[G:.*]] = sgd.dot_general %[[ROWS]], %[[Y]]
  // CHECK: arith.addf %[[SUM]], %[[G]]
  %0 = spmd.all_reduce add(%g) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: spmd.all_reduce add(%[[LOOP]]#3) <@mesh, {"data"}>
  %1 = spmd.all_reduce add(%0) <@mesh, {"data"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Sums of 16 bits are taken in 32.
// CHECK-LABEL: @short
// OWN-LABEL: @short
// OWN: arith.addf {{.*}} : tensor<2xbf16>
// OWN-NOT: f32
// OWN: return
func.func @short(%x: tensor<2xbf16> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}]>}) -> tensor<2xbf16> {
  // CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : tensor<2xbf16> to tensor<2xf32>
  // CHECK: arith.addf %{{.*}}, %[[WIDE]] : tensor<2xf32>
  // CHECK: arith.truncf %{{.*}} : tensor<2xf32> to tensor<2xbf16>
  %0 = spmd.all_reduce add(%x) <@mesh, {"micro"}> : (tensor<2xbf16>) -> tensor<2xbf16>
  return %0 : tensor<2xbf16>
}

// -----

sgd.mesh @mesh = <["micro"=4]> {sgd.sequential = #sgd<axis"micro"=4>}

// The mean of the whole batch ends a loop. The matmul is kept for the next one, its exponential is computed again.
// CHECK-LABEL: @centred(
// CHECK-SAME: -> (tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>})
// REFUSE: error: the 'tensor<{{.*}}>' that is computed here is kept for a later loop for all parts of 'micro' at once, which takes the memory of the whole batch; --micro-refuse allows none; compute each row from itself, or compile without --micro-refuse
func.func @centred(%x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}, %w: tensor<8x8xf32>)
    -> (tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) {
  // CHECK: %[[FIRST:.*]]:{{[0-9]+}} = sgd.while
  // CHECK: sgd.dot_general
  // CHECK: %[[E:.*]] = math.exp
  // CHECK-DAG: sgd.reduce add %[[E]]
  // CHECK-DAG: sgd.dynamic_update_slice {{.*}} : (tensor<4x2x8xf32>, tensor<1x2x8xf32>
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %e = math.exp %y : tensor<2x8xf32>
  %s = sgd.reduce add %e dimensions = [0] : tensor<2x8xf32> -> tensor<8xf32>
  %0 = spmd.all_reduce add(%s) <@mesh, {"micro"}> : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: sgd.while
  // CHECK: math.exp
  // CHECK: arith.subf
  // CHECK: sgd.dynamic_update_slice {{.*}} : (tensor<8x8xf32>, tensor<2x8xf32>
  // CHECK-NOT: sgd.while
  %all = sgd.broadcast_in_dim %0 dims = [1] : tensor<8xf32> -> tensor<2x8xf32>
  %r = arith.subf %e, %all : tensor<2x8xf32>
  %p = arith.mulf %r, %y : tensor<2x8xf32>
  return %p : tensor<2x8xf32>
}

// -----

sgd.mesh @mesh = <["micro"=4]> {sgd.sequential = #sgd<axis"micro"=4>}

// Ten rows in parts of three: a rank has room for twelve, of which blocks say where rows are.
// CHECK-LABEL: @padded(
// CHECK-SAME: %{{.*}}: tensor<12x8xf32> {sgd.blocks = array<i64: 4, 1>, sgd.global_type = tensor<10x8xf32>
// CHECK-SAME: -> (tensor<12x8xf32> {sgd.blocks = array<i64: 4, 1>, sgd.global_type = tensor<10x8xf32>
func.func @padded(%x: tensor<3x8xf32> {sgd.global_type = tensor<10x8xf32>, sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>})
    -> (tensor<3x8xf32> {sgd.global_type = tensor<10x8xf32>, sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) {
  %y = math.tanh %x : tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}
