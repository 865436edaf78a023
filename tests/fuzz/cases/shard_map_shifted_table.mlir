// INTERNAL: rank 6: program 'main' instruction 1 (launch) at program.mlir:23:12: step 0: kernel_1, block 0: thread 0 reads 4 bytes of global memory that are not the kernel's
// Found by --family shard_map_loops --seed 2, case 57
// seed: 0
sdy.mesh @mesh = <["x"=8]>
func.func @main(%a0: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> (tensor<f32>) {
  %v0 = sdy.manual_computation(%a0) in_shardings=[<@mesh, []>] out_shardings=[<@mesh, []>] manual_axes={"x"} (%r0a0: tensor<f32>) {
  %r0v0 = "stablehlo.all_reduce"(%r0a0) <{replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  %r0v1 = "stablehlo.all_reduce"(%r0v0) <{replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  %r0v2 = stablehlo.partition_id : tensor<ui32>
  %r0v3 = stablehlo.constant dense<1> : tensor<ui32>
  %r0v4 = stablehlo.constant dense<8> : tensor<ui32>
  %r0v5 = stablehlo.divide %r0v2, %r0v3 : tensor<ui32>
  %r0v6 = stablehlo.remainder %r0v5, %r0v4 : tensor<ui32>
  %r0v7 = stablehlo.convert %r0v6 : (tensor<ui32>) -> tensor<f32>
  %r0v8 = stablehlo.broadcast_in_dim %r0v7, dims = [] : (tensor<f32>) -> tensor<f32>
  %r0v9 = stablehlo.add %r0v1, %r0v8 : tensor<f32>
  %r0v10 = "stablehlo.collective_permute"(%r0v9) <{source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<f32>) -> tensor<f32>
  %r0v11 = "stablehlo.collective_broadcast"(%r0v10) <{replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<f32>) -> tensor<f32>
sdy.return %r0v11 : tensor<f32>
} : (tensor<f32>) -> (tensor<f32>)
  return %v0 : tensor<f32>
}
