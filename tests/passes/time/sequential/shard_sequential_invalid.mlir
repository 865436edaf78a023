// RUN: sgd-opt %s --sgd-shard-sequential --split-input-file --verify-diagnostics

sgd.mesh @mesh = <["data"=2]> {sgd.sequential = #sgd<axis"micro"=4>}
!rows = tensor<12x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>

// expected-error @+1 {{input x has 12 rows; expected a multiple of 8, for 'micro' = 4 and 2 shards on ranks; choose a size of 'micro' that divides its 6 rows on a rank}}
func.func @uneven(%x: !rows {sgd.name = "x", sgd.sequential_dim = 0 : i64}) -> !rows {
  return %x : !rows
}

// -----

sgd.mesh @mesh = <["data"=2]> {sgd.sequential = #sgd<axis"micro"=4>}
!rows = tensor<12x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>

// expected-error @+1 {{sgd.sequential_dim is 2 on an argument of type 'tensor<12x8xf32>'; expected one of its 2 dimensions}}
func.func @no_dimension(%x: !rows {sgd.sequential_dim = 2 : i64}) -> !rows {
  return %x : !rows
}

// -----

sgd.mesh @mesh = <["data"=2]> {sgd.sequential = #sgd<axis"micro"=4>}
!rows = tensor<16x8xf32, #sgd.sharding<@mesh, [{"data"}, {}]>>

func.func @host_call(%x: !rows {sgd.sequential_dim = 0 : i64}) -> !rows {
  // expected-error @+1 {{'jax.debug.print' calls a function of the host, in a program whose batch is cut into micro-batches, which no value of it belongs to as a whole; expected none; return the value from the program, or drop the micro-batches}}
  sgd.host_call "jax.debug.print" 1(%x) : (!rows) -> ()
  return %x : !rows
}
