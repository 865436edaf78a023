#include "compiler/auto_sharding/candidate.h"

#include <map>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir::sgd;

bool Candidate::shards(GroupAxis axis) const { return llvm::is_contained(groups, axis); }

/// At most an eighth of padding.
static bool isEven(int64_t size, int64_t parts) {
  if (size < parts) return false;
  int64_t padded = (size + parts - 1) / parts * parts;
  return (padded - size) * 8 <= size;
}

bool mlir::sgd::isSensible(const Candidate& candidate, const StepFacts& facts) {
  if (candidate.asWritten) return true;
  const SearchMesh& mesh = candidate.mesh;
  // Of a batch that is not even, ranks compute padding; simulation says what that takes.
  if (facts.rows < mesh.data || (candidate.micro > 1 && facts.rows % (mesh.data * candidate.micro) != 0)) return false;
  if (candidate.zero > 0 && mesh.data == 1) return false;
  if ((mesh.model > 1) != candidate.shards(GroupAxis::Model)) return false;
  if (mesh.data == 1 && candidate.shards(GroupAxis::Data)) return false;
  if (mesh.stages == 1 && !candidate.schedule.empty()) return false;
  for (auto [axis, group] : llvm::zip(candidate.groups, facts.groups))
    if (axis != GroupAxis::None && !isEven(group.size, axis == GroupAxis::Data ? mesh.data : mesh.model)) return false;
  return true;
}

static std::string describeMesh(const std::vector<MeshAxisSize>& axes) {
  std::string text;
  for (const MeshAxisSize& axis : axes)
    text += (text.empty() ? "" : " x ") + axis.name + " " + std::to_string(axis.size);
  return text;
}

std::string mlir::sgd::describe(const Candidate& candidate, const StepFacts& facts) {
  if (candidate.asWritten) return "as written, " + describeMesh(*candidate.asWritten);
  std::vector<MeshAxisSize> axes;
  if (candidate.mesh.stages > 1) axes.push_back({"stages", candidate.mesh.stages});
  if (candidate.mesh.data > 1) axes.push_back({"data", candidate.mesh.data});
  if (candidate.mesh.model > 1) axes.push_back({"model", candidate.mesh.model});
  std::string text = axes.empty() ? "one rank" : describeMesh(axes);
  if (candidate.zero > 0) text += ", zero " + std::to_string(candidate.zero);
  if (candidate.micro > 1) text += ", micro " + std::to_string(candidate.micro);
  if (!candidate.schedule.empty()) text += ", " + candidate.schedule;
  for (auto [axis, name] : {std::pair(GroupAxis::Data, "; data: "), std::pair(GroupAxis::Model, "; model: ")}) {
    std::string labels;
    for (auto [of, group] : llvm::zip(candidate.groups, facts.groups))
      if (of == axis) labels += (labels.empty() ? "" : " ") + group.label;
    if (!labels.empty()) text += name + labels;
  }
  return text;
}

/// "params.h*.mlp.w1 by dimension 1, ...": the groups that are sharded over an axis.
static std::string listGroups(const Candidate& candidate, const StepFacts& facts, GroupAxis axis) {
  std::vector<std::string> groups;
  for (auto [of, group] : llvm::zip(candidate.groups, facts.groups)) {
    if (of != axis) continue;
    auto [tensors, dim] = llvm::StringRef(group.label).rsplit(':');
    groups.push_back(dim.empty() ? group.label : (tensors + " by dimension " + dim).str());
  }
  return llvm::join(groups, ", ");
}

static std::string describeZero(int zero) {
  if (zero == 1) return ", with optimizer state sharded over them (ZeRO 1)";
  if (zero == 2) return ", with gradients and optimizer state sharded over them (ZeRO 2)";
  return ", with parameters, gradients and optimizer state sharded over them (ZeRO 3)";
}

