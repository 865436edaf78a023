// Little-endian numbers and lengths before bytes; every length is checked when decoding.
#include "runtime/comm/control/control_message.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace sgd::comm {
namespace {

constexpr size_t kMaxCause = 4096;

template <typename Number>
void Put(Number number, std::string& text) {
  text.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename Number>
bool Take(std::string_view& text, Number& number) {
  if (text.size() < sizeof(number)) return false;
  std::memcpy(&number, text.data(), sizeof(number));
  text.remove_prefix(sizeof(number));
  return true;
}

}  // namespace

std::string EncodeAbort(uint32_t rank, const absl::Status& cause) {
  std::string text;
  Put(rank, text);
  Put(static_cast<int32_t>(cause.code()), text);
  return text + std::string(cause.message().substr(0, kMaxCause));
}

std::optional<AbortMessage> DecodeAbort(std::string_view payload) {
  AbortMessage message;
  int32_t code = 0;
  if (!Take(payload, message.rank) || !Take(payload, code) || code == 0) return std::nullopt;
  message.cause = absl::Status(static_cast<absl::StatusCode>(code), std::string(payload));
  return message;
}

std::string EncodeTexts(absl::Span<const std::string> texts) {
  std::string payload;
  for (const std::string& text : texts) {
    Put(static_cast<uint64_t>(text.size()), payload);
    payload += text;
  }
  return payload;
}

std::optional<std::vector<std::string>> DecodeTexts(std::string_view payload) {
  std::vector<std::string> texts;
  while (!payload.empty()) {
    uint64_t size = 0;
    if (!Take(payload, size) || size > payload.size()) return std::nullopt;
    texts.emplace_back(payload.substr(0, size));
    payload.remove_prefix(size);
  }
  return texts;
}

// The number of distinct texts, these, then runs of ranks: an index among them, and how many ranks have it.
std::string EncodeByRank(absl::Span<const std::string> texts) {
  std::map<std::string_view, uint32_t> known;
  std::string distinct, runs;
  for (size_t rank = 0; rank < texts.size();) {
    const auto [found, is_new] = known.emplace(texts[rank], static_cast<uint32_t>(known.size()));
    if (is_new) {
      Put(static_cast<uint64_t>(texts[rank].size()), distinct);
      distinct += texts[rank];
    }
    uint32_t count = 0;
    for (const size_t first = rank; rank < texts.size() && texts[rank] == texts[first]; ++rank) ++count;
    Put(found->second, runs);
    Put(count, runs);
  }
  std::string payload;
  Put(static_cast<uint32_t>(known.size()), payload);
  return payload + distinct + runs;
}

std::optional<std::vector<std::string>> DecodeByRank(std::string_view payload, uint32_t ranks) {
  uint32_t count = 0, index = 0;
  if (!Take(payload, count) || count > ranks) return std::nullopt;
  std::vector<std::string_view> distinct(count);
  for (std::string_view& text : distinct) {
    uint64_t size = 0;
    if (!Take(payload, size) || size > payload.size()) return std::nullopt;
    text = payload.substr(0, size);
    payload.remove_prefix(size);
  }
  std::vector<std::string> texts;
  while (!payload.empty()) {
    if (!Take(payload, index) || !Take(payload, count)) return std::nullopt;
    if (index >= distinct.size() || count > ranks - texts.size()) return std::nullopt;
    texts.insert(texts.end(), count, std::string(distinct[index]));
  }
  if (texts.size() != ranks) return std::nullopt;
  return texts;
}

std::string EncodeWaits(const WaitsMessage& message) {
  std::vector<std::string> texts(message.agreements.size());
  for (size_t i = 0; i < message.agreements.size(); ++i) {
    if (message.agreements[i].has_value()) Put(*message.agreements[i], texts[i]);
  }
  texts.push_back(message.where.substr(0, kMaxCause));
  for (const RankWait& wait : message.waits) {
    texts.push_back(wait.description.substr(0, kMaxCause));
    texts.push_back(EncodeRanks(wait.awaited));
  }
  return EncodeTexts(texts);
}

std::optional<WaitsMessage> DecodeWaits(std::string_view payload) {
  const std::optional<std::vector<std::string>> texts = DecodeTexts(payload);
  WaitsMessage message;
  const size_t agreements = message.agreements.size(), waits = agreements + 1;
  if (!texts.has_value() || texts->size() < waits || (texts->size() - waits) % 2 != 0) return std::nullopt;
  message.where = (*texts)[agreements];
  for (size_t i = 0; i < agreements; ++i) {
    std::string_view number = (*texts)[i];
    if (uint64_t agreement = 0; Take(number, agreement)) message.agreements[i] = agreement;
  }
  for (size_t i = waits; i < texts->size(); i += 2) {
    std::optional<std::vector<uint32_t>> awaited = DecodeRanks((*texts)[i + 1]);
    if (!awaited.has_value()) return std::nullopt;
    message.waits.push_back({.description = (*texts)[i], .awaited = *std::move(awaited)});
  }
  return message;
}

std::string EncodeBlame(const Blame& blame) {
  std::vector<std::string> texts = {EncodeRanks(blame.ranks), blame.do_not_answer ? "silent" : "", blame.where};
  texts.insert(texts.end(), blame.path.begin(), blame.path.end());
  return EncodeTexts(texts);
}

std::optional<Blame> DecodeBlame(std::string_view payload) {
  const std::optional<std::vector<std::string>> texts = DecodeTexts(payload);
  if (!texts.has_value() || texts->size() < 3) return std::nullopt;
  std::optional<std::vector<uint32_t>> ranks = DecodeRanks((*texts)[0]);
  if (!ranks.has_value()) return std::nullopt;
  return Blame{*std::move(ranks), {texts->begin() + 3, texts->end()}, !(*texts)[1].empty(), (*texts)[2]};
}

std::string EncodeRanks(absl::Span<const uint32_t> ranks) {
  std::string payload;
  for (uint32_t rank : ranks) Put(rank, payload);
  return payload;
}

std::optional<std::vector<uint32_t>> DecodeRanks(std::string_view payload) {
  if (payload.size() % sizeof(uint32_t) != 0) return std::nullopt;
  std::vector<uint32_t> ranks(payload.size() / sizeof(uint32_t));
  for (uint32_t& rank : ranks) Take(payload, rank);
  return ranks;
}

}  // namespace sgd::comm
