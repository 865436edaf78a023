// Groups records by what their tensors are called, numbers of layers aside.
#include "compiler/report/explain_summary.h"

#include <map>

#include "compiler/report/amounts.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "passes/graph/carry/value_names.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

constexpr size_t kShown = 5;
constexpr size_t kShownNames = 3;
constexpr size_t kShownLines = 3;

/// `name` with `*` for its numbers: the same tensors of all layers have one pattern.
std::string getPattern(StringRef name) {
  std::string pattern;
  for (size_t i = 0; i < name.size(); ++i) {
    bool isDigit = llvm::isDigit(name[i]);
    if (!isDigit) pattern += name[i];
    if (isDigit && (i + 1 == name.size() || !llvm::isDigit(name[i + 1]))) pattern += '*';
  }
  return pattern;
}

/// A subject is "gradient of params.w, tensor<8xf32>", or the type alone.
StringRef getName(StringRef subject) {
  auto [name, type] = subject.rsplit(", ");
  return type.starts_with("tensor<") ? name : subject;
}

/// Tensors that one kind of collective moves for one cause.
struct Group {
  const ExplainRecord* first = nullptr;
  std::string pattern;
  llvm::SetVector<StringRef> names, lines, axes;
  size_t tensors = 0;
  uint64_t bytes = 0;
  double seconds = 0;
  uint64_t needed = 0;
  std::vector<size_t> records;  // positions in the explanation

  /// With `*` for numbers where these differ.
  StringRef getName() const { return names.size() > 1 || names.empty() ? StringRef(pattern) : names.front(); }
};

/// Names of axes in a sharding's text: those in quotes.
llvm::SetVector<StringRef> getAxes(StringRef sharding) {
  llvm::SetVector<StringRef> axes;
  SmallVector<StringRef> parts;
  sharding.split(parts, '"');
  for (size_t i = 1; i < parts.size(); i += 2) axes.insert(parts[i]);
  return axes;
}

/// The axes over which a movement sends: those of partial sums, else those that shard before and not after, else all.
llvm::SetVector<StringRef> getAxes(const ExplainRecord& record) {
  StringRef from = record.from, to = record.to, partial = "unreduced=";
  llvm::SetVector<StringRef> before = getAxes(from.substr(from.find(partial))),
                             after = getAxes(to.substr(to.find(partial)));
  if (before.empty()) before = getAxes(from), after = getAxes(to);
  llvm::SetVector<StringRef> all = before;
  before.set_subtract(after);
  if (!before.empty()) return before;
  all.insert_range(getAxes(to));
  return all;
}

/// The words before the name: "gradient of ".
StringRef getKind(const Group& group) {
  for (StringRef kind :
       {"gradient of ", "new ", "activations for the gradient of ", "activations of ", "result", "input ", "tensor<"})
    if (StringRef(group.pattern).starts_with(kind)) return kind;
  return "";
}

StringRef getCause(const Group& group) {
  StringRef kind = getKind(group), op = group.first->op;
  if (op == "send") return "the next op on this tensor is on the other stage";
  if (group.first->from.empty()) return group.first->why;
  if (op == "all_reduce")
    return kind == "gradient of " ? "each rank has the sum over its own rows of the batch"
                                  : "each rank has a part of the sum";
  if (op == "reduce_scatter")
    return kind == "gradient of "
               ? "each rank has the sum over its own rows of the batch, and keeps the shard that it updates"
               : "each rank has a part of the sum, and goes on with a shard";
  if (kind == "new ") return "each rank has updated its shard, and the next step begins with all of it";
  if (kind == "activations for the gradient of ")
    return "gathering what the gradient is computed from sends less than all-reducing the gradient";
  if (op == "all_gather" && kind == "input ") return "each rank has some rows, and the op that reads them needs all";
  if (op == "all_gather" && kind.empty()) return "it is in shards, and is read whole";
  return "it is sharded otherwise than the op that reads it needs";
}

StringRef getAdvice(const Group& group) {
  StringRef kind = getKind(group), op = group.first->op;
  if (kind == "new " || (kind == "gradient of " && op == "reduce_scatter"))
    return "\"zero\": 0 with --shard-updates never all-reduces gradients, and updates them whole";
  if (kind == "gradient of " && op == "all_reduce")
    return "\"compress\" of a recipe sends fewer bytes, \"zero\": 1 reduces to shards";
  if (kind.empty() && op == "all_gather")
    return "\"zero\": 1, or \"replicate\" with its name, keeps it whole on every rank";
  if (kind.starts_with("activations")) return "a rule with its \"scope\" shards it otherwise";
  return "";
}

