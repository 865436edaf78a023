// Several meshes over the same devices become one.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: sgd.mesh @one = <["data"=2]>
// CHECK: sgd.sharding_constraint %arg0 <@one, [{"data"}]>
sdy.mesh @one = <["data"=2]>
sdy.mesh @two = <["x"=2]>
func.func @same(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@one, [{"data"}]>}) -> tensor<4xf32> {
  %0 = sdy.sharding_constraint %x <@two, [{"x"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The finer one is kept; axes of the other are several of its axes.
// CHECK: sgd.mesh @fine = <["data"=2, "model"=4]>
// CHECK: sgd.sharding_constraint %arg0 <@fine, [{"data", "model"}, {}]>
sdy.mesh @coarse = <["x"=8]>
sdy.mesh @fine = <["data"=2, "model"=4]>
func.func @refined(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@fine, [{"data"}, {"model"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %x <@coarse, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Where none has the other's axes whole, parts of axes.
// CHECK: sgd.mesh @a = <["x"=4, "y"=2]>
// CHECK: sgd.sharding_constraint %arg0 <@a, [{"x":(1)2}, {"x":(2)2, "y"}]>
sdy.mesh @a = <["x"=4, "y"=2]>
sdy.mesh @b = <["u"=2, "v"=4]>
func.func @parts(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %x <@b, [{"u"}, {"v"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Another order of devices, where it is that of the axes in another order.
// CHECK: sgd.mesh @rows = <["x"=2, "y"=4]>
// CHECK: sgd.sharding_constraint %arg0 <@rows, [{"y"}, {"x"}]>
sdy.mesh @rows = <["x"=2, "y"=4]>
sdy.mesh @columns = <["v"=4, "u"=2], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>
func.func @transposed(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %x <@columns, [{"v"}, {"u"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Manual computations are over the kept mesh; axes of size 1 are none.
// CHECK: sgd.manual_computation(%arg0) in [#sgd.sharding<@fine, [{"data"}]>] out [#sgd.sharding<@fine, [{"data"}]>] over <@fine, {"data"}>
sdy.mesh @fine = <["data"=2, "model"=2]>
sdy.mesh @other = <["unit"=1, "u"=2, "v"=2]>
func.func @manual(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@other, [{"unit", "u"}]>] out_shardings=[<@other, [{"u"}]>] manual_axes={"unit", "u"} (%a: tensor<2xf32>) {
    sdy.return %a : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @a = <["x"=4]>
// expected-error@+1 {{a second mesh, 'b' beside 'a', is not over the same devices cut in ways that nest; use axes of one mesh}}
sdy.mesh @b = <["y"=4], device_ids=[0, 1, 3, 2]>
func.func @order(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.sharding_constraint %x <@b, [{"y"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @a = <["x"=4]>
// expected-error@+1 {{a second mesh, 'b' beside 'a', is not over the same devices cut in ways that nest; use axes of one mesh}}
sdy.mesh @b = <["y"=2]>
func.func @subset(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

sdy.mesh @a = <["x"=4, "y"=2]>
sdy.mesh @b = <["u"=2, "v"=4]>
func.func @cut(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'sdy.manual_computation' is manual over the axis "u", which is a part of an axis of the mesh 'a'}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@b, [{"u"}]>] out_shardings=[<@b, [{"u"}]>] manual_axes={"u"} (%a: tensor<2xf32>) {
    sdy.return %a : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
