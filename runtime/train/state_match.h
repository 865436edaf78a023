// Which tensors of one program are those of another, by the same rule as from step to step: what `init` makes is state
// of `train`, and what `eval` reads is.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/train/signature.h"

namespace sgd::train {

struct StateMatch {
  // (position in the first list, position in the second), by the first.
  std::vector<std::pair<size_t, size_t>> pairs;
  // Pairs of these that only position decides, since names and types fit several: worth telling.
  std::vector<std::pair<size_t, size_t>> by_position;
};

// Outputs of `init` and inputs of `train`. Paths decide, as MatchPaths says. Those below tied prefixes go by position.
// The others go to inputs that are carried from step to step: by type where one output and one such input have it,
// and by position where as many have it. Outputs left over initialise nothing.
StateMatch MatchInit(const Signature& init, const Signature& train, const std::vector<bool>& is_carried);

// Inputs of `train` that are inputs of `eval` under another path, "state.params['w']" and "params['w']", of those of
// `eval` that `is_missing`. Only what paths decide: the others have no pair.
std::vector<std::pair<size_t, size_t>> MatchEval(const Signature& train, const Signature& eval,
                                                 const std::vector<bool>& is_missing);

}  // namespace sgd::train
