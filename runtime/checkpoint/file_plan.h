// Which elements of the state go to which of several files that together are a checkpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/checkpoint/sharded_file.h"
#include "runtime/data/region.h"
#include "runtime/data/tensor_file_writer.h"

namespace sgd::checkpoint {

// A file that the ranks of one host write, or a single rank.
struct FilePlan {
  struct Piece {
    uint32_t rank = 0;  // that fills it
    size_t tensor = 0;  // in the list of tensors that are saved
    data::Region region;
  };

  std::vector<Piece> pieces;
  std::vector<data::TensorSpec> specs;  // of the entries, by piece
  data::Metadata metadata;              // see data::TensorPieces
};

// The tensors of a rank as it will save them, with or without bytes.
using TensorsOfRank = std::function<std::vector<LocalTensor>(uint32_t rank)>;

// The file of ranks [first_rank, first_rank + ranks). The files of all ranks have every element once: replicas write a
// part of a shard each, or the first of them all of it where it is small.
FilePlan PlanFile(uint32_t first_rank, uint32_t ranks, const TensorsOfRank& tensors);

}  // namespace sgd::checkpoint
