// Integers of 8 bits with scales: what ranks exchange, and what they keep.
// RUN: sgd-opt %s --split-input-file --sgd-compress-reductions --sgd-localize --canonicalize --cse --spmd-combine-collectives --spmd-verify | FileCheck %s

!p = tensor<24x40xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!w = tensor<24x40xf32, #sgd.sharding<@mesh, [{}, {}]>>
!q = tensor<7xf32, #sgd.sharding<@mesh, [{}], unreduced={"data"}>>
!v = tensor<7xf32, #sgd.sharding<@mesh, [{}]>>

module attributes {sgd.compress = {data = {kind = "int8", block = 256 : i64}}} {
sgd.mesh @mesh = <["data"=3]>

// An update between two gradients keeps neither from the other's bucket: two collectives, one for parts and one for sums.
// CHECK-LABEL: func.func @bucket
// CHECK-SAME: %{{.*}}: tensor<24x40xf32>
// CHECK-SAME: %[[E:arg[0-9]+]]: tensor<1x24x40xf32> {sgd.donated, sgd.global_type = tensor<3x24x40xf32>, sgd.name = "compress/error/w", sgd.role = #sgd.role<compression_error>, sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}, {}]>}
// CHECK-SAME: %[[F:arg[0-9]+]]: tensor<1x7xf32> {sgd.donated, sgd.global_type = tensor<3x7xf32>, sgd.name = "compress/error/v"
// CHECK-SAME: tensor<1x24x40xf32> {sgd.carry = 4 : i64, sgd.carry_basis = "names"
// CHECK: %[[DUE:.*]] = arith.addf
// 960 elements: a part of 320 for each rank, in two blocks of 160.
// CHECK: %[[PARTS:.*]] = sgd.reshape %[[DUE]] : tensor<24x40xf32> -> tensor<3x2x160xf32>
// CHECK: sgd.reduce max %{{.*}} dimensions = [2] : tensor<3x2x160xf32> -> tensor<3x2xf32>
// CHECK: sgd.fptosi %{{.*}} : tensor<3x2x160xf32> to tensor<3x2x160xi8>
// CHECK: %[[R:.*]]:4 = spmd.gather_range(%{{.*}}) ranges = [#sgd.range<dim = 0, size = 9, scale = 1, offset = 0, step = 3>, {{.*}}] <@mesh, {"data"}> to <@mesh, {"data"}>
// CHECK-SAME: (tensor<3x2x160xi8>, tensor<3x2xf32>, tensor<3x1x3xi8>, tensor<3x1xf32>)
// CHECK: sgd.reduce add %{{.*}} dimensions = [0] : tensor<3x2x160xf32> -> tensor<2x160xf32>
// CHECK: spmd.all_gather({{.*}}) dims = [0, 0, 0, 0] {{.*}} (tensor<2x160xi8>, tensor<2xf32>, tensor<1x3xi8>, tensor<1xf32>)
// CHECK-NOT: spmd.{{(all|gather|reduce)}}
func.func @bucket(%w: !w {sgd.name = "w"}, %v: !v {sgd.name = "v"}, %p: !p, %q: !q) -> (!w {sgd.carry = 0 : i64}, !v {sgd.carry = 1 : i64}) {
  %g = sgd.reshard %p : !p -> !w
  %0 = arith.subf %w, %g : !w
  %h = sgd.reshard %q : !q -> !v
  %1 = arith.subf %v, %h : !v
  return %0, %1 : !w, !v
}
}

// -----

!p = tensor<24x40xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!w = tensor<24x40xf32, #sgd.sharding<@mesh, [{}, {"data"}]>>

module attributes {sgd.compress = {data = {kind = "int8", block = 256 : i64}}} {
sgd.mesh @mesh = <["data"=4]>

// Shards of a gradient: its columns are parts, and sums stay in f32.
// CHECK-LABEL: func.func @scattered
// CHECK: sgd.transpose %{{.*}} permutation = [1, 0, 2] : tensor<24x4x10xf32> -> tensor<4x24x10xf32>
// CHECK: spmd.gather_range(%{{.*}}) {{.*}} (tensor<4x1x240xi8>, tensor<4x1xf32>)
// CHECK-NOT: spmd.
// CHECK: return {{.*}} : tensor<24x10xf32>, tensor<1x24x40xf32>
func.func @scattered(%w: !w {sgd.name = "w"}, %p: !p) -> (!w {sgd.carry = 0 : i64}) {
  %g = sgd.reshard %p : !p -> !w
  %0 = arith.subf %w, %g : !w
  return %0 : !w
}
}

// -----

!p = tensor<64x8xf32, #sgd.sharding<@mesh, [{}, {"model"}], unreduced={"data"}>>
!w = tensor<64x8xf32, #sgd.sharding<@mesh, [{}, {"model"}]>>
!q = tensor<64x7xf32, #sgd.sharding<@mesh, [{}, {"model"}], unreduced={"data"}>>
!v = tensor<64x7xf32, #sgd.sharding<@mesh, [{}, {"model"}]>>

module attributes {sgd.compress = {data = {kind = "int8", block = 256 : i64}}} {
sgd.mesh @mesh = <["data"=2, "model"=2]>

// Two ranks exchange everything and add it up themselves. The error is sharded as the gradient is. Uneven shards have padding, which would spoil scales.
// CHECK-LABEL: func.func @two
// CHECK-SAME: tensor<1x64x4xf32> {sgd.donated, sgd.global_type = tensor<2x64x8xf32>, sgd.name = "compress/error/w", sgd.role = #sgd.role<compression_error>, sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}, {"model"}]>}
// CHECK-SAME: why = "its shards are uneven"
// CHECK: spmd.all_gather({{.*}}) dims = [0, 0] <@mesh, {"data"}> {{.*}} (tensor<1x1x256xi8>, tensor<1x1xf32>) -> (tensor<2x1x256xi8>, tensor<2x1xf32>)
// CHECK: spmd.all_reduce {{.*}} (tensor<64x4xf32>)
// CHECK-NOT: spmd.
func.func @two(%w: !w {sgd.name = "w"}, %v: !v {sgd.name = "v"}, %p: !p, %q: !q) -> (!w {sgd.carry = 0 : i64}, !v {sgd.carry = 1 : i64}) {
  %g = sgd.reshard %p : !p -> !w
  %0 = arith.subf %w, %g : !w
  %h = sgd.reshard %q : !q -> !v
  %1 = arith.subf %v, %h : !v
  return %0, %1 : !w, !v
}
}

// -----

!p = tensor<64x8xbf16, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!w = tensor<64x8xbf16, #sgd.sharding<@mesh, [{}, {}]>>

module attributes {sgd.compress = {data = {kind = "int8", block = 256 : i64}}} {
sgd.mesh @mesh = <["data"=4]>

// Errors of narrower gradients are kept in f32.
// CHECK-LABEL: func.func @half
// CHECK-SAME: tensor<1x64x8xf32> {{{.*}}sgd.name = "compress/error/w"
// CHECK: arith.extf %{{.*}} : tensor<64x8xbf16> to tensor<64x8xf32>
// CHECK: spmd.gather_range(%{{.*}}) {{.*}} (tensor<4x1x128xi8>, tensor<4x1xf32>)
// CHECK: arith.truncf %{{.*}} : tensor<64x8xf32> to tensor<64x8xbf16>
func.func @half(%w: !w {sgd.name = "w"}, %p: !p) -> (!w {sgd.carry = 0 : i64}) {
  %g = sgd.reshard %p : !p -> !w
  %0 = arith.subf %w, %g : !w
  return %0 : !w
}
}
