// Sets and tables of pairs.
#include "runtime/train/carry_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sgd::train {
namespace {

// A table with more rows leaves out those that are decided.
constexpr size_t kMostRows = 40;

absl::Status CheckPair(const Signature& program, size_t output, size_t input) {
  if (output >= program.outputs.size() || input >= program.inputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat("cannot carry output ", output, " to input ", input, ": program ",
                                                   data::QuotedName(program.name), " has ", program.outputs.size(),
                                                   " outputs and ", program.inputs.size(), " inputs"));
  }
  const data::TensorType& from = program.outputs[output].type;
  const data::TensorType& to = program.inputs[input].type;
  if (from == to) return absl::OkStatus();
  const bool is_same_tensor = from.element == to.element && from.global_dims == to.global_dims;
  const std::string of_program = absl::StrCat(" of program ", data::QuotedName(program.name));
  return absl::InvalidArgumentError(
      absl::StrCat("cannot carry output ", OutputName(program, output), of_program, " to input ",
                   InputName(program, input), of_program,
                   is_same_tensor ? ": they are sharded differently; shard both alike, or compile with "
                                    "--shard-updates=never where sgdc has chosen the shards"
                                  : ""));
}

// Only carried outputs are what the inputs were where a step is not committed.
absl::Status CheckCommit(const Signature& program, size_t output, size_t input) {
  if (!program.commit || std::ranges::count(program.carry, std::pair(output, input)) > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "cannot carry output ", OutputName(program, output), " to input ", InputName(program, input), " of program ",
      data::QuotedName(program.name), ": output ", OutputName(program, *program.commit),
      " decides whether a step is committed, and this pair was not known when the program was compiled; expected "
      "the pairs of the artifact; name state alike in arguments and results, and compile again"));
}

std::string Pad(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, text.size()), ' ');
}

class Table {
 public:
  Table(const Signature& program, const CarryPlan& plan, const std::set<size_t>& fed)
      : program_(program), plan_(plan), fed_(fed) {}

  std::string Text() const {
    const bool is_short = program_.inputs.size() <= kMostRows;
    std::vector<std::pair<std::string, std::string>> rows = {{"input", "on the next step"}};
    size_t left_out = 0;
    for (size_t input = 0; input < program_.inputs.size(); ++input) {
      if (is_short || IsOpen(input)) {
        rows.emplace_back(InputName(program_, input), Next(input));
      } else {
        ++left_out;
      }
    }
    size_t width = 0;
    for (const auto& [left, right] : rows) width = std::max(width, left.size());
    std::string text;
    for (const auto& [left, right] : rows) absl::StrAppend(&text, "\n  ", Pad(left, width), "  ", right);
    if (left_out > 0) absl::StrAppend(&text, "\n  (", left_out, " more inputs are decided: see sgd-inspect)");
    return absl::StrCat(text, "\n  outputs that are no input's next value: ", FreeOutputs());
  }

 private:
  bool IsOpen(size_t input) const { return plan_.doubts.contains(input) && !fed_.contains(input); }

  std::string Next(size_t input) const {
    for (const auto& [output, to] : plan_.pairs) {
      if (to == input) return OutputName(program_, output);
    }
    if (fed_.contains(input)) return "fed from data";
    const auto doubt = plan_.doubts.find(input);
    if (doubt == plan_.doubts.end()) return "the same";
    const std::string candidate =
        doubt->second.candidate ? absl::StrCat(" ", OutputName(program_, *doubt->second.candidate)) : "";
    return absl::StrCat("undecided:", candidate, candidate.empty() ? " " : ": ", doubt->second.why);
  }

  std::string FreeOutputs() const {
    std::vector<std::string> names;
    for (size_t output = 0; output < program_.outputs.size(); ++output) {
      const bool is_used = std::ranges::any_of(plan_.pairs, [&](const auto& pair) { return pair.first == output; });
      if (!is_used) names.push_back(OutputName(program_, output));
    }
    if (names.size() > kMostRows) return absl::StrCat(names.size(), " of them: see sgd-inspect");
    return names.empty() ? "none" : absl::StrJoin(names, ", ");
  }

  const Signature& program_;
  const CarryPlan& plan_;
  const std::set<size_t>& fed_;
};

// Inputs of which no output is likely to be the next value: parameters whose gradients are returned, for instance.
// Those whose likeliest output is another's next value, or was given to another by the user, may well be constant.
bool HasNoNextValue(const Signature& program, const CarryDoubt& doubt, size_t input) {
  const bool was_carried = std::ranges::any_of(program.carry, [&](const auto& pair) { return pair.second == input; });
  return !doubt.candidate && !was_carried;
}

