// sgd-inspect: prints what an artifact holds, as text or JSON.
#include <signal.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/bundle.h"
#include "runtime/artifact/out_of_memory.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/short_message.h"
#include "runtime/artifact/standard_descriptors.h"
#include "runtime/artifact/writer.h"
#include "runtime/page/page.h"
#include "runtime/process/leave.h"
#include "runtime/process/shrunken_files.h"
#include "tools/command_line/standard_output.h"
#include "tools/sgd-inspect/check_streams.h"
#include "tools/sgd-inspect/describe.h"
#include "tools/sgd-inspect/module_text.h"
#include "tools/sgd-inspect/options.h"
#include "tools/sgd-inspect/text.h"

namespace {

using sgd::inspect::Leave;
using sgd::inspect::Options;
using sgd::page::Plans;

// Exit code 3: the artifact can be read, but its instructions could get in each other's way.
int Print(const std::string& text, bool is_clean) {
  if (sgd::tools::PrintOutput(text)) return is_clean ? 0 : 3;
  std::perror("sgd-inspect: cannot write to standard output");
  return 1;
}

int SayWhy(const absl::Status& error) {
  const std::string_view message(error.message().data(), error.message().size());
  std::fprintf(stderr, "sgd-inspect: %s\n", sgd::artifact::ShortMessage(message).c_str());
  return 1;
}

// The kernels' text for one GPU architecture.
absl::StatusOr<int> PrintModule(const Plans& plans, const std::string& architecture) {
  if (plans.size() > 1)
    return absl::InvalidArgumentError("--module prints the kernels of one plan; expected --plan NAME; add it");
  absl::StatusOr<std::string> text = sgd::inspect::ModuleText(*plans.front(), architecture);
  if (!text.ok()) return text.status();
  return Print(*text, true);
}

// Of several plans, each behind a line with its name.
int PrintStreams(const Plans& plans) {
  std::string text;
  bool is_clean = true;
  for (const auto& plan : plans) {
    const sgd::inspect::StreamsReport report = sgd::inspect::CheckStreams(*plan);
    absl::StrAppend(&text, plans.size() > 1 ? absl::StrCat("plan ", absl::CEscape(plan->plan()), "\n") : "",
                    report.text);
    is_clean &= report.is_clean;
  }
  return Print(text, is_clean);
}

int PrintJson(const Plans& plans, const sgd::inspect::Parts& parts) {
  nlohmann::ordered_json description;
  for (const auto& plan : plans) description["plans"].push_back(sgd::inspect::Describe(*plan, parts));
  if (plans.size() == 1) description = description["plans"][0];
  // Names in an artifact may be any bytes; those that are not UTF-8 are replaced.
  return Print(description.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n", true);
}

int PrintText(const Plans& plans, const sgd::inspect::Parts& parts) {
  std::vector<std::string> texts;
  for (const auto& plan : plans)
    texts.push_back(sgd::inspect::DescriptionText(sgd::inspect::Describe(*plan, parts), parts));
  return Print(absl::StrJoin(texts, "\n"), true);
}

// The plan that is asked for, else all.
absl::StatusOr<Plans> OpenPlans(const std::string& path, const Options& options) {
  absl::StatusOr<sgd::artifact::Bundle> bundle = sgd::artifact::Bundle::Open(path);
  if (!bundle.ok()) return bundle.status();
  std::vector<std::string> names;
  for (const sgd::artifact::Plan& plan : bundle->plans()) names.push_back(plan.name);
  if (options.plan.has_value()) names = {*options.plan};
  Plans plans;
  for (const std::string& name : names) {
    absl::StatusOr<std::unique_ptr<sgd::artifact::ArtifactFile>> plan = bundle->Load({.name = name});
    if (!plan.ok()) return plan.status();
    plans.push_back(*std::move(plan));
  }
  return plans;
}

absl::StatusOr<int> WriteHtml(const Plans& plans, const sgd::page::PageOptions& page, const std::string& path) {
  if (absl::Status status = sgd::artifact::CheckWritable(path); !status.ok()) return status;
  const absl::StatusOr<std::string> text = sgd::page::WritePage(plans, page);
  if (!text.ok()) return text.status();
  if (absl::Status status = sgd::artifact::WriteFileAtomically(path, *text); !status.ok()) return status;
  return 0;
}

absl::StatusOr<int> Compare(const Plans& plans, const Options& options) {
  const absl::StatusOr<Plans> other = OpenPlans(options.instead.compare, options);
  if (!other.ok()) return other.status();
  if (!options.instead.html.empty()) return WriteHtml(plans, {&*other, options.instead.trace}, options.instead.html);
  const absl::StatusOr<std::string> text = sgd::page::CompareText(plans, *other);
  return text.ok() ? absl::StatusOr<int>(Print(*text, true)) : text.status();
}

absl::StatusOr<int> Inspect(const Options& options) {
  const absl::StatusOr<Plans> plans = OpenPlans(options.path, options);
  if (!plans.ok()) return plans.status();
  if (!options.instead.module.empty()) return PrintModule(*plans, options.instead.module);
  if (options.instead.check_streams) return PrintStreams(*plans);
  if (!options.instead.compare.empty()) return Compare(*plans, options);
  if (!options.instead.html.empty()) return WriteHtml(*plans, {nullptr, options.instead.trace}, options.instead.html);
  return options.as_json ? PrintJson(*plans, options.parts) : PrintText(*plans, options.parts);
}

// Turns signals that would end this process into errors: pages of the file that are gone, a full disk behind standard
// output.
void EndByErrors(int argc, const char* const* argv) {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  sgd::process::LeaveWhenFilesShrink(argc, argv);
}

int InspectOrSayWhy(const Options& options) {
  const absl::StatusOr<int> code =
      sgd::artifact::WithMemoryFor(("a description of " + options.path).c_str(), [&] { return Inspect(options); });
  return code.ok() ? *code : SayWhy(code.status());
}

}  // namespace

int main(int argc, char** argv) {
  sgd::artifact::ReserveStandardDescriptors();
  EndByErrors(argc, argv);
  sgd::process::SetToolName("sgd-inspect");
  sgd::process::LeaveWhenOutOfMemory();
  const std::variant<Options, Leave> parsed = sgd::inspect::ParseOptions(argc, argv);
  if (const Leave* leave = std::get_if<Leave>(&parsed)) {
    std::fputs(leave->exit_code == 0 ? leave->text.c_str() : sgd::artifact::ShortMessage(leave->text).c_str(),
               leave->exit_code == 0 ? stdout : stderr);
    return leave->exit_code;
  }
  const Options& options = std::get<Options>(parsed);
  return InspectOrSayWhy(options);
}
