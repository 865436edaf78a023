// Eval's inputs one by one: state of the main program, or data.
#include "runtime/train/eval_plan.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/data/data_set.h"
#include "runtime/data/row_feed.h"
#include "runtime/train/self_started.h"
#include "runtime/train/state_match.h"

namespace sgd::train {
namespace {

bool SameValue(const data::InputType& a, const data::InputType& b) {
  return a.type.element == b.type.element && a.type.global_dims == b.type.global_dims;
}

// The sources of eval's inputs: from the main program, and the tensors of the data that feed the others.
struct EvalSources {
  std::vector<std::pair<size_t, size_t>> shared;
  std::vector<data::RowFeed::Source> fed;
};

// The tensor that --feed gives to the input called `name`, which may stand in --feed by its
// position in the main program.
std::optional<std::string> FedTensor(const Job& job, const std::string& name) {
  for (const auto& [input, tensor] : job.options.feed) {
    std::optional<size_t> position = job.program.input_names.Find(input);
    if (input == name || (position && job.program.inputs[*position].name == name)) return tensor;
  }
  return std::nullopt;
}

// Inputs of the main program that are eval's, by position in eval.
struct MainInputs {
  std::vector<std::optional<size_t>> by_name, by_path;
};

// A program without names has only positions, which mean nothing in another program.
MainInputs MainInputsOf(const Job& job, const ProgramView& eval) {
  MainInputs found{std::vector<std::optional<size_t>>(eval.inputs.size()),
                   std::vector<std::optional<size_t>>(eval.inputs.size())};
  std::map<std::string_view, size_t> names;
  for (size_t i = 0; i < job.program.inputs.size(); ++i) names.emplace(job.program.inputs[i].name, i);
  std::vector<bool> is_missing(eval.inputs.size());
  for (size_t i = 0; i < eval.inputs.size(); ++i) {
    const auto at = names.find(eval.inputs[i].name);
    const bool is_nameless = eval.inputs[i].name == eval.input_names.Position(i);
    if (at != names.end() && !is_nameless) found.by_name[i] = at->second;
    is_missing[i] = !found.by_name[i] && !is_nameless;
  }
  for (const auto& [main, input] : MatchEval(job.program, eval, is_missing)) found.by_path[input] = main;
  return found;
}

// Plans the counts that the program updates from batch to batch.
absl::Status PlanCounts(EvalPlan& plan) {
  const ProgramView& eval = plan.program;
  for (size_t input = 0; input < eval.inputs.size(); ++input) {
    if (!CountsRows(eval.inputs[input])) continue;
    const std::string& name = eval.inputs[input].name;
    if (name == artifact::kEvaluationPadding || name == artifact::kEvaluationRows) {
      const bool is_padding = name == artifact::kEvaluationPadding;
      const data::TensorType& type = eval.inputs[input].type;
      const auto element = is_padding ? data::ElementType::I32 : data::ElementType::F64;
      if (!type.global_dims.empty() || type.element != element)
        return absl::InvalidArgumentError(absl::StrCat(InputText(eval, input), ": expected a scalar ",
                                                       is_padding ? "i32" : "f64", "; compile the model anew"));
      (is_padding ? plan.padding_input : plan.rows_input) = input;
      continue;
    }
    const auto output = std::ranges::find(eval.outputs, name, &data::InputType::name);
    if (output == eval.outputs.end() || !SameValue(*output, eval.inputs[input])) {
      return absl::InvalidArgumentError(
          absl::StrCat(InputText(eval, input), ": no output is its value for the next batch; compile the model anew"));
    }
    plan.counts.emplace_back(output - eval.outputs.begin(), input);
  }
  return absl::OkStatus();
}

absl::Status AddEvalInput(const Job& job, const ProgramView& eval, size_t input, const MainInputs& mains,
                          const data::RowSource* rows, EvalSources& sources) {
  const std::string& name = eval.inputs[input].name;
  if (CountsRows(eval.inputs[input])) return absl::OkStatus();
  std::optional<size_t> main = mains.by_name[input];
  std::optional<std::string> tensor = FedTensor(job, name);
  if (!tensor && rows != nullptr && rows->Find(name) && !(main && job.IsCarried(*main))) tensor = name;
  if (tensor && rows != nullptr) {
    sources.fed.push_back({input, *tensor});
    return absl::OkStatus();
  }
  if (!main) main = mains.by_path[input];
  if (!main || job.IsFed(*main)) {
    return absl::InvalidArgumentError(absl::StrCat(InputText(eval, input), " is neither state of program ",
                                                   data::QuotedName(job.program.name), " nor in --eval-data",
                                                   rows == nullptr ? ", which is not given" : ""));
  }
  if (!SameValue(job.program.inputs[*main], eval.inputs[input])) {
    return absl::InvalidArgumentError(
        absl::StrCat(InputText(job.program, *main), " cannot be ", InputText(eval, input), ": their types differ"));
  }
  sources.shared.emplace_back(*main, input);
  return absl::OkStatus();
}

}  // namespace

absl::Status PlanEval(Job& job) {
  if (job.options.eval_every == 0 && !job.options.only_evaluates) return absl::OkStatus();
  absl::StatusOr<ProgramView> program = ViewProgram(*job.file, "eval");
  if (!program.ok()) return program.status();
  std::shared_ptr<const data::DataSet> set;
  if (!job.options.eval_data.empty()) {
    absl::StatusOr<std::shared_ptr<const data::DataSet>> opened = data::OpenDataSet(job.options.eval_data);
    if (!opened.ok()) return opened.status();
    set = *std::move(opened);
    job.notes.insert(job.notes.end(), set->notes.begin(), set->notes.end());
  }
  EvalPlan plan(*std::move(program));
  EvalSources sources;
  const MainInputs mains = MainInputsOf(job, plan.program);
  for (size_t i = 0; i < plan.program.inputs.size(); ++i) {
    absl::Status status =
        AddEvalInput(job, plan.program, i, mains, set == nullptr ? nullptr : set->sources.front().rows.get(), sources);
    if (!status.ok()) return status;
  }
  plan.shared_inputs = std::move(sources.shared);
  if (absl::Status status = PlanCounts(plan); !status.ok()) return status;
  if (set != nullptr) {
    const auto last = plan.padding_input ? data::RowOrder::LastBatch::kPadded : data::RowOrder::LastBatch::kLeftOut;
    absl::StatusOr<std::unique_ptr<data::RowFeed>> feed =
        data::RowFeed::Make(set, plan.program.inputs, sources.fed, {.last = last});
    if (!feed.ok()) return feed.status();
    plan.batches = (*feed)->batches_per_epoch();
    if (!plan.padding_input) plan.rows_left_out = (*feed)->rows() % (*feed)->batch_rows();
    if (plan.rows_left_out > 0) {
      job.notes.push_back(absl::StrCat("evaluation leaves out the last ", plan.rows_left_out, " of ", (*feed)->rows(),
                                       " rows, which do not fill a batch of ", (*feed)->batch_rows()));
    }
    plan.feed = *std::move(feed);
  }
  job.eval = std::move(plan);
  return absl::OkStatus();
}

}  // namespace sgd::train
