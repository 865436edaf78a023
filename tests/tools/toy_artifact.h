// A hand-built artifact small enough to follow with a pencil, for tests of the tools without the
// compiler.
//
// Train, on n ranks: w f32[1,4] (state), x f32[8,4] (rows sharded over "data")
//     g = sum of x's rows (all-reduced);  w += 0.5 * g;  loss = sum of w
// Init: key u32[2] gives w = 1. Eval: w, x give the sum of w ("sum"). With numbers that are small
// multiples of 0.5 every sum is exact.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sgd {

struct ToyOptions {
  uint32_t ranks = 1;
  std::string train_name = "train";
  bool has_init = false;
  bool has_eval = false;
  // Eval keeps its copy of w elsewhere and writes over train's.
  bool eval_overwrites_state = false;
  // Init and eval hold w's columns sharded over "data", train holds all of them.
  bool others_shard_state = false;
  // Train's last product takes hours: its sums have 2^40 terms.
  bool is_endless = false;
  // Whether train says that its result is the next w; if not, whether it says why not.
  bool is_carry_known = true;
  bool has_carry_doubt = false;
  // Operations of the artifact's device in the time of a byte of memory; 0: the artifact does not say.
  double flops_per_byte = 6;
  // Of the parameter in train and eval.
  std::string parameter = "params['w']";
  // Artifact.records: as PackRecords gives it, or anything.
  std::vector<uint8_t> records = {};
};

// Writes the artifact to `path`; fails the test when that fails.
void WriteToyArtifact(const std::string& path, const ToyOptions& options);

// Writes one artifact with a plan of each name.
void WriteToyPlans(const std::string& path, const std::vector<std::pair<std::string, ToyOptions>>& plans);

}  // namespace sgd
