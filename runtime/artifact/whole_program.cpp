#include "runtime/artifact/whole_program.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/invalid.h"
#include "runtime/artifact/reader.h"

namespace sgd::artifact {
namespace {

// Positions count stages' inputs at most; a file cannot make this larger.
template <typename Tensor>
void Add(const flatbuffers::Vector<flatbuffers::Offset<Tensor>>* tensors, int32_t stage,
         std::vector<Whole<Tensor>>& whole) {
  for (uint32_t i = 0; i < Size(tensors); ++i) {
    const Tensor* tensor = tensors->Get(i);
    const size_t position = stage < 0 ? i : static_cast<size_t>(tensor->position());
    if (whole.size() <= position) whole.resize(position + 1);
    if (whole[position].tensor == nullptr) whole[position].tensor = tensor;
    whole[position].holders.push_back({stage, i});
    whole[position].tensors.push_back(tensor);
  }
}

bool SameDims(const flatbuffers::Vector<uint64_t>* a, const flatbuffers::Vector<uint64_t>* b) {
  return Size(a) == Size(b) && (Size(a) == 0 || std::equal(a->begin(), a->end(), b->begin()));
}

bool SameAxes(const std::vector<comm::AxisRef>& a, const std::vector<comm::AxisRef>& b) {
  const auto is_same = [](const comm::AxisRef& p, const comm::AxisRef& q) {
    return p.axis == q.axis && p.pre_size == q.pre_size && p.size == q.size;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same);
}

bool SameSharding(const TensorInfo& a, const TensorInfo& b) {
  if (Size(a.sharding()) != Size(b.sharding())) return false;
  if (a.owner_index() != b.owner_index() || !SameAxes(AxesOf(a.owner()), AxesOf(b.owner()))) return false;
  for (uint32_t i = 0; i < Size(a.sharding()); ++i) {
    if (a.sharding()->Get(i)->blocks() != b.sharding()->Get(i)->blocks() ||
        !SameAxes(AxesOf(a.sharding()->Get(i)->axes()), AxesOf(b.sharding()->Get(i)->axes())))
      return false;
  }
  return true;
}

// Stages with rows of their own may cut them in other ways.
bool SameType(const TensorInfo& a, const TensorInfo& b) {
  if (a.element() != b.element() || a.summands() != b.summands() || !SameDims(a.global_dims(), b.global_dims()))
    return false;
  if (Size(a.rows()) != 0 && Size(b.rows()) != 0) return true;
  return Size(a.rows()) == Size(b.rows()) && SameDims(a.local_dims(), b.local_dims()) && SameSharding(a, b);
}

// Whether the stages together have each row once, where they have rows of their own. Each stage's rows were checked.
template <typename Tensor>
bool HasEachRow(const Whole<Tensor>& whole) {
  if (Size(whole.tensor->type()->rows()) == 0) return true;
  std::map<uint64_t, uint64_t> counts;  // by first row
  for (const Tensor* tensor : whole.tensors) {
    for (uint32_t i = 0; i < Size(tensor->type()->rows()); ++i) {
      const RowRange* range = tensor->type()->rows()->Get(i);
      if (!counts.emplace(range->first(), range->count()).second) return false;
    }
  }
  uint64_t next = 0;
  for (const auto& [first, count] : counts) {
    if (first != next) return false;
    next += count;
  }
  return next == whole.tensor->type()->global_dims()->Get(0);
}

// Before positions are used as such: `count` is how many tensors all stages have together.
template <typename Tensor>
absl::Status CheckPositions(const flatbuffers::Vector<flatbuffers::Offset<Tensor>>* tensors, uint64_t count,
                            const char* what) {
  std::set<int32_t> seen;
  for (uint32_t i = 0; i < Size(tensors); ++i) {
    const int32_t position = tensors->Get(i)->position();
    if (position < 0 || static_cast<uint64_t>(position) >= count || !seen.insert(position).second)
      return Invalid(absl::StrCat(what, " ", i, " has the position ", position, ", of another one or none of ", count));
  }
  return absl::OkStatus();
}

bool SameNames(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* a,
               const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* b) {
  if (Size(a) != Size(b)) return false;
  for (uint32_t i = 0; i < Size(a); ++i) {
    if (a->Get(i)->string_view() != b->Get(i)->string_view()) return false;
  }
  return true;
}

bool SameFacts(const Input& a, const Input& b) {
  return SameNames(a.aliases(), b.aliases()) && a.narrow_bits() == b.narrow_bits() && a.role() == b.role() &&
         a.state() == b.state();
}
bool SameFacts(const Output& a, const Output& b) { return a.role() == b.role(); }

template <typename Tensor>
const Tensor& At(const WholeProgram& whole, const Holder& holder);
template <>
const Input& At<Input>(const WholeProgram& whole, const Holder& holder) {
  return *whole.stages[static_cast<size_t>(holder.stage)]->inputs()->Get(holder.index);
}
template <>
const Output& At<Output>(const WholeProgram& whole, const Holder& holder) {
  return *whole.stages[static_cast<size_t>(holder.stage)]->outputs()->Get(holder.index);
}

template <typename Tensor>
absl::Status CheckHolders(const WholeProgram& program, const std::vector<Whole<Tensor>>& wholes, const char* what) {
  std::set<std::string> names;
  for (size_t position = 0; position < wholes.size(); ++position) {
    const Whole<Tensor>& whole = wholes[position];
    const std::string where = absl::StrCat(what, " at position ", position);
    if (whole.tensor == nullptr) return Invalid(absl::StrCat("no stage has the ", where));
    // Outputs may share a name.
    if (std::is_same_v<Tensor, Input> && !names.insert(whole.tensor->name()->str()).second)
      return Invalid(absl::StrCat(where, ": the name is used twice"));
    for (const Holder& holder : whole.holders) {
      const Tensor& other = At<Tensor>(program, holder);
      if (other.name()->string_view() != whole.tensor->name()->string_view() ||
          !SameType(*other.type(), *whole.tensor->type()) || !SameFacts(other, *whole.tensor))
        return Invalid(absl::StrCat(where, ": stages ", whole.holders.front().stage, " and ", holder.stage,
                                    " differ in its name, type or sharding"));
    }
    if (!HasEachRow(whole)) return Invalid(absl::StrCat(where, ": the stages' rows are not each row once"));
  }
  return absl::OkStatus();
}

// Position of the input that stage `holder.stage`'s output becomes; -1.
int64_t CarryAt(const WholeProgram& program, const Holder& holder, const Output& output) {
  if (output.carry_input() < 0) return -1;
  if (holder.stage < 0) return output.carry_input();
  return At<Input>(program, {holder.stage, static_cast<uint32_t>(output.carry_input())}).position();
}

absl::Status CheckCarry(const WholeProgram& program) {
  for (size_t position = 0; position < program.outputs.size(); ++position) {
    const Whole<Output>& output = program.outputs[position];
    const int64_t carry = program.CarryOf(output);
    for (const Holder& holder : output.holders) {
      if (CarryAt(program, holder, At<Output>(program, holder)) != carry)
        return Invalid(absl::StrCat("output at position ", position, ": stages carry it into different inputs"));
    }
    if (carry >= 0 && !SameStages(output.holders, program.inputs[static_cast<size_t>(carry)].holders))
      return Invalid(absl::StrCat("output at position ", position, ": is carried into the input at position ", carry,
                                  ", which other stages have"));
  }
  return absl::OkStatus();
}

absl::Status VerifyWhole(const std::vector<const Program*>& stages) {
  uint64_t inputs = 0, outputs = 0;
  for (const Program* program : stages) {
    inputs += Size(program->inputs());
    outputs += Size(program->outputs());
  }
  for (const Program* program : stages) {
    absl::Status status = CheckPositions(program->inputs(), inputs, "input");
    if (status.ok()) status = CheckPositions(program->outputs(), outputs, "output");
    if (!status.ok()) return status;
  }
  const WholeProgram whole = WholeOf(stages);
  absl::Status status = CheckHolders(whole, whole.inputs, "input");
  if (status.ok()) status = CheckHolders(whole, whole.outputs, "output");
  return status.ok() ? CheckCarry(whole) : status;
}

}  // namespace

bool SameStages(const std::vector<Holder>& a, const std::vector<Holder>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Holder& x, const Holder& y) { return x.stage == y.stage; });
}