/// The part of a collective that each of its tensors has.
class Shares {
 public:
  explicit Shares(const ExplanationReport& explanation) {
    for (const ExplainRecord& record : explanation.records) {
      if (!isCollective(record)) continue;
      auto [at, isNew] = all.try_emplace(record.collective, Whole{&record, 0});
      at->second.tensorBytes += record.tensorBytes;
    }
  }

  static bool isCollective(const ExplainRecord& record) { return record.collective > 0; }

  /// Bytes and seconds of `record`'s tensor.
  std::pair<uint64_t, double> get(const ExplainRecord& record) const {
    if (!isCollective(record)) return {record.bytes, record.seconds};
    const Whole& whole = all.at(record.collective);
    double share =
        whole.tensorBytes == 0 ? 1 : static_cast<double>(record.tensorBytes) / static_cast<double>(whole.tensorBytes);
    return {static_cast<uint64_t>(share * static_cast<double>(whole.head->bytes)), share * whole.head->seconds};
  }

 private:
  struct Whole {
    const ExplainRecord* head;  ///< the record with the cost of all
    uint64_t tensorBytes;
  };
  std::map<uint64_t, Whole> all;
};

bool isMovement(const ExplainRecord& record) {
  return !record.isOverlap() && (record.collective > 0 || record.op == "send");
}

/// "gradient of params.w", or of a message "stage 1 reads 8x16xf32 of stage 0".
StringRef getMoved(const ExplainRecord& record) {
  return record.op == "send" ? StringRef(record.why).split(':').first : getName(record.subject);
}

std::vector<Group> getGroups(const ExplanationReport& explanation) {
  std::vector<Group> groups;
  std::map<std::string, size_t> known;
  Shares shares(explanation);
  for (const ExplainRecord& record : explanation.records) {
    if (!isMovement(record)) continue;
    StringRef name = getMoved(record);
    // Layers have tensors of one type.
    std::string pattern = record.op == "send" ? name.str() : getPattern(name);
    StringRef type = StringRef(record.subject).drop_front(std::min(name.size(), record.subject.size()));
    auto [at, isNew] =
        known.try_emplace(record.program + "\n" + record.op + "\n" + pattern + "\n" + type.str(), groups.size());
    if (isNew) groups.emplace_back();
    Group& group = groups[at->second];
    if (isNew) group.first = &record, group.pattern = std::move(pattern);
    group.names.insert(name);
    if (!record.location.empty()) group.lines.insert(record.location);
    group.axes.insert_range(getAxes(record));
    ++group.tensors;
    auto [bytes, seconds] = shares.get(record);
    group.bytes += bytes;
    group.seconds += seconds;
    group.needed += record.neededBytes;
    group.records.push_back(&record - explanation.records.data());
  }
  // The first of equals is the first in the program.
  llvm::sort(groups,
             [](const Group& a, const Group& b) { return std::pair(b.bytes, a.first) < std::pair(a.bytes, b.first); });
  return groups;
}

void printTotals(const ExplanationReport& explanation, llvm::raw_ostream& os) {
  uint64_t bytes = 0;
  double seconds = 0, hidden = 0;
  for (const ExplainRecord& record : explanation.records) {
    bytes += record.bytes;
    if (isMovement(record)) seconds += record.seconds;
    hidden += record.hiddenSeconds;
  }
  if (bytes == 0) {
    os << "a rank sends nothing\n";
    return;
  }
  os << "a rank sends " << formatBytes(bytes) << " a step, in " << formatSeconds(seconds);
  if (hidden > 0) os << ", of which " << formatSeconds(hidden) << " pass beside compute";
  os << "\n";
}

void printGroup(const Group& group, llvm::raw_ostream& os) {
  bool isPattern = group.names.size() > 1;
  os << group.getName();
  if (isPattern) os << " (" << group.tensors << " tensors)";
  os << ": " << group.first->op;
  if (!group.axes.empty()) os << " over " << llvm::join(group.axes, ", ");
  os << ", " << formatBytes(group.bytes) << ", " << formatSeconds(group.seconds) << "\n    " << getCause(group);
  if (!group.lines.empty()) {
    auto lines = group.lines.getArrayRef();
    os << " (" << llvm::join(lines.take_front(kShownLines), ", ")
       << (lines.size() > kShownLines ? " and " + std::to_string(lines.size() - kShownLines) + " more" : "") << ")";
  }
  os << "\n";
  if (StringRef advice = getAdvice(group); !advice.empty()) os << "    to change it: " << advice << "\n";
}

