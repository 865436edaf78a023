// The data that feeds a job in every step.
#pragma once

#include <set>

#include "absl/status/status.h"
#include "runtime/train/job.h"

namespace sgd::train {

// Opens --data or --batches and sets job.feed; nothing without them. InvalidArgument, with file and tensor or input,
// when they do not fit the program or would feed what is carried.
absl::Status OpenFeed(Job& job);

// Notes that the data is not what the resumed checkpoint was trained on.
void NoteOtherData(Job& job);

// Notes inputs with as many rows as the fed ones that are not fed: labels whose tensor has another name.
void NoteForgottenFeeds(Job& job);

// Keys of random numbers and counts that several steps leave as they are, though state is carried; not those that the
// user says are `kept`.
void NoteUnchangedState(Job& job, const std::set<size_t>& kept);

}  // namespace sgd::train
