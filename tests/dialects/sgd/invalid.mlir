// Shapes and shardings that do not fit are refused with what was found and what was expected.
// RUN: sgd-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{mesh axis "x" is named twice; expected each once; rename one}}
sgd.mesh @mesh = <["x"=2, "x"=3]>

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @axis(%a: tensor<8xf32>) {
  // expected-error@+1 {{sharding names the unknown axis "y"}}
  %0 = sgd.sharding_constraint %a <@mesh, [{"y"}]> : tensor<8xf32>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @twice(%a: tensor<8x8xf32>) {
  // expected-error@+1 {{sharding uses axis "x" twice; expected each once; drop one}}
  %0 = sgd.sharding_constraint %a <@mesh, [{"x"}, {"x":(2)2}]> : tensor<8x8xf32>
  return
}

// -----

func.func @dot(%a: tensor<8x4xf32>, %b: tensor<5x3xf32>) {
  // expected-error@+1 {{lhs dimension 1 (size 4) meets rhs dimension 0 (size 5)}}
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<8x4xf32>, tensor<5x3xf32> -> tensor<8x3xf32>
  return
}

// -----

func.func @convolution_result(%x: tensor<2x8x1x3xf32>, %w: tensor<3x1x3x4xf32>) {
  // expected-error@+1 {{expected the shape [2, 3, 1, 4]; correct the result's type}}
  %0 = sgd.convolution %x, %w strides = [3] low = [1] high = [1] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x1x3xf32>, tensor<3x1x3x4xf32> -> tensor<2x4x1x4xf32>
  return
}

// -----

func.func @convolution_features(%x: tensor<2x8x1x3xf32>, %w: tensor<3x1x2x4xf32>) {
  // expected-error@+1 {{operands have different numbers of input features}}
  %0 = sgd.convolution %x, %w strides = [1] low = [1] high = [1] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x8x1x3xf32>, tensor<3x1x2x4xf32> -> tensor<2x8x1x4xf32>
  return
}

// -----

func.func @slice(%a: tensor<8xf32>) {
  // expected-error@+1 {{dimension 0: [2:9:1] does not lie in size 8; expected 0 <= start <= limit <= size and a stride above 0; correct the range}}
  %0 = sgd.slice %a starts = [2] limits = [9] strides = [1] : tensor<8xf32> -> tensor<7xf32>
  return
}

// -----

func.func @comparator_arguments(%x: tensor<8xf32>, %y: tensor<8xi32>) {
  // expected-error@+1 {{argument 2 of the comparator is 'f32', operand 1 holds 'i32'}}
  %0:2 = sgd.sort(%x, %y) dimension = 0 {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: i32):
    %less = arith.cmpf olt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  return
}

// -----

func.func @comparator_result(%x: tensor<8xf32>) {
  // expected-error@+1 {{comparator does not yield one i1; expected it; compare the arguments}}
  %0 = sgd.sort(%x) dimension = 0 {
  ^bb0(%a: f32, %b: f32):
    sgd.yield %a : f32
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @sort_dimension(%x: tensor<8xf32>) {
  // expected-error@+1 {{dimension 1 is not in [0, 1)}}
  %0 = sgd.sort(%x) dimension = 1 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    sgd.yield %less : i1
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @too_many(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{cannot choose 5 of 4 elements; expected at most all; correct k}}
  %0:2 = sgd.top_k %x k = 5 : (tensor<8x4xf32>) -> (tensor<8x5xf32>, tensor<8x5xi32>)
  return
}

// -----

func.func @gather_collapses_a_batching_dimension(%w: tensor<4x16xf32>, %i: tensor<4x1xi32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{collapsed or inserted, and batching dimensions: 0 comes twice or is no dimension; expected distinct ones in [0, 2); correct the list}}
  %0 = sgd.gather %w, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64: 0>, indices_batching_dims = array<i64: 0>, start_index_map = array<i64: 1>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 16>} : (tensor<4x16xf32>, tensor<4x1xi32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

func.func @gather_indexes_a_batching_dimension(%w: tensor<4x16xf32>, %i: tensor<4x1xi32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{indexed and batching dimensions: 0 comes twice or is no dimension; expected distinct ones in [0, 2); correct the list}}
  %0 = sgd.gather %w, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64>, operand_batching_dims = array<i64: 0>, indices_batching_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 16>} : (tensor<4x16xf32>, tensor<4x1xi32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

func.func @gather_batches_of_two_sizes(%w: tensor<4x16xf32>, %i: tensor<3x1xi32>) -> tensor<3x16xf32> {
  // expected-error @+1 {{batching dimensions 0 of the operand and 0 of the indices differ in size; expected equal sizes; correct the lists}}
  %0 = sgd.gather %w, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64>, operand_batching_dims = array<i64: 0>, indices_batching_dims = array<i64: 0>, start_index_map = array<i64: 1>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 16>} : (tensor<4x16xf32>, tensor<3x1xi32>) -> tensor<3x16xf32>
  return %0 : tensor<3x16xf32>
}

// -----

func.func @gather_batches_index_vectors(%w: tensor<1x16xf32>, %i: tensor<3x1xi32>) -> tensor<3x16xf32> {
  // expected-error @+1 {{index_vector_dim 1 is a batching dimension; expected another; correct it}}
  %0 = sgd.gather %w, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64>, operand_batching_dims = array<i64: 0>, indices_batching_dims = array<i64: 1>, start_index_map = array<i64: 1>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 16>} : (tensor<1x16xf32>, tensor<3x1xi32>) -> tensor<3x16xf32>
  return %0 : tensor<3x16xf32>
}

// -----

// expected-error@+1 {{'sgd.stages' is 2 : i64; expected #sgd<axis"name"=2>}}
sgd.mesh @mesh = <["x"=2]> {sgd.stages = 2}

// -----

// expected-error@+1 {{'sgd.stages' is an axis of 100000; expected 1 to 4096}}
sgd.mesh @mesh = <["x"=2]> {sgd.stages = #sgd<axis"stage"=100000>}

// -----

// expected-error@+1 {{'sgd.stages' is the axis "x", of which the mesh has one of another size; give one of them another name}}
sgd.mesh @mesh = <["x"=2]> {sgd.stages = #sgd<axis"x"=4>}

// -----

// expected-error@+1 {{'sgd.sequential' is unit; expected #sgd<axis"name"=2>}}
sgd.mesh @mesh = <["x"=2]> {sgd.sequential}

// -----

// expected-error@+1 {{'sgd.schedule' is 3 : i64; expected the name of a schedule}}
sgd.mesh @mesh = <["x"=2]> {sgd.schedule = 3}

// -----

// expected-error@+1 {{'sgd.stage' expects the number of a stage}}
func.func @stage(%a: tensor<4xf32> {sgd.stage = "a"}) {
  return
}

// -----

// expected-error@+1 {{'sgd.stage' expects the number of a stage}}
func.func @stage(%a: tensor<4xf32> {sgd.stage = -1 : i64}) {
  return
}

// -----

// expected-error@+1 {{'sgd.role' expects #sgd.role<...>}}
func.func @role_form(%a: tensor<f32> {sgd.role = "parameter"}) { return }

// -----

// expected-error@+1 {{argument 0 has the role 'loss' and is 'tensor<f32>'; expected a role of arguments, such as 'parameter'}}
func.func @role_of_results(%a: tensor<f32> {sgd.role = #sgd.role<loss>}) { return }

// -----

// expected-error@+1 {{result 0 has the role 'buffer' and is 'tensor<f32>'; expected a role of results, such as 'metric'}}
func.func @role_of_arguments(%a: tensor<f32>) -> (tensor<f32> {sgd.role = #sgd.role<buffer>}) { return %a : tensor<f32> }

// -----

// expected-error@+1 {{argument 0 has the role 'generator' and is 'tensor<2xi32>'; expected two integers of 64 bits}}
func.func @generator_type(%a: tensor<2xi32> {sgd.role = #sgd.role<generator>}) { return }

// -----

// expected-error@+1 {{argument 0 has the role 'compression_error' and is 'tensor<2xi32>'; expected floats}}
func.func @compression_type(%a: tensor<2xi32> {sgd.role = #sgd.role<compression_error>}) { return }

// -----

// expected-error@+1 {{result 0 has the role 'loss' and is 'tensor<2xf32>'; expected a floating-point scalar}}
func.func @loss_type(%a: tensor<2xf32>) -> (tensor<2xf32> {sgd.role = #sgd.role<loss>}) { return %a : tensor<2xf32> }

// -----

// expected-error@+1 {{result 0 has the role 'commit' and is 'tensor<2xi1>'; expected a scalar i1}}
func.func @commit_type(%a: tensor<2xi1>) -> (tensor<2xi1> {sgd.role = #sgd.role<commit>}) { return %a : tensor<2xi1> }

// -----

// expected-error@+1 {{results 0 and 2 have the role 'loss'; expected one}}
func.func @two_losses(%a: tensor<f32>) -> (tensor<f32> {sgd.role = #sgd.role<loss>}, tensor<f32> {sgd.role = #sgd.role<metric>}, tensor<f32> {sgd.role = #sgd.role<loss>}) {
  return %a, %a, %a : tensor<f32>, tensor<f32>, tensor<f32>
}
