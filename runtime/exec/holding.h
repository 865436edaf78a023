// Which part of a program's tensor a rank holds, and with whom it shares that.
#pragma once

#include <cstdint>

#include "runtime/artifact/reader.h"
#include "runtime/artifact/whole_program.h"
#include "runtime/comm/collectives/mesh.h"
#include "runtime/data/shard.h"

namespace sgd::exec {

struct Holding {
  data::Shard shard;
  bool is_held = true;  // whether the rank's stage has the tensor, and no other rank owns it
  // The rank's number among the ranks that hold this shard, and their number; none where another stage's ranks hold all
  // of the tensor too, and come first.
  uint32_t replica = 0;
  uint32_t replicas = 1;
};

// Of any rank, without its device. `whole` is an input or an output of a verified artifact.
template <typename Tensor>
Holding HoldingOf(const artifact::ArtifactFile& file, const comm::Mesh& mesh, const artifact::Whole<Tensor>& whole,
                  uint32_t rank);

}  // namespace sgd::exec
