// Shardings and donation that contradict mesh, types or each other.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["data"=4]>
// expected-error@+1 {{argument 0: sharding names the unknown axis "model"; the mesh is}}
func.func @unknown_axis(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["data"=4]>
func.func @unknown_mesh(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'sdy.sharding_constraint': sharding names the unknown mesh @other}}
  %0 = sdy.sharding_constraint %x <@other, [{"data"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["data"=4]>
func.func @rank(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'sdy.sharding_constraint': sharding has 2 dimensions, the tensor has 1}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"data"}, {}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["data"=4]>
func.func @twice(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{sharding uses axis "data" twice}}
  %0 = stablehlo.exponential %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {"data":(1)2}]>]>} : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["data"=4]>
// expected-error@+1 {{result 0 ('out'): sub-axis "data":(3)2 does not divide the axis of size 4}}
func.func @sub_axis(%x: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "out", sdy.sharding = #sdy.sharding<@mesh, [{"data":(3)2}]>}) {
  return %x : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["data"=4]>
// expected-error@+1 {{sub-axis "data":(9223372036854775807)4 does not divide the axis of size 4}}
func.func @huge_sub_axis(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data":(9223372036854775807)4}]>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

sdy.mesh @a = <["x"=4]>
// expected-error@+1 {{a second mesh, 'b' beside 'a', is not over the same devices cut in ways that nest; use axes of one mesh}}
sdy.mesh @b = <["x"=2, "y"=3]>
func.func @meshes(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

sdy.mesh @one = <[], device_ids=[0]>
func.func @one_device(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{placing a value on one device is not supported}}
  %0 = sdy.sharding_constraint %x <@one, [{}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["data"=4]>
func.func @count(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has 2 shardings for 1 values}}
  %0 = stablehlo.exponential %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}]>]>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{sharding "{devices=[3]<=[2]}": has 3 tiles for 2 devices; expected as many; correct the tiles}}
func.func @tiles(%x: tensor<4xf32> {mhlo.sharding = "{devices=[3]<=[2]}"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{sharding "{maximal device=0}": places a value on one device; expected all devices; give it axes of a mesh, or replicate it}}
func.func @maximal(%x: tensor<4xf32> {mhlo.sharding = "{maximal device=0}"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{no mesh fits: shardings are over 4 and over 2 devices; expected all devices in each; export with one mesh}}
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @devices(%x: tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  // expected-error@+1 {{argument 0: sharding has 2 dimensions, the tensor has 1}}
  func.func @tile_rank(%x: tensor<4xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}"}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error@+1 {{argument 0: tf.aliasing_output = 3 : i32 names no result}}
func.func @alias_range(%x: tensor<4xf32> {tf.aliasing_output = 3 : i32}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{argument 0: tf.aliasing_output = 0 : i32 names a result of another type}}
func.func @alias_type(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<2xf32>) -> tensor<2xf32> {
  return %y : tensor<2xf32>
}

// -----

// expected-error@+1 {{argument 1: tf.aliasing_output = 0 : i32 names the result that argument 0 aliases}}
func.func @alias_twice(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  return %y : tensor<4xf32>
}
