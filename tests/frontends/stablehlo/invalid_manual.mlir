// Manual computations and collectives that are refused.
// RUN: sgd-opt %s --sgd-import-stablehlo --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @groups(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x", "y"} (%a: tensor<4xf32>) {
    // expected-error@+1 {{has replica_groups dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>, which are not the groups of axes of #sgd.mesh<["x"=2, "y"=2]> or of parts of them; give the groups an axis of the mesh instead of axis_index_groups}}
    %1 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @free_axis(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<4xf32>) {
    // expected-error@+1 {{communicates over the axis "y", which is not manual here; name it among the axes of shard_map}}
    %1 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @outside(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{stands outside of a manual computation; use it in jax.shard_map over a mesh}}
  %1 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @local_shape(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{operand 0: the body has 'tensor<8xf32>' where a rank holds 'tensor<4xf32>'}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%a: tensor<8xf32>) {
    sdy.return %a : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @uneven(%x: tensor<7xf32>) -> tensor<7xf32> {
  // expected-error@+1 {{operand 0: dimension 0 (size 7) does not divide over its manual axes; expected a multiple of their size; pad the tensor}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<4xf32>) {
    sdy.return %a : tensor<4xf32>
  } : (tensor<7xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

module attributes {mhlo.num_partitions = 1 : i32} {
  func.func @one_device(%x: tensor<8xf32>) -> tensor<16xf32> {
    // expected-error@+1 {{has operand 0 of type 'tensor<8xf32>' and a result of type 'tensor<16xf32>' in a program of one device; expected equal types; correct mhlo.num_partitions}}
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<8xf32>) -> tensor<16xf32>
    return %0 : tensor<16xf32>
  }
}
