// A GPT of two layers over 65 characters: the scores of the next token.
//
//   sgdc gpt.mlir --recipe gpt.json -o gpt.sgda
//   sgdrun -n 4 gpt.sgda --data text.safetensors --steps 200 --save-weights gpt.safetensors
sgd.mesh @mesh = <["data"=2, "model"=2]>

func.func private @norm(%x: tensor<8x32x64xf32>, %scale: tensor<64xf32>) -> tensor<8x32x64xf32> {
  %size = arith.constant dense<64.0> : tensor<8x32xf32>
  %eps = arith.constant dense<1.0e-05> : tensor<8x32xf32>
  %square = arith.mulf %x, %x : tensor<8x32x64xf32>
  %sum = sgd.reduce add %square dimensions = [2] : tensor<8x32x64xf32> -> tensor<8x32xf32>
  %mean = arith.divf %sum, %size : tensor<8x32xf32>
  %shifted = arith.addf %mean, %eps : tensor<8x32xf32>
  %inverse = math.rsqrt %shifted : tensor<8x32xf32>
  %rows = sgd.broadcast_in_dim %inverse dims = [0, 1] : tensor<8x32xf32> -> tensor<8x32x64xf32>
  %columns = sgd.broadcast_in_dim %scale dims = [2] : tensor<64xf32> -> tensor<8x32x64xf32>
  %normal = arith.mulf %x, %rows : tensor<8x32x64xf32>
  %scaled = arith.mulf %normal, %columns : tensor<8x32x64xf32>
  return %scaled : tensor<8x32x64xf32>
}

// q, k and v [64, 4 heads, 16]; out [4 heads, 16, 64].
func.func private @attention(%x: tensor<8x32x64xf32>, %q: tensor<64x4x16xf32>, %k: tensor<64x4x16xf32>, %v: tensor<64x4x16xf32>, %out: tensor<4x16x64xf32>) -> tensor<8x32x64xf32> {
  %queries = sgd.dot_general %x, %q batching = [] x [] contracting = [2] x [0] : tensor<8x32x64xf32>, tensor<64x4x16xf32> -> tensor<8x32x4x16xf32>
  %keys = sgd.dot_general %x, %k batching = [] x [] contracting = [2] x [0] : tensor<8x32x64xf32>, tensor<64x4x16xf32> -> tensor<8x32x4x16xf32>
  %values = sgd.dot_general %x, %v batching = [] x [] contracting = [2] x [0] : tensor<8x32x64xf32>, tensor<64x4x16xf32> -> tensor<8x32x4x16xf32>
  %products = sgd.dot_general %queries, %keys batching = [0, 2] x [0, 2] contracting = [3] x [3] : tensor<8x32x4x16xf32>, tensor<8x32x4x16xf32> -> tensor<8x4x32x32xf32>
  %quarter = arith.constant dense<0.25> : tensor<8x4x32x32xf32>
  %scores = arith.mulf %products, %quarter : tensor<8x4x32x32xf32>
  %row = sgd.iota dimension = 2 : tensor<8x4x32x32xi32>
  %column = sgd.iota dimension = 3 : tensor<8x4x32x32xi32>
  %isPast = arith.cmpi sge, %row, %column : tensor<8x4x32x32xi32>
  %hidden = arith.constant dense<-1.0e+30> : tensor<8x4x32x32xf32>
  %masked = arith.select %isPast, %scores, %hidden : tensor<8x4x32x32xi1>, tensor<8x4x32x32xf32>
  %largest = sgd.reduce max %masked dimensions = [3] {sgd.no_gradient} : tensor<8x4x32x32xf32> -> tensor<8x4x32xf32>
  %top = sgd.broadcast_in_dim %largest dims = [0, 1, 2] : tensor<8x4x32xf32> -> tensor<8x4x32x32xf32>
  %below = arith.subf %masked, %top : tensor<8x4x32x32xf32>
  %exponentials = math.exp %below : tensor<8x4x32x32xf32>
  %total = sgd.reduce add %exponentials dimensions = [3] : tensor<8x4x32x32xf32> -> tensor<8x4x32xf32>
  %totals = sgd.broadcast_in_dim %total dims = [0, 1, 2] : tensor<8x4x32xf32> -> tensor<8x4x32x32xf32>
  %weights = arith.divf %exponentials, %totals : tensor<8x4x32x32xf32>
  %mixed = sgd.dot_general %weights, %values batching = [0, 1] x [0, 2] contracting = [3] x [1] : tensor<8x4x32x32xf32>, tensor<8x32x4x16xf32> -> tensor<8x4x32x16xf32>
  %result = sgd.dot_general %mixed, %out batching = [] x [] contracting = [1, 3] x [0, 1] : tensor<8x4x32x16xf32>, tensor<4x16x64xf32> -> tensor<8x32x64xf32>
  return %result : tensor<8x32x64xf32>
}

