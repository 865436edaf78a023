// The part of a run's time that failures and checkpoints leave.
#pragma once

namespace sgd::checkpoint {

// All in seconds.
struct FailureModel {
  double mean_time_between = 0;  // failures of any rank
  double save = 0;               // that a checkpoint stops the run
  double restart = 0;            // from a failure until the run goes on from the last checkpoint
};

// The part of the time that is spent on steps that count, with a checkpoint after each `interval` of them: failures
// are independent of each other and may happen while the run saves or restarts (Daly, "A higher order estimate of the
// optimum checkpoint interval for restart dumps", 2006).
double Goodput(const FailureModel& model, double interval);

// The interval with the largest goodput, at least `least`.
double BestInterval(const FailureModel& model, double least);

}  // namespace sgd::checkpoint