void printCollectives(const ExplanationReport& explanation, llvm::raw_ostream& os) {
  std::vector<Group> groups = getGroups(explanation);
  for (const Group& group : ArrayRef(groups).take_front(kShown)) printGroup(group, os);
  if (groups.size() <= kShown) return;
  uint64_t bytes = 0;
  size_t tensors = 0;
  for (const Group& group : ArrayRef(groups).drop_front(kShown)) bytes += group.bytes, tensors += group.tensors;
  os << "and " << tensors << " smaller tensors: " << formatBytes(bytes) << "; --explain=all lists them\n";
}

/// "params.w" of "result[1]['params']['w'], result[1]['moments']['w'] and result[1]['squares']['w']", which belong
/// together.
std::string getFirstName(StringRef subject) {
  std::string first = getDottedName(subject.split(", ").first.split(" and ").first);
  StringRef name = first;
  if (!name.consume_front("result.")) return first;
  StringRef place = name.split('.').first;
  bool isPlace = !place.empty() && llvm::all_of(place, llvm::isDigit) && place.size() < name.size();
  return isPlace ? name.drop_front(place.size() + 1).str() : name.str();
}

/// Parameters by how they are updated: a line for each way.
void printUpdates(const ExplanationReport& explanation, llvm::raw_ostream& os) {
  llvm::MapVector<StringRef, std::vector<std::string>> patterns;  // by what was chosen
  std::map<StringRef, size_t> counts;
  for (const ExplainRecord& record : explanation.records) {
    if (record.op != "update") continue;
    std::string pattern = getPattern(getFirstName(record.subject));
    if (!llvm::is_contained(patterns[record.chosen], pattern)) patterns[record.chosen].push_back(std::move(pattern));
    ++counts[record.chosen];
  }
  for (const auto& [chosen, names] : patterns) {
    os << "updated " << (chosen == "whole" ? "whole on every rank" : "in shards") << ": " << counts[chosen]
       << (counts[chosen] == 1 ? " parameter, " : " parameters, ")
       << llvm::join(ArrayRef(names).take_front(kShownNames), ", ") << (names.size() > kShownNames ? ", ..." : "")
       << "\n";
  }
}

/// Other decisions, alike ones together.
void printDecisions(const ExplanationReport& explanation, llvm::raw_ostream& os) {
  struct Alike {
    const ExplainRecord* first = nullptr;
    size_t count = 0;
  };
  llvm::MapVector<std::string, Alike, std::map<std::string, unsigned>> all;
  for (const ExplainRecord& record : explanation.records) {
    if (record.collective > 0 || isMovement(record) || record.op == "update") continue;
    Alike& alike = all[record.program + "\n" + record.op + "\n" + record.chosen];
    if (alike.count == 0) alike.first = &record;
    ++alike.count;
  }
  for (const auto& [key, alike] : all) {
    const ExplainRecord& first = *alike.first;
    os << first.op << (first.location.empty() ? "" : " at ") << first.location << ": " << first.why << "\n";
    if (alike.count > 1) os << "    and " << alike.count - 1 << " more like it; --explain=all lists them\n";
  }
}

}  // namespace

void mlir::sgd::printSummary(const ExplanationReport& explanation, llvm::raw_ostream& os) {
  llvm::MapVector<StringRef, ExplanationReport> programs;
  for (const ExplainRecord& record : explanation.records) programs[record.program].records.push_back(record);
  if (programs.empty()) os << "no collectives\n";
  for (const auto& [name, program] : programs) {
    if (programs.size() > 1) os << name << ": ";
    printTotals(program, os);
    printCollectives(program, os);
    printUpdates(program, os);
    printDecisions(program, os);
  }
}

nlohmann::json mlir::sgd::summarize(const ExplanationReport& explanation) {
  auto toJson = [](const llvm::SetVector<StringRef>& texts) {
    nlohmann::json list = nlohmann::json::array();
    for (StringRef text : texts) list.push_back(text.str());
    return list;
  };
  nlohmann::json all = nlohmann::json::array();
  for (const Group& group : getGroups(explanation))
    all.push_back({{"program", group.first->program},
                   {"op", group.first->op},
                   {"name", group.getName().str()},
                   {"names", toJson(group.names)},
                   {"tensors", group.tensors},
                   {"axes", toJson(group.axes)},
                   {"bytes", group.bytes},
                   {"seconds", group.seconds},
                   {"needed_bytes", group.needed},
                   {"cause", getCause(group).str()},
                   {"advice", getAdvice(group).str()},
                   {"locs", toJson(group.lines)},
                   {"records", group.records}});
  return all;
}
