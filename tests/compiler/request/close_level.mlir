// RUN: sgd-opt %s --sgd-close-level=level=sharded --split-input-file --verify-diagnostics --verify-roundtrip | FileCheck %s

// What is a default is left out; a recipe's text is kept as it is.
// CHECK: module attributes {sgd.request = #sgd.request<version = 2, {cpu = "native", level = "sharded", mesh = [#sgd<axis"data"=4>], programs = {{\[\[}}"main", "step.mlir"]], recipe = "{\22zero\22: 1}\0A", recipe_file = "r.json", shard_updates, target = "cpu", topology = "host"}>}
module attributes {sgd.request = #sgd.request<version = 2, {cpu = "native", mesh = [#sgd<axis"data"=4>], programs = [["main", "step.mlir"]], recipe = "{\22zero\22: 1}\n", recipe_file = "r.json", shard_updates, target = "cpu", topology = "host"}>} {
}

// -----

// expected-error @+1 {{'sgd.request' is missing; expected the request of a compilation on its module; write one by sgdc --emit-request}}
module {
}

// -----

// expected-error @+1 {{'sgd.request' has version 1; expected version 2; write it by the sgdc of this build}}
module attributes {sgd.request = #sgd.request<version = 1, {}>} {
}
