// Rows by --feed or equal names, or ready-made batches.
#include "runtime/train/job_feed.h"

#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/data/batch_feed.h"
#include "runtime/data/data_set.h"
#include "runtime/data/fingerprint.h"
#include "runtime/data/row_feed.h"

namespace sgd::train {
namespace {

constexpr char kContentText[] = ", content ";

// Inputs that the data may feed: those that are not carried. The caller names one that does not exist, `name`.
std::string FeedAdvice(const Job& job, const std::string& name) {
  std::string advice = job.program.input_names.Advice(name);
  if (advice.starts_with("; did you mean")) return advice;
  std::vector<std::string> names;
  for (size_t i = 0; i < job.program.inputs.size(); ++i)
    if (!job.IsCarried(i)) names.push_back(job.program.inputs[i].name);
  return data::NameTable("arg", names).Advice(name);
}

std::string ColumnNames(const data::DataSet& set) {
  std::vector<std::string> names;
  for (const data::Column& column : set.sources.front().rows->columns())
    if (names.size() < 8) names.push_back(data::QuotedName(column.name));
  return absl::StrJoin(names, ", ");
}

// --feed, or equal names.
absl::StatusOr<std::vector<data::RowFeed::Source>> SourcesOf(Job& job, const data::DataSet& set) {
  std::vector<data::RowFeed::Source> sources;
  for (const auto& [name, tensor] : job.options.feed) {
    std::optional<size_t> input = job.program.input_names.Find(name);
    if (!input) {
      return absl::InvalidArgumentError(absl::StrCat("--feed: program ", data::QuotedName(job.program.name),
                                                     " has no input ", data::QuotedName(name), FeedAdvice(job, name)));
    }
    for (const data::RowFeed::Source& other : sources) {
      if (other.input == *input) {
        return absl::InvalidArgumentError(absl::StrCat("--feed: ", InputText(job.program, *input), " is fed twice"));
      }
    }
    sources.push_back({*input, tensor});
  }
  if (!sources.empty()) return sources;
  for (const data::Column& column : set.sources.front().rows->columns()) {
    if (std::optional<size_t> input = job.program.input_names.Find(column.name)) {
      sources.push_back({*input, column.name});
    } else {
      job.notes.push_back(absl::StrCat(set.name, ": tensor ", data::QuotedName(column.name),
                                       " has the name of no input and feeds none"));
    }
  }
  if (!sources.empty()) return sources;
  return absl::InvalidArgumentError(
      absl::StrCat(set.name, ": no tensor has the name of an input of program ", data::QuotedName(job.program.name),
                   "; say --feed INPUT=TENSOR,... for tensors ", ColumnNames(set), " and inputs",
                   FeedAdvice(job, "").substr(std::string_view("; there are").size())));
}

// "[[0,0.5],[100,1]]" for weights that change.
std::string WeightText(const data::WeightSchedule& schedule) {
  if (schedule.size() == 1) return absl::StrCat(schedule.front().weight);
  return absl::StrCat("[",
                      absl::StrJoin(schedule, ",",
                                    [](std::string* text, const data::WeightPoint& point) {
                                      absl::StrAppend(text, "[", point.step, ",", point.weight, "]");
                                    }),
                      "]");
}

// The settings that decide the order of rows, for checkpoints. For one file the text is that of earlier versions.
absl::StatusOr<std::string> FeedText(const data::RowFeed& feed, const std::vector<data::RowFeed::Source>& sources) {
  const std::vector<data::DataSource>& of_set = feed.set().sources;
  std::string text, contents;
  for (size_t i = 0; i < of_set.size(); ++i) {
    if (of_set.size() > 1)
      absl::StrAppend(&text, "source ", of_set[i].name, " weight ", WeightText(of_set[i].weight), " ");
    absl::StrAppend(&text, "rows ", feed.rows_by_source()[i], ", ");
    absl::StatusOr<std::string> fingerprint = of_set[i].rows->Fingerprint();
    if (!fingerprint.ok()) return fingerprint.status();
    absl::StrAppend(&contents, i == 0 ? "" : " ", *fingerprint);
  }
  absl::StrAppend(&text, "batch ", feed.batch_rows());
  for (const data::RowFeed::Source& source : sources) absl::StrAppend(&text, ", ", source.column);
  return absl::StrCat(text, kContentText, contents);
}

absl::Status OpenDataFeed(Job& job) {
  absl::StatusOr<std::shared_ptr<const data::DataSet>> set = data::OpenDataSet(job.options.data);
  if (!set.ok()) return set.status();
  absl::StatusOr<std::vector<data::RowFeed::Source>> sources = SourcesOf(job, **set);
  if (!sources.ok()) return sources.status();
  absl::StatusOr<std::unique_ptr<data::RowFeed>> feed =
      data::RowFeed::Make(*set, job.program.inputs, *sources, {.seed = job.seed});
  if (!feed.ok()) return feed.status();
  absl::StatusOr<std::string> text = FeedText(**feed, *sources);
  if (!text.ok()) return text.status();
  job.notes.insert(job.notes.end(), (*set)->notes.begin(), (*set)->notes.end());
  job.feed_text = *std::move(text);
  job.feed = *std::move(feed);
  return absl::OkStatus();
}

absl::Status OpenBatchFeed(Job& job) {
  absl::StatusOr<FilePtr> file = OpenTensors(job.options.batches);
  if (!file.ok()) return file.status();
  absl::StatusOr<std::unique_ptr<data::BatchFeed>> feed =
      data::BatchFeed::Make(*file, job.program.inputs, job.program.input_names);
  if (!feed.ok()) return feed.status();
  absl::StatusOr<std::string> fingerprint = data::FingerprintOf(**file);
  if (!fingerprint.ok()) return fingerprint.status();
  job.feed_text = absl::StrCat("batches ", (*feed)->batches(), kContentText, *fingerprint);
  job.feed = *std::move(feed);
  return absl::OkStatus();
}

}  // namespace

absl::Status OpenFeed(Job& job) {
  if (!job.options.data.empty()) {
    if (absl::Status status = OpenDataFeed(job); !status.ok()) return status;
  }
  if (!job.options.batches.empty()) {
    if (absl::Status status = OpenBatchFeed(job); !status.ok()) return status;
  }
  if (job.feed == nullptr) return absl::OkStatus();
  for (size_t input : job.feed->inputs()) {
    if (!job.IsCarried(input)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(InputText(job.program, input),
                     " is carried from step to step and cannot be fed from data; leave it out of the data, or say "
                     "--carry none:",
                     job.program.input_names.Position(input), " if it is no state"));
  }
  return absl::OkStatus();
}

void NoteOtherData(Job& job) {
  const std::string& resumed = job.resumed_feed_text;
  // Checkpoints of earlier versions do not know the content.
  const bool knows_content = resumed.find(kContentText) != std::string::npos;
  const std::string_view given = std::string_view(job.feed_text).substr(0, job.feed_text.find(kContentText));
  if (resumed.empty() || resumed == (knows_content ? std::string_view(job.feed_text) : given)) return;
  job.notes.push_back(absl::StrCat("the data differs from the checkpoint's, which was: ", resumed));
}

void NoteForgottenFeeds(Job& job) {
  if (job.feed == nullptr || job.feed->inputs().empty()) return;
  const data::Dims& fed = job.program.inputs[job.feed->inputs()[0]].type.global_dims;
  for (size_t i = 0; i < job.program.inputs.size() && !fed.empty(); ++i) {
    const data::Dims& dims = job.program.inputs[i].type.global_dims;
    if (!job.IsConstant(i) || !job.initial[i] || dims.empty() || dims[0] != fed[0]) continue;
    job.notes.push_back(absl::StrCat(
        InputText(job.program, i), " has the rows of a batch, but no data feeds it: it is ", "the same in every step"));
  }
}

void NoteUnchangedState(Job& job, const std::set<size_t>& kept) {
  if (job.options.mode != Mode::kTrain || job.carry.empty() || job.options.steps + job.first_step < 2) return;
  for (size_t i = 0; i < job.program.inputs.size(); ++i) {
    const data::TensorType& type = job.program.inputs[i].type;
    if (!job.IsConstant(i) || !job.initial[i] || kept.contains(i)) continue;
    const bool is_key = type.element == data::ElementType::U32 && !type.global_dims.empty() &&
                        (type.global_dims.back() == 2 || type.global_dims.back() == 4);
    const bool is_count =
        type.global_dims.empty() && !artifact::IsFloat(type.element) && type.element != data::ElementType::Bool;
    if (!is_key && !is_count) continue;
    job.notes.push_back(absl::StrCat(
        InputText(job.program, i), " is the same in every step, ",
        is_key ? "and so are the numbers that are drawn from it alone; a step that draws others returns the next key"
               : "also if it counts steps; a step that counts returns the next count",
        "; say --carry none:", job.program.input_names.Position(i), " if that is meant"));
  }
}

}  // namespace sgd::train
