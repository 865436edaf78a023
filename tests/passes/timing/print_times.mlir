// RUN: sgd-opt %s --sgd-print-times=ops=true -o /dev/null 2>&1 | FileCheck %s

sgd.mesh @mesh = <["data"=4]>

// Kernels compute the exponentials, 2^20 at 1.2e9 a second, with the sums that read them: they write nothing.
// CHECK: remark: math.exp: 873.8 us
// The sums take less time than writing them does, 4 MiB at 1e10 bytes a second, and a launch.
// CHECK: remark: arith.addf: 420.4 us
// 2^31 operations at 6e10 a second, and a launch.
// CHECK: remark: sgd.dot_general: 3.579e+04 us
// Two rounds of 5 us; each rank sends 6 MiB at 5e9 bytes a second.
// CHECK: remark: spmd.all_reduce: 1268 us
// Three trips.
// CHECK: remark: sgd.while: 1.074e+05 us
// CHECK: remark: main:
func.func @main(%x: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %0 = math.exp %x : tensor<1024x1024xf32>
  %1 = arith.addf %0, %x : tensor<1024x1024xf32>
  %2 = sgd.dot_general %1, %x batching = [] x [] contracting = [1] x [0] : tensor<1024x1024xf32>, tensor<1024x1024xf32> -> tensor<1024x1024xf32>
  %3 = spmd.all_reduce add(%2) <@mesh, {"data"}> : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %zero = arith.constant dense<0> : tensor<i32>
  %4:2 = sgd.while (%zero, %1) trips 3 do {
  ^bb0(%i: tensor<i32>, %y: tensor<1024x1024xf32>):
    %one = arith.constant dense<1> : tensor<i32>
    %j = arith.addi %i, %one : tensor<i32>
    %5 = sgd.dot_general %y, %y batching = [] x [] contracting = [1] x [0] : tensor<1024x1024xf32>, tensor<1024x1024xf32> -> tensor<1024x1024xf32>
    sgd.yield %j, %5 : tensor<i32>, tensor<1024x1024xf32>
  } : (tensor<i32>, tensor<1024x1024xf32>) -> (tensor<i32>, tensor<1024x1024xf32>)
  return %3, %1, %4#1 : tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>
}
