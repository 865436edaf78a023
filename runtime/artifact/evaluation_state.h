// Names of the arguments by which an eval program counts rows over batches. The compiler adds them: no argument of a
// user's has such a name. All are zeros for the first batch.
#pragma once

#include <string_view>

namespace sgd::artifact {

inline constexpr std::string_view kEvaluationState = "evaluation/";
// i32: rows at the end of the batch that do not count.
inline constexpr std::string_view kEvaluationPadding = "evaluation/padding";
// f64: rows of the batches before.
inline constexpr std::string_view kEvaluationRows = "evaluation/rows";
// f64, behind it comes a number: a sum over these rows. A result of the same name is its value for the next batch.
inline constexpr std::string_view kEvaluationSums = "evaluation/sums/";

inline bool IsEvaluationState(std::string_view name) { return name.starts_with(kEvaluationState); }

}  // namespace sgd::artifact
