// Loops and branches that ranks decide alone, and those that they must decide together.
// RUN: sgd-opt %s --split-input-file --spmd-settle-control-flow --canonicalize --spmd-verify | FileCheck %s

sgd.mesh @mesh = <["x"=4]>

// Nobody waits in the body: no agreement, and the flag that the body carries is known to be true.
// CHECK-LABEL: func.func @alone
// CHECK: sgd.while
// CHECK-NOT: spmd.all_reduce
// CHECK: } do {
// CHECK: %[[NEXT:.*]] = math.tanh
// CHECK-NOT: arith.select
// CHECK: sgd.yield %[[NEXT]]
// CHECK: {sgd.by_rank}
func.func @alone(%v: tensor<1x8xf32>, %flag: tensor<1xi1>) -> tensor<1x8xf32> {
  %0:2 = sgd.while(%v, %flag) while {
  ^bb0(%a: tensor<1x8xf32>, %p: tensor<1xi1>):
    %own = sgd.reduce or %p dimensions = [0] : tensor<1xi1> -> tensor<i1>
    %any = spmd.all_reduce or(%own) <@mesh, {"x"}> : (tensor<i1>) -> tensor<i1>
    sgd.yield %any : tensor<i1>
  } do {
  ^bb0(%a: tensor<1x8xf32>, %p: tensor<1xi1>):
    %next = math.tanh %a : tensor<1x8xf32>
    %mask = sgd.broadcast_in_dim %p dims = [0] : tensor<1xi1> -> tensor<1x8xi1>
    %kept = arith.select %mask, %next, %a : tensor<1x8xi1>, tensor<1x8xf32>
    %sum = sgd.reduce add %kept dimensions = [1] : tensor<1x8xf32> -> tensor<1xf32>
    %bound = arith.constant dense<0.5> : tensor<1xf32>
    %more = arith.cmpf ogt, %sum, %bound : tensor<1xf32>
    %goes = arith.andi %p, %more : tensor<1xi1>
    sgd.yield %kept, %goes : tensor<1x8xf32>, tensor<1xi1>
  } {sgd.by_rank} : (tensor<1x8xf32>, tensor<1xi1>) -> (tensor<1x8xf32>, tensor<1xi1>)
  return %0#0 : tensor<1x8xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// A collective in the body: all ranks go on as long as any of them does.
// CHECK-LABEL: func.func @together
// CHECK: spmd.all_reduce or
// CHECK: arith.select
// CHECK-NOT: sgd.by_rank
func.func @together(%v: tensor<1x8xf32>, %flag: tensor<1xi1>) -> tensor<1x8xf32> {
  %0:2 = sgd.while(%v, %flag) while {
  ^bb0(%a: tensor<1x8xf32>, %p: tensor<1xi1>):
    %own = sgd.reduce or %p dimensions = [0] : tensor<1xi1> -> tensor<i1>
    %any = spmd.all_reduce or(%own) <@mesh, {"x"}> : (tensor<i1>) -> tensor<i1>
    sgd.yield %any : tensor<i1>
  } do {
  ^bb0(%a: tensor<1x8xf32>, %p: tensor<1xi1>):
    %next = spmd.all_reduce max(%a) <@mesh, {"x"}> : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %mask = sgd.broadcast_in_dim %p dims = [0] : tensor<1xi1> -> tensor<1x8xi1>
    %kept = arith.select %mask, %next, %a : tensor<1x8xi1>, tensor<1x8xf32>
    %sum = sgd.reduce add %kept dimensions = [1] : tensor<1x8xf32> -> tensor<1xf32>
    %bound = arith.constant dense<0.5> : tensor<1xf32>
    %more = arith.cmpf ogt, %sum, %bound : tensor<1xf32>
    %goes = arith.andi %p, %more : tensor<1xi1>
    sgd.yield %kept, %goes : tensor<1x8xf32>, tensor<1xi1>
  } {sgd.by_rank} : (tensor<1x8xf32>, tensor<1xi1>) -> (tensor<1x8xf32>, tensor<1xi1>)
  return %0#0 : tensor<1x8xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func.func @own_branch
// CHECK: %[[INDEX:.*]] = sgd.reshape %{{.*}} : tensor<1xi32> -> tensor<i32>
// CHECK: sgd.case %[[INDEX]]
// CHECK: {sgd.by_rank}
func.func @own_branch(%i: tensor<1xi32>, %v: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %0 = sgd.case %i(%v) {
  ^bb0(%a: tensor<1x8xf32>):
    %1 = math.exp %a : tensor<1x8xf32>
    sgd.yield %1 : tensor<1x8xf32>
  }, {
  ^bb0(%a: tensor<1x8xf32>):
    sgd.yield %a : tensor<1x8xf32>
  } : (tensor<1xi32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// -----

sgd.mesh @mesh = <["x"=4]>

// A collective in a branch: all ranks run it. Several coordinates on a rank: each takes its own.
// CHECK-LABEL: func.func @all_branches
// CHECK-SAME: %[[I:.*]]: tensor<2xi32>, %[[V:.*]]: tensor<2x8xf32>
// CHECK-DAG: %[[SUM:.*]] = spmd.all_reduce add
// CHECK-DAG: %[[MASK:.*]] = arith.cmpi uge, %[[I]]
// CHECK-DAG: %[[ROWS:.*]] = sgd.broadcast_in_dim %[[MASK]] dims = [0] : tensor<2xi1> -> tensor<2x8xi1>
// CHECK: arith.select %[[ROWS]], %[[V]], %[[SUM]]
// CHECK-NOT: sgd.case
func.func @all_branches(%i: tensor<2xi32>, %v: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = sgd.case %i(%v) {
  ^bb0(%a: tensor<2x8xf32>):
    %1 = spmd.all_reduce add(%a) <@mesh, {"x"}> : (tensor<2x8xf32>) -> tensor<2x8xf32>
    sgd.yield %1 : tensor<2x8xf32>
  }, {
  ^bb0(%a: tensor<2x8xf32>):
    sgd.yield %a : tensor<2x8xf32>
  } : (tensor<2xi32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
