// Makes the artifact that a wrong compiler would have written, whole in itself: hashes are right and its reader
// accepts it.
//
//   sgd-miscompile ARTIFACT PLAN FAULT NUMBER OUT     changes one thing of a plan; faults are in kFaults
//   sgd-miscompile ARTIFACT PLAN plan OTHER OUT       takes the plan from OTHER instead
//
// NUMBER says which of the things that may have the fault, from 0. Prints where it is. Exit code 3: there is no such
// number.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "runtime/artifact/collective.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/plan_choice.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/artifact/writer.h"

namespace sgd::artifact {
namespace {

// Whether it has changed the instruction.
using Fault = std::function<bool(ArtifactT&, ProgramT&, InstructionT&)>;

CollectiveT* CollectiveOf(InstructionT& instruction, CollectiveKind kind) {
  CollectiveT* collective = instruction.op.AsCollective();
  return collective != nullptr && collective->kind == kind && !collective->starts ? collective : nullptr;
}

CollectiveT* FloatAllReduceOf(InstructionT& instruction) {
  CollectiveT* collective = CollectiveOf(instruction, CollectiveKind::AllReduce);
  const bool is_sum = collective != nullptr && collective->reduce == ReduceKind::Add && collective->operands.size() > 0;
  return is_sum && collective->operands[0]->element != ElementType::I32 ? collective : nullptr;
}

// Over the other axis of a mesh of two.
bool OtherGroup(ArtifactT& root, ProgramT&, InstructionT& instruction) {
  CollectiveT* collective = FloatAllReduceOf(instruction);
  if (collective == nullptr || collective->axes.size() != 1 || root.mesh.size() != 2) return false;
  const AxisRef axis = collective->axes[0];
  const uint32_t other = 1 - axis.axis();
  if (root.mesh[other]->size != root.mesh[axis.axis()]->size) return false;
  collective->axes[0] = AxisRef(other, 1, root.mesh[other]->size);
  return true;
}

bool Maximum(ArtifactT&, ProgramT&, InstructionT& instruction) {
  CollectiveT* collective = FloatAllReduceOf(instruction);
  if (collective != nullptr) collective->reduce = ReduceKind::Max;
  return collective != nullptr;
}

// One operand of it is left as it was.
bool Dropped(ArtifactT&, ProgramT&, InstructionT& instruction) {
  CollectiveT* collective = FloatAllReduceOf(instruction);
  if (collective == nullptr) return false;
  const CollectiveOperandT operand = *collective->operands[0];
  CopyT copy;
  copy.source = std::make_unique<Slice>(*operand.source), copy.target = std::make_unique<Slice>(*operand.target);
  if (collective->operands.size() > 1) {
    if (operand.source->offset() != operand.target->offset()) return false;
    collective->operands.erase(collective->operands.begin());
  } else if (operand.source->offset() == operand.target->offset()) {
    FillT nothing;
    nothing.target = std::make_unique<Slice>(Space::Window, operand.target->offset(), 0);
    nothing.pattern = {0};
    instruction.op.Set(std::move(nothing));
  } else {
    instruction.op.Set(std::move(copy));
  }
  return true;
}

// Shards come in the order of another axis first.
bool SwappedShards(ArtifactT&, ProgramT&, InstructionT& instruction) {
  CollectiveT* collective = CollectiveOf(instruction, CollectiveKind::AllGather);
  if (collective == nullptr || collective->axes.size() != 2) return false;
  std::swap(collective->axes[0], collective->axes[1]);
  return true;
}

// The source or target of a permutation begins a row too late, as a halo of the neighbour's would.
bool ShiftedRange(ArtifactT&, ProgramT&, InstructionT& instruction) {
  CollectiveT* collective = CollectiveOf(instruction, CollectiveKind::GatherRange);
  if (collective == nullptr || collective->operands[0]->range == nullptr) return false;
  TileRangeT& range = *collective->operands[0]->range;
  range.offset += 1;
  return true;
}

bool SkippedTrip(ArtifactT&, ProgramT&, InstructionT& instruction) {
  LoopT* loop = instruction.op.AsLoop();
  if (loop == nullptr || loop->predicate != nullptr || loop->trips < 2) return false;
  --loop->trips;
  return true;
}

// The last term of each sum of products is missing.
bool ShortContraction(ArtifactT&, ProgramT&, InstructionT& instruction) {
  MatmulT* matmul = instruction.op.AsMatmul();
  if (matmul == nullptr || matmul->k < 2) return false;
  --matmul->k;
  return true;
}

// A kernel computes the part of another shard: that of its coordinate on the other axis, or the first.
bool OtherCoordinate(ArtifactT& root, ProgramT&, InstructionT& instruction) {
  LaunchT* launch = instruction.op.AsLaunch();
  if (launch == nullptr || launch->coordinates.empty()) return false;
  for (auto& coordinate : launch->coordinates) {
    if (coordinate->axes.size() != 1) continue;
    if (root.mesh.size() == 1) {
      coordinate->axes.clear();
      return true;
    }
    const uint32_t other = 1 - coordinate->axes[0].axis();
    if (root.mesh[other]->size != coordinate->axes[0].size()) continue;
    coordinate->axes[0] = AxisRef(other, 1, root.mesh[other]->size);
    return true;
  }
  return false;
}

bool WrongFill(ArtifactT&, ProgramT&, InstructionT& instruction) {
  FillT* fill = instruction.op.AsFill();
  if (fill == nullptr || fill->pattern.size() != 4) return false;
  fill->pattern = {0, 0, 0, 0x3f};  // 0.5
  return true;
}

const std::map<std::string, Fault>& Faults() {
  static const std::map<std::string, Fault> faults = {
      {"group", OtherGroup},   {"maximum", Maximum},  {"dropped", Dropped},        {"shards", SwappedShards},
      {"range", ShiftedRange}, {"trip", SkippedTrip}, {"short", ShortContraction}, {"coordinate", OtherCoordinate},
      {"fill", WrongFill}};
  return faults;
}

// Carried outputs of equal size: the second is what the first should be, as if the state had not moved on.
bool SwapCarries(ProgramT& program, size_t number) {
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    for (size_t j = i + 1; j < program.outputs.size(); ++j) {
      OutputT &a = *program.outputs[i], &b = *program.outputs[j];
      const bool are_alike = a.carry_input >= 0 && b.carry_input >= 0 && a.type->element == b.type->element &&
                             a.type->local_dims == b.type->local_dims && a.type->global_dims == b.type->global_dims;
      if (!are_alike || number-- > 0) continue;
      std::printf("%s %s\n", program.inputs[a.carry_input]->name.c_str(), program.inputs[b.carry_input]->name.c_str());
      std::swap(a.slice, b.slice);
      return true;
    }
  }
  return false;
}

// A batch that is cut along another axis than its program believes.
bool SwapInput(ArtifactT& root, ProgramT& program, size_t number) {
  for (auto& input : program.inputs) {
    if (input->state || input->type->sharding.empty() || input->type->sharding[0]->axes.size() != 1) continue;
    if (number-- > 0) continue;
    AxisRef& axis = input->type->sharding[0]->axes[0];
    if (root.mesh.size() != 2 || root.mesh[1 - axis.axis()]->size != axis.size()) return false;
    axis = AxisRef(1 - axis.axis(), 1, axis.size());
    std::printf("%s\n", input->name.c_str());
    return true;
  }
  return false;
}

bool Change(ArtifactT& root, const std::string& fault, size_t number) {
  for (auto& program : root.programs) {
    if (program->name != "main" && program->name != "train") continue;
    if (fault == "carry") return SwapCarries(*program, number);
    if (fault == "input") return SwapInput(root, *program, number);
    for (auto& instruction : program->instructions) {
      InstructionT changed = *instruction;
      if (!Faults().at(fault)(root, *program, changed) || number-- > 0) continue;
      const std::string location =
          instruction->loc < program->locations.size() ? program->locations[instruction->loc] : "";
      std::printf("%s\n", location.c_str());
      *instruction = std::move(changed);
      return true;
    }
  }
  return false;
}

flatbuffers::DetachedBuffer Pack(const ArtifactT& root) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Artifact::Pack(builder, &root), ArtifactIdentifier());
  return builder.Release();
}