std::string mlir::sgd::describeInWords(const Candidate& candidate, const StepFacts& facts) {
  if (candidate.asWritten) return "the program's own annotations, on a mesh of " + describeMesh(*candidate.asWritten);
  const SearchMesh& mesh = candidate.mesh;
  std::vector<std::string> parts;
  if (mesh.data > 1) {
    std::string data = "data parallelism over " + std::to_string(mesh.data) + " ranks";
    if (candidate.zero > 0) data += describeZero(candidate.zero);
    if (std::string groups = listGroups(candidate, facts, GroupAxis::Data); !groups.empty())
      data += ", which also shard " + groups;
    parts.push_back(std::move(data));
  }
  if (mesh.model > 1)
    parts.push_back("tensor parallelism over " + std::to_string(mesh.model) + " ranks (" +
                    listGroups(candidate, facts, GroupAxis::Model) + ")");
  if (mesh.stages > 1)
    parts.push_back("a pipeline of " + std::to_string(mesh.stages) + " stages" +
                    (candidate.schedule.empty() ? "" : " by the schedule " + candidate.schedule));
  if (candidate.micro > 1) parts.push_back("a batch cut into " + std::to_string(candidate.micro) + " micro-batches");
  std::string text = parts.empty() ? "one rank" : llvm::join(parts, ", and ");
  return text + (candidate.memoryLimit ? "; values are computed again to keep the memory limit" : "");
}

unsigned mlir::sgd::getComplexity(const Candidate& candidate) {
  if (candidate.asWritten) return candidate.memoryLimit ? 1 : 0;
  auto is = [](bool condition) { return condition ? 1u : 0u; };
  unsigned groups = llvm::count_if(candidate.groups, [](GroupAxis axis) { return axis != GroupAxis::None; });
  // Stages change what ranks are.
  return groups + is(candidate.mesh.model > 1) + 2 * is(candidate.mesh.stages > 1) + is(candidate.zero > 0) +
         is(candidate.micro > 1) + is(!candidate.schedule.empty()) + is(candidate.memoryLimit.has_value());
}

namespace {

/// The axes of each dimension of a tensor, major to minor.
using RuleDims = std::vector<std::vector<GroupAxis>>;

/// Tensors that one rule shards.
struct RuleTensors {
  std::string pattern;
  RuleDims dims;
  std::vector<unsigned> arguments;  // ascending
};

class RuleWriter {
 public:
  RuleWriter(const Candidate& candidate, const StepFacts& facts) : candidate(candidate), facts(facts) {}

  /// In the order of the first argument of each.
  std::vector<std::string> run();

 private:
  void shardBatch();
  void shardGroups();
  void add(unsigned argument);
  bool matchesOthers(const RuleTensors& tensors) const;

  const Candidate& candidate;
  const StepFacts& facts;
  std::vector<RuleDims> shardings;  // by argument
  std::vector<bool> isRuled;        // likewise
  std::vector<RuleTensors> rules;
  std::map<std::pair<std::string, RuleDims>, size_t> known;  // rules by what they say
};

}  // namespace

/// Inputs with other rows than the batch's are whole, where the batch is sharded or cut.
void RuleWriter::shardBatch() {
  if (candidate.mesh.data > 1)
    for (unsigned argument : facts.batch) shardings[argument].front().push_back(GroupAxis::Data);
  else if (candidate.micro == 1)
    return;
  for (unsigned argument : facts.others) isRuled[argument] = true;
}

/// Of dimensions of a tensor that want one axis, that of the first group has it.
void RuleWriter::shardGroups() {
  for (auto [axis, group] : llvm::zip(candidate.groups, facts.groups)) {
    if (axis == GroupAxis::None) continue;
    for (const ArgumentDim& member : group.members) {
      RuleDims& dims = shardings[member.argument];
      if (llvm::any_of(dims, [&](const std::vector<GroupAxis>& axes) { return llvm::is_contained(axes, axis); }))
        continue;
      dims[member.dim].push_back(axis);
      isRuled[member.argument] = true;
    }
  }
}

/// Characters that globs know stand for any one.
static std::string escape(llvm::StringRef name) {
  std::string text = name.str();
  for (char& c : text)
    if (!llvm::isPrint(c) || llvm::StringRef("*?[]{}\\\"").contains(c)) c = '?';
  return text;
}

void RuleWriter::add(unsigned argument) {
  std::string pattern = generalizeName(escape(facts.names[argument]));
  auto [rule, isNew] = known.try_emplace({pattern, shardings[argument]}, rules.size());
  if (isNew) rules.push_back({std::move(pattern), shardings[argument], {}});
  rules[rule->second].arguments.push_back(argument);
}

