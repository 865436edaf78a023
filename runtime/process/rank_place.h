// Where the threads of this process are, for a message about a rank without progress.
#pragma once

#include <sys/types.h>

#include <string>

#include "runtime/launch/failure_policy.h"

namespace sgd::process {

// "program 'main' instruction 4 (launch) at gpt.py:3:1, thread 4711 (state R): kernel_12 (+0x40) at gpt.py:3:1 <
// ... < main; thread 4712 (state D: read of train.npy, in folio_wait_bit_common)": the thread of the rank's steps, and
// those of the others that are not idle, but for the calling one; at most 1000 bytes. Takes half a second at most.
std::string PlaceText(const launch::RankPosition& position, pid_t rank_thread);

}  // namespace sgd::process
