// Facts of a run that are known before its first step, for observers.
#pragma once

#include "runtime/train/job.h"
#include "runtime/watch/job_status.h"

namespace sgd::train {

// Rows are those of the first fed input, and tokens the elements of the first fed matrix of integers. Operations count
// at the rates of the device that the artifact was compiled for, if it names one.
watch::JobFacts FactsOf(const Job& job);

}  // namespace sgd::train