int64_t WholeProgram::CarryOf(const Whole<Output>& output) const {
  return CarryAt(*this, output.holders.front(), *output.tensor);
}

int64_t WholeProgram::CandidateOf(const Whole<Input>& input) const {
  const Holder& holder = input.holders.front();
  const int32_t candidate = input.tensor->carry_candidate();
  if (candidate < 0 || holder.stage < 0) return candidate;
  return At<Output>(*this, {holder.stage, static_cast<uint32_t>(candidate)}).position();
}

std::map<std::string_view, std::vector<const Program*>> StagesByName(const Artifact& root) {
  std::map<std::string_view, std::vector<const Program*>> by_name;
  for (const Program* program : *root.programs()) by_name[program->name()->string_view()].push_back(program);
  for (auto& [name, stages] : by_name) {
    std::sort(stages.begin(), stages.end(), [](const Program* a, const Program* b) { return a->stage() < b->stage(); });
  }
  return by_name;
}

WholeProgram WholeOf(std::vector<const Program*> stages) {
  WholeProgram whole{std::move(stages), {}, {}};
  for (const Program* program : whole.stages) {
    Add(program->inputs(), program->stage(), whole.inputs);
    Add(program->outputs(), program->stage(), whole.outputs);
  }
  return whole;
}

WholeProgram WholeOf(const Artifact& root, std::string_view name) { return WholeOf(StagesByName(root)[name]); }

absl::Status VerifyWholes(const Artifact& root) {
  if (Size(root.stages()) == 0) return absl::OkStatus();
  for (const auto& [name, stages] : StagesByName(root)) {
    if (absl::Status status = VerifyWhole(stages); !status.ok())
      return absl::Status(status.code(),
                          absl::StrCat("program '", absl::CEscape(std::string(name)), "': ", status.message()));
  }
  return absl::OkStatus();
}

}  // namespace sgd::artifact
