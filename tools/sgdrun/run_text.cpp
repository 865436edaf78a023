// Labels are padded to one width.
#include "tools/sgdrun/run_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/element_type.h"
#include "runtime/data/safetensors.h"
#include "runtime/text/amounts.h"
#include "runtime/train/program_view.h"

namespace sgd::sgdrun {
namespace {

constexpr size_t kMostColumns = 8;  // of a line; the log has all

std::string Labelled(std::string_view label, std::string_view text) {
  return absl::StrFormat("%-10s  %s", label, text);
}

std::string RanksText(const artifact::ArtifactFile& file) {
  std::vector<std::string> axes;
  for (uint32_t i = 0; i < artifact::Size(file.root().mesh()); ++i) {
    const artifact::MeshAxis& axis = *file.root().mesh()->Get(i);
    axes.push_back(absl::StrCat(axis.name()->str(), "=", axis.size()));
  }
  return absl::StrCat(file.ranks(), axes.empty() ? "" : ": ", absl::StrJoin(axes, " "));
}

// Empty where no input has the role of one.
std::string ParametersText(const train::Job& job) {
  uint64_t elements = 0, bytes = 0, tensors = 0;
  for (const data::InputType& input : job.program.inputs) {
    if (input.role != artifact::InputRole::Parameter) continue;
    uint64_t of_tensor = 1;
    for (const uint64_t dim : input.type.global_dims) of_tensor *= dim;
    elements += of_tensor;
    bytes += of_tensor * artifact::ElementSize(input.type.element);
    ++tensors;
  }
  if (tensors == 0) return "";
  return absl::StrCat(text::CountText(static_cast<double>(elements)), " in ", tensors,
                      tensors == 1 ? " tensor, " : " tensors, ", text::BytesText(bytes));
}

std::string BatchText(const watch::JobFacts& facts) {
  if (!facts.rows) return "";
  return absl::StrCat(*facts.rows, *facts.rows == 1 ? " row" : " rows",
                      facts.tokens ? absl::StrCat(", ", *facts.tokens, " tokens") : "");
}

std::string StepsText(const train::Job& job) {
  const uint64_t first = job.first_step, steps = job.options.steps;
  std::string text = job.options.only_evaluates ? "none, evaluation alone"
                     : steps == 0               ? "none"
                     : steps == 1               ? absl::StrCat(first)
                                                : absl::StrCat(first, " to ", first + steps - 1);
  if (!job.resumed_from.empty()) absl::StrAppend(&text, ", resumed at step ", first, " from ", job.resumed_from);
  return text;
}

// Of the stage whose ranks send most.
uint64_t SentBytes(const train::Job& job) {
  uint64_t most = 0;
  for (const artifact::Program* program : *job.file->root().programs()) {
    if (program->name()->string_view() == job.program.name) most = std::max(most, program->sent_bytes());
  }
  return most;
}

// "metrics/accuracy"; the position of an output without a name.
std::string OwnName(const train::ProgramView& program, size_t output) {
  const std::string name = train::ShortName(program.outputs[output].name);
  const bool is_number = std::ranges::all_of(name, [](char c) { return absl::ascii_isdigit(c) || c == '/'; });
  if (is_number || name.empty()) return program.output_names.Position(output);
  const std::string quoted = data::QuotedName(name);  // on one line
  return quoted.substr(1, quoted.size() - 2);
}

std::string NumberText(double number) {
  return std::isfinite(number) ? absl::StrFormat("%#.6g", number) : absl::StrCat(number);
}

// In as many digits as all numbers of its column.
std::string NumberText(const trace::Scalar& scalar) {
  return artifact::IsFloat(scalar.element) ? NumberText(scalar.number) : trace::ScalarText(scalar);
}

std::string Padded(std::string text, size_t& width) {
  width = std::max(width, text.size());
  text.resize(width, ' ');
  return text;
}

}  // namespace

std::vector<std::string> HeaderLines(const train::Job& job, const watch::JobFacts& facts) {
  const std::pair<const char*, std::string> lines[] = {
      {"artifact", absl::StrCat(job.options.artifact, ", program ", data::QuotedName(job.program.name))},
      {"ranks", RanksText(*job.file)},
      {"parameters", ParametersText(job)},
      {"a step", BatchText(facts)},
      {"steps", StepsText(job)}};
  std::vector<std::string> header;
  for (const auto& [label, text] : lines) {
    if (!text.empty()) header.push_back(Labelled(label, text));
  }
  return header;
}

OutputColumns::OutputColumns(const train::Job& job) {
  for (size_t i = 0; i < job.program.outputs.size(); ++i) {
    const bool is_state = std::ranges::any_of(job.carry, [&](const auto& pair) { return pair.first == i; });
    if (is_state || !job.program.outputs[i].type.global_dims.empty()) continue;
    const auto [column, is_new] =
        columns_.try_emplace(job.output_names[i], Column{OwnName(job.program, i), job.loss == i});
    has_other_names_ |= !job.options.use_model_output_names && column->second.name != job.output_names[i];
  }
}

OutputColumns::Column* OutputColumns::Find(std::string_view logged) {
  const auto found = columns_.find(logged);
  return found == columns_.end() ? nullptr : &found->second;
}

std::string OutputColumns::Text(const trace::StepRecord& step) {
  std::vector<std::string> parts;
  if (step.loss) parts.push_back(absl::StrCat("loss ", Padded(NumberText(*step.loss), loss_width_)));
  for (const auto& [logged, scalar] : step.outputs) {
    Column* const column = Find(logged);
    if (column == nullptr || column->is_loss || parts.size() == kMostColumns) continue;
    parts.push_back(absl::StrCat(column->name, " ", Padded(NumberText(scalar), column->width)));
  }
  return absl::StrJoin(parts, "  ");
}

std::string OutputColumns::Json(const trace::StepRecord& step) const {
  if (!has_other_names_) return "";
  std::vector<std::string> fields;
  for (const auto& [logged, scalar] : step.outputs) {
    const auto column = columns_.find(logged);
    if (column == columns_.end()) continue;
    fields.push_back(absl::StrCat(trace::JsonString(column->second.name), ": ", trace::ScalarJson(scalar)));
  }
  return fields.empty() ? "" : absl::StrCat("{", absl::StrJoin(fields, ", "), "}");
}

std::vector<std::string> SummaryLines(const train::Job& job, const watch::JobFacts& facts, const RunTotals& totals) {
  const uint64_t steps = totals.status.run_steps;
  if (steps == 0) return {};
  const double seconds = absl::ToDoubleSeconds(totals.wall);
  std::vector<std::string> lines = {
      Labelled(totals.has_ended ? "done" : "stopped",
               absl::StrCat(totals.has_ended ? "" : "after ", steps, steps == 1 ? " step in " : " steps in ",
                            text::SecondsText(seconds), ", ", text::SecondsText(seconds / static_cast<double>(steps)),
                            " a step"))};
  // Of all that a run does, evaluations and saves included.
  const auto rate = [&](uint64_t of_step, const char* unit) {
    return absl::StrCat(text::CountText(static_cast<double>(of_step * steps) / seconds), unit);
  };
  if (facts.rows && seconds > 0) {
    lines.push_back(Labelled("rate", absl::StrCat(rate(*facts.rows, " rows/s"),
                                                  facts.tokens ? "  " + rate(*facts.tokens, " tokens/s") : "")));
  }
  if (totals.last_loss) {
    std::string text = NumberText(*totals.last_loss);
    if (totals.best_loss)
      absl::StrAppend(&text, ", best ", NumberText(totals.best_loss->first), " in step ", totals.best_loss->second);
    lines.push_back(Labelled("loss", text));
  }
  if (const uint64_t sent = SentBytes(job); sent > 0)
    lines.push_back(Labelled("sent", absl::StrCat(text::BytesText(sent), " by a rank in a step")));
  return lines;
}

}  // namespace sgd::sgdrun
