#include "compiler/auto_sharding/dim_groups.h"

#include <map>
#include <set>
#include <tuple>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::sgd;

std::string mlir::sgd::generalizeName(llvm::StringRef name) {
  std::string general;
  for (char c : name) {
    if (!llvm::isDigit(c))
      general += c;
    else if (general.empty() || general.back() != '*')
      general += '*';
  }
  return general;
}

namespace {

/// Equal for layers of the same kind: the name, rank and position of each member.
using Signature = std::vector<std::tuple<std::string, size_t, unsigned>>;

class Grouping {
 public:
  explicit Grouping(llvm::ArrayRef<GroupedTensor> tensors) : tensors(tensors) {}

  void add(const LogicalDim& dim);
  std::vector<DimGroup> finish();

 private:
  llvm::ArrayRef<GroupedTensor> tensors;
  std::vector<DimGroup> groups;
  std::vector<llvm::DenseSet<unsigned>> arguments;  // that have members, by group
  std::map<Signature, std::vector<size_t>> known;
};

}  // namespace

void Grouping::add(const LogicalDim& dim) {
  std::vector<ArgumentDim> members;
  Signature signature;
  for (const ArgumentDim& member : dim.members) {
    const GroupedTensor& tensor = tensors[member.argument];
    // Where a tensor has it twice, one of them can be sharded: the first.
    bool isSecond = !members.empty() && members.back().argument == member.argument;
    if (!tensor.isShardable || isSecond) continue;
    members.push_back(member);
    signature.emplace_back(generalizeName(tensor.name), tensor.shape.size(), member.dim);
  }
  if (members.empty()) return;
  llvm::sort(signature);
  std::vector<size_t>& alike = known[signature];
  auto apart = llvm::find_if(alike, [&](size_t group) {
    return llvm::none_of(members,
                         [&](const ArgumentDim& member) { return arguments[group].contains(member.argument); });
  });
  if (apart == alike.end()) {
    alike.push_back(groups.size());
    groups.push_back({{}, dim.size, 0, {}});
    arguments.emplace_back();
    apart = std::prev(alike.end());
  }
  DimGroup& group = groups[*apart];
  llvm::append_range(group.members, members);
  for (const ArgumentDim& member : members) arguments[*apart].insert(member.argument);
  group.size = std::min(group.size, dim.size);
}

std::vector<DimGroup> Grouping::finish() {
  std::set<std::string> labels;
  for (DimGroup& group : groups) {
    llvm::sort(group.members);
    const ArgumentDim* largest = &group.members.front();
    for (const ArgumentDim& member : group.members) {
      group.bytes += tensors[member.argument].bytes;
      if (tensors[member.argument].bytes > tensors[largest->argument].bytes) largest = &member;
    }
    auto labelOf = [&](llvm::StringRef name) { return (name + ":" + llvm::Twine(largest->dim)).str(); };
    group.label = labelOf(generalizeName(tensors[largest->argument].name));
    // Groups that share tensors.
    if (!labels.insert(group.label).second) group.label = labelOf(tensors[largest->argument].name);
  }
  llvm::sort(groups, [](const DimGroup& left, const DimGroup& right) {
    return std::tie(right.bytes, left.members) < std::tie(left.bytes, right.members);
  });
  return std::move(groups);
}

std::vector<DimGroup> mlir::sgd::groupDims(llvm::ArrayRef<LogicalDim> dims, llvm::ArrayRef<GroupedTensor> tensors,
                                           llvm::ArrayRef<ArgumentDim> without) {
  Grouping grouping(tensors);
  for (const LogicalDim& dim : dims) {
    bool isLeftOut =
        llvm::any_of(dim.members, [&](const ArgumentDim& member) { return llvm::binary_search(without, member); });
    if (!isLeftOut) grouping.add(dim);
  }
  return grouping.finish();
}
