// Parsing and checking of carried pairs.
#include "runtime/train/carry_text.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/data/mapped_file.h"
#include "runtime/json/parse_json.h"

namespace sgd::train {
namespace {

constexpr std::string_view kNone = "none";

// Names may hold colons and commas themselves (as dictionary keys), so every split that gives known
// names counts.
bool AddPair(std::string_view text, const ProgramView& program, CarryRequest& request) {
  for (size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
    const std::string_view from = text.substr(0, colon);
    std::optional<size_t> output = program.output_names.Find(from);
    std::optional<size_t> input = program.input_names.Find(text.substr(colon + 1));
    if (!input || (!output && from != kNone)) continue;
    if (output) {
      request.pairs.emplace_back(*output, *input);
    } else {
      request.kept.insert(*input);
    }
    return true;
  }
  return false;
}

// About the first of the two names that the program has not.
std::string PairAdvice(std::string_view text, const ProgramView& program) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return "; expected a colon between the two";
  const std::string_view output = text.substr(0, colon), input = text.substr(colon + 1);
  if (output != kNone && !program.output_names.Find(output))
    return absl::StrCat("; it has no output ", data::QuotedName(output), program.output_names.Advice(output));
  return absl::StrCat("; it has no input ", data::QuotedName(input), program.input_names.Advice(input));
}

std::optional<size_t> ReadPosition(const nlohmann::json& value, const data::NameTable& names) {
  if (value.is_string()) return names.Find(value.get<std::string>());
  if (value.is_number_unsigned() && value.get<uint64_t>() < names.size()) return value.get<uint64_t>();
  return std::nullopt;
}

}  // namespace

absl::StatusOr<CarryRequest> ParseCarry(const std::string& text, const ProgramView& program) {
  CarryRequest request;
  request.carries_nothing = text == kNone;
  size_t begin = request.carries_nothing ? text.size() : 0;
  const size_t longest =
      std::max(program.output_names.longest_name(), kNone.size()) + 1 + program.input_names.longest_name();
  while (begin < text.size()) {
    bool is_added = false;
    size_t comma = begin;
    while (!is_added && comma < text.size() && comma - begin <= longest) {
      comma = std::min(text.find(',', comma + 1), text.size());
      is_added = AddPair(std::string_view(text).substr(begin, comma - begin), program, request);
    }
    if (!is_added) {
      const std::string rest = text.substr(begin, text.find(',', begin) - begin);
      return absl::InvalidArgumentError(absl::StrCat("--carry: ", data::QuotedName(rest),
                                                     " is not OUTPUT:INPUT of program ", data::QuotedName(program.name),
                                                     PairAdvice(rest, program)));
    }
    begin = comma + 1;
  }
  return request;
}

absl::StatusOr<CarryRequest> ReadCarryFile(const std::string& path, const ProgramView& program) {
  absl::StatusOr<data::MappedFile> file = data::MappedFile::OpenForReading(path);
  if (!file.ok()) return file.status();
  const char* text = reinterpret_cast<const char*>(file->bytes().data());
  const absl::StatusOr<nlohmann::json> parsed = json::ParseJson({text, file->bytes().size()});
  auto fault = [&](const auto&... what) { return absl::InvalidArgumentError(absl::StrCat(path, ": ", what...)); };
  if (!parsed.ok()) return fault("is ", parsed.status().message());
  const nlohmann::json& json = *parsed;
  if (!json.is_array()) return fault("not a JSON list of [output, input]");
  CarryRequest request;
  request.carries_nothing = json.empty();
  for (size_t i = 0; i < json.size(); ++i) {
    if (!json[i].is_array() || json[i].size() != 2) return fault("entry ", i, " is not a pair [output, input]");
    const bool is_kept = json[i][0].is_null();
    std::optional<size_t> output = ReadPosition(json[i][0], program.output_names);
    std::optional<size_t> input = ReadPosition(json[i][1], program.input_names);
    if ((!output && !is_kept) || !input) {
      return fault("entry ", i, ": program ", data::QuotedName(program.name), " has no such ",
                   output || is_kept ? "input" : "output");
    }
    if (is_kept) {
      request.kept.insert(*input);
    } else {
      request.pairs.emplace_back(*output, *input);
    }
  }
  return request;
}

}  // namespace sgd::train