// The flag to use if the likeliest outputs are meant, each output once: it repeats the user's pairs and leaves nothing
// open. Empty where an input has no next value: to keep it would leave it out of the training.
std::string Proposal(const Signature& program, const CarryRequest& request, const CarryPlan& plan,
                     const std::map<size_t, CarryDoubt>& open) {
  std::vector<std::string> pairs;
  std::set<size_t> used;
  for (const auto& [output, input] : plan.pairs) used.insert(output);
  for (const auto& [output, input] : request.pairs) pairs.push_back(absl::StrCat("result", output, ":arg", input));
  for (size_t input : request.kept) pairs.push_back(absl::StrCat("none:arg", input));
  for (const auto& [input, doubt] : open) {
    if (HasNoNextValue(program, doubt, input)) return "";
    const bool is_paired = doubt.candidate && used.insert(*doubt.candidate).second;
    const bool is_parameter = program.inputs[input].role == artifact::InputRole::Parameter;
    if (!is_paired && is_parameter && doubt.candidate) return "";
    pairs.push_back(is_paired ? absl::StrCat("result", *doubt.candidate, ":arg", input)
                              : absl::StrCat("none:arg", input));
  }
  return open.empty() || pairs.size() > kMostRows ? "" : absl::StrJoin(pairs, ",");
}

// How to go on: a flag, or a program that returns what it lacks.
std::string Advice(const Signature& program, const CarryRequest& request, const CarryPlan& plan,
                   const std::map<size_t, CarryDoubt>& open) {
  const std::string proposal = Proposal(program, request, plan, open);
  const bool lacks_values =
      std::ranges::any_of(open, [&](const auto& one) { return HasNoNextValue(program, one.second, one.first); });
  return absl::StrCat(
      "\nsay --carry ", proposal.empty() ? "OUT:IN,..." : proposal,
      " if that is meant; OUT:IN,... pairs an output with an input, none:IN keeps an input as it is, and --carry none "
      "keeps them all",
      lacks_values ? "; a step that returns gradients trains nothing: return the updated parameters, or let sgdc build "
                     "the step from the loss (--recipe with the field 'train')"
                   : "");
}

}  // namespace

absl::StatusOr<CarryPlan> PlanCarry(const Signature& program, const CarryRequest& request) {
  CarryPlan plan;
  if (request.carries_nothing) return plan;
  std::set<size_t> outputs, inputs = request.kept;
  for (const auto& [output, input] : request.pairs) {
    if (absl::Status status = CheckPair(program, output, input); !status.ok()) return status;
    if (absl::Status status = CheckCommit(program, output, input); !status.ok()) return status;
    if (!inputs.insert(input).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(request.kept.contains(input) ? "none and an output are" : "two outputs are",
                       " carried to input ", InputName(program, input)));
    }
    outputs.insert(output);
    plan.pairs.emplace_back(output, input);
  }
  for (const auto& [output, input] : program.carry) {
    if (inputs.contains(input)) continue;
    if (outputs.contains(output)) {
      plan.doubts[input] = {"--carry gives its result to another input", std::nullopt};
      continue;
    }
    if (absl::Status status = CheckPair(program, output, input); !status.ok()) return status;
    plan.pairs.emplace_back(output, input);
  }
  for (const auto& [input, doubt] : program.doubts) {
    if (!inputs.contains(input)) plan.doubts.emplace(input, doubt);
  }
  std::ranges::sort(plan.pairs);
  return plan;
}

absl::Status CheckCarryKnown(const Signature& program, const CarryRequest& request, const CarryPlan& plan,
                             const std::set<size_t>& fed, const std::string& purpose) {
  if (request.carries_nothing) return absl::OkStatus();
  std::map<size_t, CarryDoubt> open;
  for (const auto& [input, doubt] : plan.doubts) {
    if (!fed.contains(input)) open.emplace(input, doubt);
  }
  const bool is_stuck = plan.pairs.empty();
  if (open.empty() && !is_stuck) return absl::OkStatus();
  const std::string fault =
      open.empty() ? "no output is known to be an input of the next step, so every step would be the first one again"
                   : absl::StrCat(open.size(), open.size() == 1 ? " input has" : " inputs have",
                                  " no next value that is certain");
  return absl::FailedPreconditionError(absl::StrCat(
      "program ", data::QuotedName(program.name), ": ", purpose, " needs to know what goes from step to step, but ",
      fault, ":", Table(program, plan, fed).Text(), Advice(program, request, plan, open)));
}

}  // namespace sgd::train