flatbuffers::DetachedBuffer PackWithHashes(ArtifactT& root) {
  const flatbuffers::DetachedBuffer unhashed = Pack(root);
  for (size_t i = 0; i < root.programs.size(); ++i) {
    const Hash hash = *HashCollectives(*GetArtifact(unhashed.data())->programs()->Get(static_cast<uint32_t>(i)));
    root.programs[i]->collective_hash.assign(hash.begin(), hash.end());
  }
  return Pack(root);
}

std::string ReadAll(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Sections> PlansIn(const std::string& bytes) {
  return *OpenContainer({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

int Run(char** argv) {
  const std::string bytes = ReadAll(argv[1]), plan = argv[2], fault = argv[3];
  const std::string other = fault == "plan" ? ReadAll(argv[4]) : "";
  std::vector<Sections> plans = PlansIn(bytes);
  flatbuffers::DetachedBuffer changed;
  bool is_changed = false;
  for (Sections& sections : plans) {
    if (PlanNameOf(*GetArtifact(sections.program.data())) != plan) continue;
    if (fault == "plan") sections = PlansIn(other).front();
    ArtifactT root;
    GetArtifact(sections.program.data())->UnPackTo(&root);
    root.plan = plan;
    is_changed = fault == "plan" || Change(root, fault, std::strtoull(argv[4], nullptr, 10));
    changed = PackWithHashes(root);
    sections.program = {changed.data(), changed.size()};
  }
  if (!is_changed) return 3;
  const absl::StatusOr<std::string> file = BuildContainer(plans);
  if (!file.ok()) {
    std::fprintf(stderr, "%s\n", std::string(file.status().message()).c_str());
    return 1;
  }
  std::ofstream(argv[5], std::ios::binary) << *file;
  return 0;
}

}  // namespace
}  // namespace sgd::artifact

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: sgd-miscompile ARTIFACT PLAN FAULT NUMBER|OTHER OUT\n");
    return 2;
  }
  return sgd::artifact::Run(argv);
}
