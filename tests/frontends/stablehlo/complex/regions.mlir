// Loop-carried values, arguments of bodies and shardings of several results are repeated for both parts.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file | FileCheck %s

// CHECK-LABEL: func @loop
func.func @loop(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %z = stablehlo.complex %x, %x : tensor<4xcomplex<f32>>
  // CHECK: %[[LOOP:.*]]:{{[0-9]+}} = sgd.while
  // CHECK: arith.mulf {{.*}} : tensor<4xf32>
  // CHECK: arith.subf {{.*}} : tensor<4xf32>
  // CHECK: arith.addf {{.*}} : tensor<4xf32>
  %0:2 = stablehlo.while(%i = %zero, %v = %z) : tensor<i32>, tensor<4xcomplex<f32>>
    cond {
      %go = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %square = stablehlo.multiply %v, %z : tensor<4xcomplex<f32>>
      stablehlo.return %next, %square : tensor<i32>, tensor<4xcomplex<f32>>
    }
  %1 = stablehlo.real %0#1 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A sum is one of each part; a comparator has a pair of arguments for each part.
// CHECK-LABEL: func @bodies
func.func @bodies(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>) -> (tensor<3xf32>, tensor<4x3xf32>) {
  %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %z = stablehlo.complex %x, %y : tensor<4x3xcomplex<f32>>
  // CHECK-COUNT-2: sgd.reduce add
  %sum = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
  // CHECK: sgd.sort
  // CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32):
  // CHECK-NEXT: arith.cmpf olt, %[[A]], %[[B]]
  %sorted = "stablehlo.sort"(%z) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %p = stablehlo.real %a : (tensor<complex<f32>>) -> tensor<f32>
    %q = stablehlo.real %b : (tensor<complex<f32>>) -> tensor<f32>
    %less = stablehlo.compare LT, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<4x3xcomplex<f32>>) -> tensor<4x3xcomplex<f32>>
  %0 = stablehlo.imag %sum : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %1 = stablehlo.imag %sorted : (tensor<4x3xcomplex<f32>>) -> tensor<4x3xf32>
  return %0, %1 : tensor<3xf32>, tensor<4x3xf32>
}

// -----

sdy.mesh @mesh = <["data"=2]>
// CHECK-LABEL: func @manual
func.func @manual(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<2xf32> {
  %z = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>
  // CHECK: sgd.manual_computation({{.*}}, {{.*}}) in [#sgd.sharding<@mesh, [{"data"}]>, #sgd.sharding<@mesh, [{"data"}]>]
  // CHECK-COUNT-2: spmd.all_reduce
  %0 = sdy.manual_computation(%z) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"data"} (%part: tensor<2xcomplex<f32>>) {
    %sum = "stablehlo.all_reduce"(%part) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
      %s = stablehlo.add %a, %b : tensor<complex<f32>>
      stablehlo.return %s : tensor<complex<f32>>
    }) : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
    sdy.return %sum : tensor<2xcomplex<f32>>
  } : (tensor<4xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  %1 = stablehlo.imag %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// A matmul with an operand that comes from a real tensor becomes two real ones, not four.
// CHECK-LABEL: func @matmul
func.func @matmul(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %z = stablehlo.complex %x, %y : tensor<4x4xcomplex<f32>>
  %real = stablehlo.convert %w : (tensor<4x4xf32>) -> tensor<4x4xcomplex<f32>>
  // CHECK-COUNT-2: sgd.dot_general
  // CHECK-NOT: sgd.dot_general
  %0 = stablehlo.dot_general %z, %real, contracting_dims = [1] x [0] : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %1 = stablehlo.imag %0 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