bool RuleWriter::matchesOthers(const RuleTensors& tensors) const {
  if (llvm::StringRef(tensors.pattern).find_first_of("*?") == llvm::StringRef::npos) return false;
  llvm::GlobPattern glob = llvm::cantFail(llvm::GlobPattern::create(tensors.pattern));
  for (auto [argument, name] : llvm::enumerate(facts.names))
    if (glob.match(name) && !llvm::binary_search(tensors.arguments, argument)) return true;
  return false;
}

static std::string writeRule(llvm::StringRef glob, const RuleDims& dims) {
  auto writeAxis = [](GroupAxis axis) { return std::string(axis == GroupAxis::Data ? R"("data")" : R"("model")"); };
  auto writeDim = [&](const std::vector<GroupAxis>& axes) -> std::string {
    if (axes.empty()) return "null";
    if (axes.size() == 1) return writeAxis(axes.front());
    return "[" + llvm::join(llvm::map_range(axes, writeAxis), ", ") + "]";
  };
  return "{\"tensor\": \"" + glob.str() + "\", \"sharding\": [" + llvm::join(llvm::map_range(dims, writeDim), ", ") +
         "]}";
}

std::vector<std::string> RuleWriter::run() {
  for (const std::vector<int64_t>& shape : facts.shapes) shardings.emplace_back(shape.size());
  isRuled.resize(shardings.size());
  shardBatch();
  shardGroups();
  for (unsigned argument = 0; argument < isRuled.size(); ++argument)
    if (isRuled[argument]) add(argument);
  std::vector<std::string> texts;
  for (const RuleTensors& rule : rules) {
    if (!matchesOthers(rule)) {
      texts.push_back(writeRule(rule.pattern, rule.dims));
      continue;
    }
    for (unsigned argument : rule.arguments) texts.push_back(writeRule(escape(facts.names[argument]), rule.dims));
  }
  return texts;
}

static std::string writeMesh(const std::vector<MeshAxisSize>& axes) {
  std::string text;
  for (const MeshAxisSize& axis : axes)
    text += (text.empty() ? "{\"" : ", \"") + axis.name + "\": " + std::to_string(axis.size);
  return text + "}";
}

std::string mlir::sgd::writeRecipe(const Candidate& candidate, const StepFacts& facts) {
  std::vector<std::string> fields;
  auto add = [&](llvm::StringRef name, const std::string& value) {
    fields.push_back("  \"" + name.str() + "\": " + value);
  };
  for (const auto& [name, value] : facts.given) add(name, value);
  if (candidate.asWritten) {
    if (!candidate.asWritten->empty()) add("mesh", writeMesh(*candidate.asWritten));
  } else {
    const SearchMesh& mesh = candidate.mesh;
    if (facts.isAnnotated) add("annotations", "\"ignore\"");
    std::vector<std::string> rules = RuleWriter(candidate, facts).run();
    std::vector<MeshAxisSize> axes;
    // Rules are of a mesh, whatever they say.
    if (mesh.data > 1 || (mesh.model == 1 && !rules.empty())) axes.push_back({"data", mesh.data});
    if (mesh.model > 1) axes.push_back({"model", mesh.model});
    if (!axes.empty()) add("mesh", writeMesh(axes));
    if (mesh.data > 1) add("batch", "\"data\"");
    if (candidate.zero > 0) add("zero", std::to_string(candidate.zero));
    if (!rules.empty()) add("rules", "[\n    " + llvm::join(rules, ",\n    ") + "\n  ]");
    if (mesh.stages > 1) add("stages", std::to_string(mesh.stages));
    if (!candidate.schedule.empty()) add("schedule", "\"" + candidate.schedule + "\"");
    if (candidate.micro > 1) add("sequential", "{\"micro\": " + std::to_string(candidate.micro) + "}");
  }
  if (candidate.memoryLimit) add("memory_limit", "\"" + std::to_string(*candidate.memoryLimit) + "\"");
  return fields.empty() ? "{}\n" : "{\n" + llvm::join(fields, ",\n") + "\n}\n";
}
