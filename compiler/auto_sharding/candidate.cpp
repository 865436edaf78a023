#include "compiler/auto_sharding/candidate.h"

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

namespace {

/// A dimension's entry in a rule: `null`, `"data"`.
using DimAxes = std::vector<const char*>;

/// Tensors that one rule may shard.
struct RuleTensors {
  std::string pattern;
  std::vector<DimAxes> dims;
  std::vector<unsigned> arguments;
};

class RuleWriter {
 public:
  RuleWriter(const Candidate& candidate, const StepFacts& facts) : candidate(candidate), facts(facts) {}

  /// In the order of the first argument of each.
  std::vector<std::string> run();

 private:
  std::vector<DimAxes> getSharding(unsigned argument) const;
  void add(unsigned argument, std::vector<DimAxes> dims);
  bool matchesOthers(const RuleTensors& tensors) const;

  const Candidate& candidate;
  const StepFacts& facts;
  std::vector<RuleTensors> rules;
};

}  // namespace

/// Empty where no rule shards it. Of dimensions that want one axis, that of the first group has it.
std::vector<DimAxes> RuleWriter::getSharding(unsigned argument) const {
  std::vector<DimAxes> dims(facts.shapes[argument].size());
  bool isRuled = false, hasAxis[2] = {false, false};
  if (llvm::is_contained(facts.batch, argument) && candidate.mesh.data > 1) {
    dims.front().push_back("data");
    hasAxis[0] = true;
  }
  for (auto [axis, group] : llvm::zip(candidate.groups, facts.groups)) {
    if (axis == GroupAxis::None) continue;
    for (const ArgumentDim& member : group.members) {
      bool& isTaken = hasAxis[axis == GroupAxis::Data ? 0 : 1];
      if (member.argument != argument || isTaken) continue;
      isTaken = isRuled = true;
      dims[member.dim].push_back(axis == GroupAxis::Data ? "data" : "model");
    }
  }
  // Inputs with other rows than the batch's are whole.
  if (candidate.mesh.data > 1 && llvm::is_contained(facts.others, argument)) isRuled = true;
  return isRuled ? dims : std::vector<DimAxes>();
}

/// Characters that globs know stand for any one.
static std::string escape(llvm::StringRef name) {
  std::string text = name.str();
  for (char& c : text)
    if (!llvm::isPrint(c) || llvm::StringRef("*?[]{}\\\"").contains(c)) c = '?';
  return text;
}

void RuleWriter::add(unsigned argument, std::vector<DimAxes> dims) {
  std::string pattern = generalizeName(escape(facts.names[argument]));
  auto known =
      llvm::find_if(rules, [&](const RuleTensors& rule) { return rule.pattern == pattern && rule.dims == dims; });
  if (known == rules.end()) known = rules.insert(rules.end(), {pattern, std::move(dims), {}});
  known->arguments.push_back(argument);
}

bool RuleWriter::matchesOthers(const RuleTensors& tensors) const {
  llvm::GlobPattern glob = llvm::cantFail(llvm::GlobPattern::create(tensors.pattern));
  for (auto [argument, name] : llvm::enumerate(facts.names))
    if (!llvm::is_contained(tensors.arguments, argument) && glob.match(name)) return true;
  return false;
}

static std::string writeRule(llvm::StringRef glob, const std::vector<DimAxes>& dims) {
  std::string text = "{\"tensor\": \"" + glob.str() + "\", \"sharding\": [";
  for (auto [index, axes] : llvm::enumerate(dims)) {
    if (index > 0) text += ", ";
    if (axes.empty()) text += "null";
    if (axes.size() == 1) text += "\"" + std::string(axes[0]) + "\"";
    if (axes.size() == 2) text += "[\"" + std::string(axes[0]) + "\", \"" + axes[1] + "\"]";
  }
  return text + "]}";
}

std::vector<std::string> RuleWriter::run() {
  for (unsigned argument = 0; argument < facts.names.size(); ++argument)
    if (std::vector<DimAxes> dims = getSharding(argument); !dims.empty()) add(argument, std::move(dims));
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
  if (candidate.asWritten) {
    if (!candidate.asWritten->empty()) add("mesh", writeMesh(*candidate.asWritten));
  } else {
    const SearchMesh& mesh = candidate.mesh;
    if (facts.isAnnotated) add("annotations", "\"ignore\"");
    std::vector<MeshAxisSize> axes;
    if (mesh.data > 1) axes.push_back({"data", mesh.data});
    if (mesh.model > 1) axes.push_back({"model", mesh.model});
    if (!axes.empty()) add("mesh", writeMesh(axes));
    if (mesh.data > 1) add("batch", "\"data\"");
    if (candidate.zero > 0) add("zero", std::to_string(candidate.zero));
    if (std::vector<std::string> rules = RuleWriter(candidate, facts).run(); !rules.empty())
      add("rules", "[\n    " + llvm::join(rules, ",\n    ") + "\n  ]");
    if (mesh.stages > 1) add("stages", std::to_string(mesh.stages));
    if (!candidate.schedule.empty()) add("schedule", "\"" + candidate.schedule + "\"");
    if (candidate.micro > 1) add("sequential", "{\"micro\": " + std::to_string(candidate.micro) + "}");
  }
  if (candidate.memoryLimit) add("memory_limit", "\"" + std::to_string(*candidate.memoryLimit) + "\"");
  return fields.empty() ? "{}\n" : "{\n" + llvm::join(fields, ",\n") + "\n}\n";
}
