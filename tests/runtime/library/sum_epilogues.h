// The epilogues that are sums and relu: all that a CPU computes.
#pragma once

#include "runtime/library/epilogue.h"

namespace sgd::testing {

inline constexpr library::Epilogue kNoEpilogue, kBias{library::EpilogueStep::kBias},
    kRelu{library::EpilogueStep::kRelu}, kResidual{library::EpilogueStep::kResidual},
    kBiasRelu{library::EpilogueStep::kBias, library::EpilogueStep::kRelu},
    kResidualBias{library::EpilogueStep::kResidual, library::EpilogueStep::kBias},
    kResidualRelu{library::EpilogueStep::kResidual, library::EpilogueStep::kRelu},
    kResidualBiasRelu{library::EpilogueStep::kResidual, library::EpilogueStep::kBias, library::EpilogueStep::kRelu};

inline constexpr library::Epilogue kSumEpilogues[] = {kNoEpilogue, kBias,         kBiasRelu,     kResidual,
                                                      kRelu,       kResidualBias, kResidualRelu, kResidualBiasRelu};

}  // namespace sgd::testing
