// Everything that can be known and checked before a rank starts: where inputs come from, what is
// carried, what is written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/artifact/reader.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/shared_snapshots.h"
#include "runtime/data/feed.h"
#include "runtime/data/row_feed.h"
#include "runtime/data/safetensors.h"
#include "runtime/exec/carry.h"
#include "runtime/launch/core_assignment.h"
#include "runtime/train/carry_plan.h"
#include "runtime/train/program_view.h"
#include "runtime/train/replacement_board.h"
#include "runtime/train/run_options.h"
#include "runtime/train/straggler_replacement.h"

namespace sgd::train {

using FilePtr = std::shared_ptr<const data::SafetensorsFile>;

// A tensor of an open file that fills an input.
struct FileTensor {
  FilePtr file;
  const data::TensorEntry* entry;
  std::shared_ptr<const std::vector<std::byte>> changed;  // what fills the input instead, if that is not null

  std::span<const std::byte> bytes() const { return changed ? std::span(*changed) : file->Bytes(*entry); }
  void Release() const {
    if (!changed) file->Release(*entry);
  }
  // See SafetensorsFile::Read.
  absl::Status Read(uint64_t offset, std::span<std::byte> target) const {
    if (!changed) return file->Read(*entry, offset, target);
    std::ranges::copy(std::span(*changed).subspan(offset, target.size()), target.begin());
    return absl::OkStatus();
  }
};

// The `init` program and the inputs that it initialises: pairs of (its output, the main program's input).
struct InitPlan {
  ProgramView program;
  exec::CarryPairs outputs_to_inputs;
  std::vector<std::vector<std::byte>> inputs;  // bytes of each input of `program`: the seed as a key
};

// The `eval` program: which of its inputs are the main program's, and what feeds the others.
struct EvalPlan {
  explicit EvalPlan(ProgramView program) : program(std::move(program)) {}

  ProgramView program;
  std::vector<std::pair<size_t, size_t>> shared_inputs;  // (main program's input, eval's input)
  std::shared_ptr<const data::RowFeed> feed;             // null when every input is shared
  uint64_t batches = 1;
  uint64_t rows_left_out = 0;  // rows that fill no batch
  // Of a program that counts rows, whose scalars are those of all rows so far: the inputs for rows at the end of a
  // batch that do not count and for rows of the batches before, and pairs of (output, the input that it is for the next
  // one).
  std::optional<size_t> padding_input, rows_input;
  exec::CarryPairs counts;
};

struct Verification;  // verification.h
class AgreedStep;     // agreed_checkpoint.h

// The ranks [first_rank, first_rank + ranks), which write one file of each checkpoint: file `index` of `count`.
struct SaveGroup {
  uint32_t index = 0;
  uint32_t count = 1;
  uint32_t first_rank = 0;
  uint32_t ranks = 1;
};

// Ranks [first, first + count) of the job.
struct RankRange {
  uint32_t first = 0;
  uint32_t count = 0;
};

struct Job {
  Job(const RunOptions& options, std::unique_ptr<artifact::ArtifactFile> file, ProgramView program)
      : options(options), file(std::move(file)), program(std::move(program)), initial(this->program.inputs.size()) {}

  RunOptions options;
  std::unique_ptr<artifact::ArtifactFile> file;
  ProgramView program;
  exec::CarryPairs carry;
  std::string carry_hash;          // of the names of what goes where, for checkpoints
  std::string ordered_carry_hash;  // likewise, in the program's order: what older checkpoints have

  // By input: what it holds before the first step. An input without one is in the feed, in init's
  // outputs, or random (benchmarks).
  std::vector<std::optional<FileTensor>> initial;
  std::shared_ptr<const data::Feed> feed;  // may be null
  std::string feed_text;                   // describes the data for checkpoints; empty without a feed
  std::string resumed_feed_text;           // the same of the checkpoint that is resumed
  std::optional<std::string> unverified;   // the checkpoint that is resumed, where ranks are to verify it together
  std::optional<InitPlan> init;
  std::optional<EvalPlan> eval;

  uint64_t first_step = 0;   // steps done before, by the checkpoint
  std::string resumed_from;  // the checkpoint's path; empty without one
  // Of a run that goes on from copies in memory: whether this host has none and gets its ranks' state from the next
  // host, and which hosts do.
  bool is_without_state = false;
  std::vector<uint32_t> without_state;
  std::shared_ptr<AgreedStep> agreed_step;  // null where nobody asks for it
  bool has_unsaved = false;                 // whether some of them are on no disk: the state is from memory
  uint64_t seed = 0;
  std::optional<size_t> loss;             // output
  std::vector<std::string> output_names;  // as written to files and logs
  // Memory for copies of the state, which is there before the ranks are: that to go on from when some are lost, and
  // that to save while steps go on. Null where the options or the way in which ranks are started have none.
  RankRange host;  // that this process starts, and that fill these copies
  std::shared_ptr<checkpoint::SharedSnapshots> snapshots;
  std::shared_ptr<checkpoint::SharedSnapshot> saved_copy;
  // Where ranks that hold up the others may be replaced: how they ask for it, what is known before they start, and the
  // cores that this host's ranks are bound to parts of, as by AssignCores.
  std::shared_ptr<ReplacementBoard> replacements;
  ReplacementOptions replacement;
  std::vector<launch::Core> bound_cores;
  // With --verify; else null.
  std::shared_ptr<Verification> verification;
  SaveGroup save_group;            // of the ranks that fill saved_copy
  std::vector<std::string> notes;  // worth telling, not errors

  // Inputs that steps leave as they are: neither carried nor fed.
  bool IsConstant(size_t input) const { return !IsCarried(input) && !IsFed(input); }
  bool IsCarried(size_t input) const;
  bool IsFed(size_t input) const;
};

// The state of a run that ranks have kept in memory.
struct KeptState {
  checkpoint::TrainingPoint point;
  // The state of this host's ranks; nothing if the next host holds it for them.
  std::optional<checkpoint::Checkpoint> copy;
  std::vector<uint32_t> without_state;  // hosts of the latter kind
};

// Opens and checks all that the options name, short of creating outputs. Errors are one line with
// the file or flag at fault. With `kept`, goes on from there.
absl::StatusOr<Job> PrepareJob(const RunOptions& options, std::unique_ptr<artifact::ArtifactFile> file,
                               std::optional<KeptState> kept = std::nullopt);

// Errors as of SafetensorsFile::Open.
absl::StatusOr<FilePtr> OpenTensors(const std::string& path);

// The facts that all ranks must agree on, one "what: value" a line; ranks started apart compare it.
std::string AgreementText(const Job& job);

}  // namespace sgd::train
