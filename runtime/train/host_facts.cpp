// The point travels as the manifest of a checkpoint does.
#include "runtime/train/host_facts.h"

#include <algorithm>
#include <set>

#include "nlohmann/json.hpp"
#include "runtime/json/json_text.h"
#include "runtime/json/parse_json.h"

namespace sgd::train {
namespace {

using Json = nlohmann::json;

bool Has(const std::vector<uint64_t>& steps, uint64_t step) { return std::ranges::find(steps, step) != steps.end(); }

// Numbers of a field; false where it is something else.
bool ReadNumbers(const Json& json, const char* key, std::vector<uint64_t>& numbers) {
  const auto at = json.find(key);
  if (at == json.end() || !at->is_array()) return false;
  for (const Json& number : *at) {
    if (!number.is_number_unsigned()) return false;
    numbers.push_back(number.get<uint64_t>());
  }
  return true;
}

}  // namespace

std::string HostFactsJson(const HostFacts& facts) {
  Json json = {{"copies", facts.copies}, {"of_other_host", facts.of_other_host}};
  json["saved"] = facts.saved ? Json::array({*facts.saved}) : Json::array();
  json["run"] = Json::array();
  json["point"] = json["loss"] = "";
  if (facts.run) {
    json["run"] = {facts.run->first, facts.run->end, facts.run->restarts_left, facts.run->past_restarts,
                   facts.run->replaced};
    json["point"] = checkpoint::ManifestJson({.point = facts.run->point, .files = {{checkpoint::kStateName, 0, "-"}}});
    json["loss"] = facts.run->loss;
  }
  return json::WriteJson(json);
}

absl::StatusOr<HostFacts> ParseHostFacts(std::string_view text) {
  const absl::Status error = absl::InvalidArgumentError(
      "the launcher of another host said something else than this one would; expected one version of sgdrun; install "
      "the "
      "same on all hosts");
  absl::StatusOr<Json> json = json::ParseJson(text);
  if (!json.ok() || !json->is_object()) return error;
  HostFacts facts;
  std::vector<uint64_t> saved, run;
  if (!ReadNumbers(*json, "copies", facts.copies) || !ReadNumbers(*json, "of_other_host", facts.of_other_host) ||
      !ReadNumbers(*json, "saved", saved) || !ReadNumbers(*json, "run", run))
    return error;
  if (!saved.empty()) facts.saved = saved[0];
  if (run.empty()) return facts;
  const auto point = json->find("point"), loss = json->find("loss");
  const bool are_texts = point != json->end() && point->is_string() && loss != json->end() && loss->is_string();
  if (run.size() != 5 || !are_texts) return error;
  absl::StatusOr<checkpoint::Manifest> manifest = checkpoint::ParseManifest(point->get<std::string>());
  if (!manifest.ok()) return manifest.status();
  facts.run = {run[0], run[1], run[2], run[3], run[4], std::move(manifest->point), loss->get<std::string>()};
  return facts;
}

AgreedState AgreeOnState(const std::vector<HostFacts>& hosts, uint64_t first) {
  AgreedState state;
  state.step = first;
  std::set<uint64_t> steps;
  std::optional<uint64_t> saved;
  bool has_looked = false;
  for (const HostFacts& host : hosts) {
    steps.insert(host.copies.begin(), host.copies.end());
    if (!host.run) continue;
    saved = has_looked ? std::min(saved, host.saved) : host.saved;
    has_looked = true;
  }
  for (auto step = steps.rbegin(); step != steps.rend() && state.from == AgreedState::From::kStart; ++step) {
    std::vector<uint32_t> without;
    bool is_whole = true;
    for (uint32_t host = 0; host < hosts.size(); ++host) {
      if (Has(hosts[host].copies, *step)) continue;
      without.push_back(host);
      is_whole = is_whole && Has(hosts[(host + 1) % hosts.size()].of_other_host, *step);
    }
    if (is_whole) state = {AgreedState::From::kCopies, *step, std::move(without)};
  }
  const bool has_copies = state.from == AgreedState::From::kCopies;
  if (saved && (!has_copies || *saved > state.step)) state = {AgreedState::From::kCheckpoint, *saved, {}};
  return state;
}

}  // namespace sgd::train
