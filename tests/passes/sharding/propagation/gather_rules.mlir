// RUN: sgd-opt %s --sgd-print-sharding-rules --split-input-file --verify-diagnostics -o /dev/null

func.func @embedding(%table: tensor<128x64xf32>, %tokens: tensor<8x16x1xi32>) {
  // expected-remark @below {{([l, m], [i, j, k]) -> [i, j, m] i=8 j=16 k=1:whole l=128:add m=64}}
  %0 = sgd.gather %table, %tokens {offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>,
    indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 2 : i64, slice_sizes = array<i64: 1, 64>}
    : (tensor<128x64xf32>, tensor<8x16x1xi32>) -> tensor<8x16x64xf32>
  return
}

// -----

func.func @batched(%a: tensor<8x16x128xf32>, %i: tensor<8x16x1xi32>) {
  // expected-remark @below {{([i, j, l], [i, j, k]) -> [i, j] i=8 j=16 k=1:whole l=128:add}}
  %0 = sgd.gather %a, %i {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 2>, operand_batching_dims = array<i64: 0, 1>,
    indices_batching_dims = array<i64: 0, 1>, start_index_map = array<i64: 2>, index_vector_dim = 2 : i64, slice_sizes = array<i64: 1, 1, 1>}
    : (tensor<8x16x128xf32>, tensor<8x16x1xi32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @part_of_a_window(%a: tensor<8x6xf32>, %i: tensor<5x1xi32>) {
  // expected-remark @below {{([k, m], [i, j]) -> [i, l, m] i=5 j=1:whole k=8:add l=2 m=6}}
  %0 = sgd.gather %a, %i {offset_dims = array<i64: 1, 2>, collapsed_slice_dims = array<i64>, operand_batching_dims = array<i64>,
    indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 2, 6>}
    : (tensor<8x6xf32>, tensor<5x1xi32>) -> tensor<5x2x6xf32>
  return
}

// -----

func.func @scatters(%table: tensor<128x64xf32>, %tokens: tensor<8x1xi32>, %updates: tensor<8x64xf32>) {
  // expected-remark @below {{([k, l], [i, j], [i, l]) -> [k, l] i=8:add j=1:whole k=128 l=64}}
  %0 = sgd.scatter add %table, %tokens, %updates {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
    input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64}
    : (tensor<128x64xf32>, tensor<8x1xi32>, tensor<8x64xf32>) -> tensor<128x64xf32>
  // expected-remark @below {{([k, l], [i, j], [i, l]) -> [k, l] i=8:whole j=1:whole k=128 l=64}}
  %1 = sgd.scatter set %table, %tokens, %updates {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
    input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64}
    : (tensor<128x64xf32>, tensor<8x1xi32>, tensor<8x64xf32>) -> tensor<128x64xf32>
  return
}

// -----

func.func @batched_scatter(%a: tensor<8x128xf32>, %i: tensor<8x1xi32>, %u: tensor<8xf32>) {
  // expected-remark @below {{([i, k], [i, j], [i]) -> [i, k] i=8 j=1:whole k=128}}
  %0 = sgd.scatter max %a, %i, %u {update_window_dims = array<i64>, inserted_window_dims = array<i64: 1>,
    input_batching_dims = array<i64: 0>, indices_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, index_vector_dim = 1 : i64}
    : (tensor<8x128xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<8x128xf32>
  return
}

// -----

// Booleans have no sum: what ranks hold is joined by a disjunction.
func.func @booleans(%a: tensor<8xi1>, %i: tensor<5xi32>) {
  // expected-remark @below {{([j], [i]) -> [i] i=5 j=8:or}}
  %0 = sgd.gather %a, %i {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>,
    indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1>}
    : (tensor<8xi1>, tensor<5xi32>) -> tensor<5xi1>
  return
}