func.func private @mlp(%x: tensor<8x32x64xf32>, %up: tensor<64x256xf32>, %down: tensor<256x64xf32>) -> tensor<8x32x64xf32> {
  %hidden = sgd.dot_general %x, %up batching = [] x [] contracting = [2] x [0] : tensor<8x32x64xf32>, tensor<64x256xf32> -> tensor<8x32x256xf32>
  %zero = arith.constant dense<0.0> : tensor<8x32x256xf32>
  %positive = arith.maximumf %hidden, %zero : tensor<8x32x256xf32>
  %square = arith.mulf %positive, %positive : tensor<8x32x256xf32>
  %result = sgd.dot_general %square, %down batching = [] x [] contracting = [2] x [0] : tensor<8x32x256xf32>, tensor<256x64xf32> -> tensor<8x32x64xf32>
  return %result : tensor<8x32x64xf32>
}

func.func @main(
    %tokens: tensor<8x32xi32> {sgd.name = "tokens", sgd.role = #sgd.role<input>},
    %embedding: tensor<65x64xf32> {sgd.name = "embedding", sgd.init = "normal(0.02)", sgd.role = #sgd.role<parameter>},
    %positions: tensor<32x64xf32> {sgd.name = "positions", sgd.init = "normal(0.02)", sgd.role = #sgd.role<parameter>},
    %norm1_0: tensor<64xf32> {sgd.name = "layers.0.norm1", sgd.init = "ones", sgd.role = #sgd.role<parameter>},
    %q_0: tensor<64x4x16xf32> {sgd.name = "layers.0.q", sgd.init = "normal(0.02)", sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}, {}]>},
    %k_0: tensor<64x4x16xf32> {sgd.name = "layers.0.k", sgd.init = "normal(0.02)", sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}, {}]>},
    %v_0: tensor<64x4x16xf32> {sgd.name = "layers.0.v", sgd.init = "normal(0.02)", sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}, {}]>},
    %out_0: tensor<4x16x64xf32> {sgd.name = "layers.0.out", sgd.init = "normal(0.01)", sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}, {}]>},
    %norm2_0: tensor<64xf32> {sgd.name = "layers.0.norm2", sgd.init = "ones", sgd.role = #sgd.role<parameter>},
    %up_0: tensor<64x256xf32> {sgd.name = "layers.0.up", sgd.init = "glorot_uniform", sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>},
    %down_0: tensor<256x64xf32> {sgd.name = "layers.0.down", sgd.init = "glorot_uniform", sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>},
    %norm1_1: tensor<64xf32> {sgd.name = "layers.1.norm1", sgd.init = "ones", sgd.role = #sgd.role<parameter>},
    %q_1: tensor<64x4x16xf32> {sgd.name = "layers.1.q", sgd.init = "normal(0.02)", sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}, {}]>},
    %k_1: tensor<64x4x16xf32> {sgd.name = "layers.1.k", sgd.init = "normal(0.02)", sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}, {}]>},
    %v_1: tensor<64x4x16xf32> {sgd.name = "layers.1.v", sgd.init = "normal(0.02)", sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}, {}]>},
    %out_1: tensor<4x16x64xf32> {sgd.name = "layers.1.out", sgd.init = "normal(0.01)", sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}, {}]>},
    %norm2_1: tensor<64xf32> {sgd.name = "layers.1.norm2", sgd.init = "ones", sgd.role = #sgd.role<parameter>},
    %up_1: tensor<64x256xf32> {sgd.name = "layers.1.up", sgd.init = "glorot_uniform", sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>},
    %down_1: tensor<256x64xf32> {sgd.name = "layers.1.down", sgd.init = "glorot_uniform", sgd.role = #sgd.role<parameter>, sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>},
    %norm: tensor<64xf32> {sgd.name = "norm", sgd.init = "ones", sgd.role = #sgd.role<parameter>}) -> (tensor<8x32x65xf32> {sgd.name = "logits"}) {
  %tokenRows = sgd.gather %embedding, %tokens {offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, indices_batching_dims = array<i64>,
    start_index_map = array<i64: 0>, index_vector_dim = 2 : i64, slice_sizes = array<i64: 1, 64>} : (tensor<65x64xf32>, tensor<8x32xi32>) -> tensor<8x32x64xf32>
  %positionRows = sgd.broadcast_in_dim %positions dims = [1, 2] : tensor<32x64xf32> -> tensor<8x32x64xf32>
  %x_0 = arith.addf %tokenRows, %positionRows : tensor<8x32x64xf32>
  %a_0 = call @norm(%x_0, %norm1_0) : (tensor<8x32x64xf32>, tensor<64xf32>) -> tensor<8x32x64xf32> loc("layers.0/norm1")
  %b_0 = call @attention(%a_0, %q_0, %k_0, %v_0, %out_0) : (tensor<8x32x64xf32>, tensor<64x4x16xf32>, tensor<64x4x16xf32>, tensor<64x4x16xf32>, tensor<4x16x64xf32>) -> tensor<8x32x64xf32> loc("layers.0/attention")
  %c_0 = arith.addf %x_0, %b_0 : tensor<8x32x64xf32>
  %d_0 = call @norm(%c_0, %norm2_0) : (tensor<8x32x64xf32>, tensor<64xf32>) -> tensor<8x32x64xf32> loc("layers.0/norm2")
  %e_0 = call @mlp(%d_0, %up_0, %down_0) : (tensor<8x32x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32> loc("layers.0/mlp")
  %x_1 = arith.addf %c_0, %e_0 : tensor<8x32x64xf32>
  %a_1 = call @norm(%x_1, %norm1_1) : (tensor<8x32x64xf32>, tensor<64xf32>) -> tensor<8x32x64xf32> loc("layers.1/norm1")
  %b_1 = call @attention(%a_1, %q_1, %k_1, %v_1, %out_1) : (tensor<8x32x64xf32>, tensor<64x4x16xf32>, tensor<64x4x16xf32>, tensor<64x4x16xf32>, tensor<4x16x64xf32>) -> tensor<8x32x64xf32> loc("layers.1/attention")
  %c_1 = arith.addf %x_1, %b_1 : tensor<8x32x64xf32>
  %d_1 = call @norm(%c_1, %norm2_1) : (tensor<8x32x64xf32>, tensor<64xf32>) -> tensor<8x32x64xf32> loc("layers.1/norm2")
  %e_1 = call @mlp(%d_1, %up_1, %down_1) : (tensor<8x32x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32> loc("layers.1/mlp")
  %x_2 = arith.addf %c_1, %e_1 : tensor<8x32x64xf32>
  %last = call @norm(%x_2, %norm) : (tensor<8x32x64xf32>, tensor<64xf32>) -> tensor<8x32x64xf32>
  %logits = sgd.dot_general %last, %embedding batching = [] x [] contracting = [2] x [1] : tensor<8x32x64xf32>, tensor<65x64xf32> -> tensor<8x32x65xf32>
  return %logits : tensor<8x32x65xf32>
}
