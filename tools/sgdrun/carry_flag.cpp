// Parsing and checking of carried pairs.
#include "tools/sgdrun/carry_flag.h"

#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "runtime/data/mapped_file.h"

namespace sgd::sgdrun {
namespace {

// Names may hold colons and commas themselves (as dictionary keys), so every split that gives known
// names counts.
std::optional<std::pair<size_t, size_t>> ParsePair(std::string_view text, const ProgramView& program) {
  for (size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
    std::optional<size_t> output = program.output_names.Find(text.substr(0, colon));
    std::optional<size_t> input = program.input_names.Find(text.substr(colon + 1));
    if (output && input) return std::pair(*output, *input);
  }
  return std::nullopt;
}

std::optional<size_t> ReadPosition(const nlohmann::json& value, const data::NameTable& names) {
  if (value.is_string()) return names.Find(value.get<std::string>());
  if (value.is_number_unsigned() && value.get<uint64_t>() < names.size()) return value.get<uint64_t>();
  return std::nullopt;
}

}  // namespace

absl::StatusOr<exec::CarryPairs> ParseCarry(const std::string& text, const ProgramView& program) {
  exec::CarryPairs pairs;
  size_t begin = 0;
  while (begin < text.size()) {
    std::optional<std::pair<size_t, size_t>> pair;
    size_t comma = begin;
    while (!pair && comma < text.size()) {
      comma = std::min(text.find(',', comma + 1), text.size());
      pair = ParsePair(std::string_view(text).substr(begin, comma - begin), program);
    }
    if (!pair) {
      const std::string rest = text.substr(begin, text.find(',', begin) - begin);
      return absl::InvalidArgumentError(absl::StrCat(
          "--carry: ", data::QuotedName(rest), " is not OUTPUT:INPUT of program ", data::QuotedName(program.name)));
    }
    pairs.push_back(*pair);
    begin = comma + 1;
  }
  return pairs;
}

absl::StatusOr<exec::CarryPairs> ReadCarryFile(const std::string& path, const ProgramView& program) {
  absl::StatusOr<data::MappedFile> file = data::MappedFile::OpenForReading(path);
  if (!file.ok()) return file.status();
  const char* text = reinterpret_cast<const char*>(file->bytes().data());
  nlohmann::json json = nlohmann::json::parse(text, text + file->bytes().size(), nullptr, /*allow_exceptions=*/false);
  auto fault = [&](const auto&... what) { return absl::InvalidArgumentError(absl::StrCat(path, ": ", what...)); };
  if (!json.is_array()) return fault("not a JSON list of [output, input]");
  exec::CarryPairs pairs;
  for (size_t i = 0; i < json.size(); ++i) {
    if (!json[i].is_array() || json[i].size() != 2) return fault("entry ", i, " is not a pair [output, input]");
    std::optional<size_t> output = ReadPosition(json[i][0], program.output_names);
    std::optional<size_t> input = ReadPosition(json[i][1], program.input_names);
    if (!output || !input) {
      return fault("entry ", i, ": program ", data::QuotedName(program.name), " has no such ",
                   output ? "input" : "output");
    }
    pairs.emplace_back(*output, *input);
  }
  return pairs;
}

absl::Status CheckCarry(const exec::CarryPairs& pairs, const ProgramView& program) {
  std::set<size_t> filled;
  for (const auto& [output, input] : pairs) {
    const data::TensorType& from = program.outputs[output].type;
    const data::TensorType& to = program.inputs[input].type;
    if (from.element != to.element || from.global_dims != to.global_dims) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot carry ", OutputText(program, output), " to ", InputText(program, input)));
    }
    if (!(from == to)) {
      return absl::InvalidArgumentError(absl::StrCat("cannot carry ", OutputText(program, output), " to ",
                                                     InputText(program, input), ": they are sharded differently"));
    }
    if (!filled.insert(input).second) {
      return absl::InvalidArgumentError(absl::StrCat("two outputs are carried to ", InputText(program, input)));
    }
  }
  return absl::OkStatus();
}

}  // namespace sgd::sgdrun
