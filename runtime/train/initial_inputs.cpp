// Cuts the filling into parts for threads. Long runs of bytes are read from the file straight to
// where they belong, which spares the faults of a mapping; tensors in short runs are copied from the
// mapping.
#include "runtime/train/initial_inputs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "runtime/data/random_values.h"
#include "runtime/data/region.h"
#include "runtime/data/tensor_pieces.h"
#include "runtime/train/generator.h"
#include "runtime/train/self_started.h"

namespace sgd::train {
namespace {

// A call to read costs as much as copying about this many bytes.
constexpr uint64_t kLeastRun = 4096;
// Enough for the price of a part to vanish, few enough for threads to share a model of a few tensors.
constexpr uint64_t kMostRun = uint64_t{1} << 20;

struct Part {
  enum class Kind { kRead, kCopy, kGenerator, kZeros, kRandom, kRandomRun } kind;
  size_t input;
  // Of kRead and kRandomRun, in bytes.
  uint64_t source = 0;  // in the tensor, or in the piece of it
  uint64_t target = 0;  // in the shard
  uint64_t bytes = 0;
  const data::TensorPieces::Piece* piece = nullptr;  // of kRead from a file that has no more of the tensor
};

// Of a tensor that is in several files; else null.
const data::TensorPieces* PiecesOf(const FileTensor& tensor) {
  return tensor.changed ? nullptr : tensor.file->pieces();
}

void AddRuns(Part::Kind kind, const data::Shard& shard, size_t input, std::vector<Part>& parts) {
  shard.ForEachRun([&](uint64_t global, uint64_t local, uint64_t bytes) {
    for (uint64_t at = 0; at < bytes; at += kMostRun) {
      parts.push_back({kind, input, global + at, local + at, std::min(kMostRun, bytes - at)});
    }
  });
}

void AddRunsOfPieces(const FileTensor& tensor, const data::Shard& shard, size_t input, std::vector<Part>& parts) {
  for (const data::TensorPieces::Piece& piece : tensor.file->pieces()->PiecesOf(*tensor.entry)) {
    ForEachCommonRun(shard, piece.region, [&](uint64_t local, uint64_t in_piece, uint64_t bytes) {
      for (uint64_t at = 0; at < bytes; at += kMostRun)
        parts.push_back({Part::Kind::kRead, input, in_piece + at, local + at, std::min(kMostRun, bytes - at), &piece});
    });
  }
}

// Fills a shard from all pieces that have something of it.
void CopyFromPieces(const FileTensor& tensor, const data::Shard& shard, std::span<std::byte> local) {
  if (shard.has_padding()) std::ranges::fill(local, std::byte{0});
  for (const data::TensorPieces::Piece& piece : tensor.file->pieces()->PiecesOf(*tensor.entry)) {
    const std::byte* from = nullptr;  // nothing of a piece is read that has nothing of the shard
    ForEachCommonRun(shard, piece.region, [&](uint64_t in_shard, uint64_t in_piece, uint64_t bytes) {
      if (from == nullptr) from = piece.file->Bytes(*piece.entry).data();
      std::memcpy(local.data() + in_shard, from + in_piece, bytes);
    });
    if (from != nullptr) piece.file->Release(*piece.entry);
  }
}

// Whether the shard is nothing but long runs; they have the same length.
bool HasLongRuns(const data::Shard& shard) {
  if (shard.has_padding()) return false;
  uint64_t shortest = 0;
  shard.ForEachRun([&](uint64_t, uint64_t, uint64_t bytes) { shortest = bytes; });
  return shortest >= kLeastRun;
}

std::vector<Part> PartsOf(const Job& job, const exec::Executor& executor) {
  std::vector<Part> parts;
  for (size_t i = 0; i < executor.inputs().size(); ++i) {
    const data::Shard& shard = executor.inputs()[i].shard;
    if (!executor.inputs()[i].is_held) continue;
    if (job.initial[i] && HasLongRuns(shard) && PiecesOf(*job.initial[i]) != nullptr) {
      AddRunsOfPieces(*job.initial[i], shard, i, parts);
    } else if (job.initial[i] && HasLongRuns(shard)) {
      AddRuns(Part::Kind::kRead, shard, i, parts);
    } else if (job.initial[i]) {
      parts.push_back({Part::Kind::kCopy, i});
    } else if (StartsFromSeed(job.program.inputs[i])) {
      parts.push_back({Part::Kind::kGenerator, i});
    } else if (StartsFromZeros(job.program.inputs[i]) || CountsRows(job.program.inputs[i])) {
      parts.push_back({Part::Kind::kZeros, i});
    } else if (job.options.mode == Mode::kBench && HasLongRuns(shard)) {
      AddRuns(Part::Kind::kRandomRun, shard, i, parts);
    } else if (job.options.mode == Mode::kBench) {
      parts.push_back({Part::Kind::kRandom, i});
    }
  }
  return parts;
}

absl::Status Fill(const Part& part, const Job& job, const exec::Executor& executor) {
  const data::Shard& shard = executor.inputs()[part.input].shard;
  const std::span<std::byte> bytes = executor.InputBytes(part.input);
  switch (part.kind) {
    case Part::Kind::kRead:
      if (part.piece != nullptr)
        return part.piece->file->Read(*part.piece->entry, part.source, bytes.subspan(part.target, part.bytes));
      return job.initial[part.input]->Read(part.source, bytes.subspan(part.target, part.bytes));
    case Part::Kind::kCopy:
      if (PiecesOf(*job.initial[part.input]) != nullptr) {
        CopyFromPieces(*job.initial[part.input], shard, bytes);
        break;
      }
      shard.CopyIn(job.initial[part.input]->bytes(), bytes);
      job.initial[part.input]->Release();
      break;
    case Part::Kind::kGenerator: {
      const std::array<uint64_t, 2> state = GeneratorStart(job.seed, /*is_init=*/false);
      shard.CopyIn(std::as_bytes(std::span(state)), bytes);
      break;
    }
    case Part::Kind::kZeros:
      std::ranges::fill(bytes, std::byte{0});
      break;
    case Part::Kind::kRandom:
      data::FillRandom(shard, job.seed, part.input, bytes);
      break;
    case Part::Kind::kRandomRun: {
      const data::ElementType element = shard.type().element;
      data::FillRandomRun(element, job.seed, part.input, part.source / artifact::ElementSize(element),
                          bytes.subspan(part.target, part.bytes));
      break;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FillInitialInputs(const Job& job, const exec::Executor& executor, device::Device& device) {
  const std::vector<Part> parts = PartsOf(job, executor);
  std::vector<absl::Status> statuses(parts.size());
  device.RunOnThreads(parts.size(), [&](uint64_t i) { statuses[i] = Fill(parts[i], job, executor); });
  for (const absl::Status& status : statuses) {
    if (!status.ok()) return status;
  }
  for (const std::optional<FileTensor>& tensor : job.initial) {
    if (!tensor) continue;
    if (absl::Status fault = tensor->file->fault(); !fault.ok()) return fault;
  }
  return absl::OkStatus();
}

}  // namespace sgd::train
