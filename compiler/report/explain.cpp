// Explanations are written by the passes that insert collectives; here they are collected and taken apart.
#include "compiler/report/explain.h"

#include "compiler/export/export_program.h"
#include "compiler/locations.h"
#include "llvm/Support/Format.h"
#include "passes/memory/instruction_cost.h"
#include "passes/memory/passes.h"
#include "passes/partition/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

/// `reason: from -> to: step ...` as reshards are described; anything else is a reason as a whole.
static void takeApart(StringRef text, ExplainRecord& record) {
  auto [why, rest] = text.split(": ");
  auto [from, target] = rest.split(" -> ");
  record.why = why.str();
  if (target.empty()) {
    record.why = text.str();
    return;
  }
  auto [to, steps] = target.split(": ");
  record.from = from.str();
  record.to = to.str();
  record.steps = steps.str();
}

namespace {

/// Walks the programs of a plan.
class Explainer {
 public:
  Explainer(CostModel cost, MeshAttr mesh) : cost(std::move(cost)), mesh(mesh) {}

  /// The records of all collectives of `function` and of what it runs, `executions` times in a step.
  void addFunction(func::FuncOp function, StringRef program, uint64_t executions) {
    for (Operation& op : function.front()) {
      if (auto collective = dyn_cast<plan::CollectiveOp>(op)) addCollective(collective, program, executions);
      for (func::FuncOp callee : plan::getCallees(&op)) addFunction(callee, program, executions * plan::getTrips(&op));
    }
  }

  Explanation take() { return std::move(explanation); }

 private:
  void addCollective(plan::CollectiveOp collective, StringRef program, uint64_t executions) {
    ExplainRecord base;
    base.program = program.str();
    base.location = getUserLocation(collective.getLoc());
    base.op = plan::stringifyCollectiveKind(collective.getKind()).str();
    base.bytes = getSentBytes(collective) * executions;
    base.seconds = getSeconds(cost, mesh, collective) * static_cast<double>(executions);
    SmallVector<StringRef> texts = getExplanations(collective);
    if (texts.empty()) texts.push_back("the program asks for it");
    if (auto overlap = collective->getAttrOfType<StringAttr>(kOverlapAttr)) texts.push_back(overlap.getValue());
    for (auto [index, text] : llvm::enumerate(texts)) {
      ExplainRecord record = base;
      // A bucket is counted once.
      if (index != 0) record.bytes = 0, record.seconds = 0;
      takeApart(text, record);
      explanation.records.push_back(std::move(record));
    }
  }

  CostModel cost;
  MeshAttr mesh;
  Explanation explanation;
};

}  // namespace

Explanation mlir::sgd::computeExplanation(ModuleOp plan, const Topology& topology) {
  MeshOp meshOp = getMesh(plan);
  MeshAttr mesh = meshOp ? meshOp.getMesh() : MeshAttr::get(plan.getContext(), {});
  Explainer explainer(CostModel(topology, getMeshSizes(mesh)), mesh);
  for (auto function : plan.getOps<func::FuncOp>())
    if (!function.isPrivate()) explainer.addFunction(function, function.getName(), 1);
  return explainer.take();
}

llvm::json::Value Explanation::toJson() const {
  llvm::json::Array list;
  for (const ExplainRecord& record : records)
    list.push_back(llvm::json::Object{{"program", record.program},
                                      {"loc", record.location},
                                      {"op", record.op},
                                      {"from", record.from},
                                      {"to", record.to},
                                      {"steps", record.steps},
                                      {"bytes", record.bytes},
                                      {"seconds", record.seconds},
                                      {"why", record.why}});
  return list;
}

bool mlir::sgd::fromJson(const llvm::json::Value& json, Explanation& explanation) {
  const llvm::json::Array* list = json.getAsArray();
  llvm::json::Path::Root root;
  for (const llvm::json::Value& value : list ? *list : llvm::json::Array()) {
    ExplainRecord& record = explanation.records.emplace_back();
    llvm::json::ObjectMapper object(value, root);
    if (!object || !object.map("program", record.program) || !object.map("loc", record.location) ||
        !object.map("op", record.op) || !object.map("from", record.from) || !object.map("to", record.to) ||
        !object.map("steps", record.steps) || !object.map("bytes", record.bytes) ||
        !object.map("seconds", record.seconds) || !object.map("why", record.why))
      return false;
  }
  return list;
}

void Explanation::print(llvm::raw_ostream& os) const {
  if (records.empty()) os << "no collectives\n";
  for (const ExplainRecord& record : records) {
    os << (record.location.empty() ? "<unknown>" : record.location) << ": " << record.op;
    if (record.bytes != 0)
      os << ", " << record.bytes << " bytes sent, " << llvm::format("%.3g", record.seconds * 1e6) << " us";
    if (!record.from.empty()) os << ": " << record.from << " -> " << record.to;
    if (!record.steps.empty()) os << " (" << record.steps << ")";
    os << "\n    " << record.why << "\n";
  }
}
