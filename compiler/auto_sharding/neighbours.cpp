#include "compiler/auto_sharding/neighbours.h"

#include <set>

#include "llvm/ADT/STLExtras.h"

using namespace mlir::sgd;

/// Groups that are looked at: those of most bytes.
static constexpr size_t kMostGroups = 12;
/// Of these, groups that are looked at for the data axis, as experts.
static constexpr size_t kMostDataGroups = 4;
/// Meshes of the text's own axes that a search begins with.
static constexpr size_t kMostWritten = 16;
static constexpr int kZeroStages[] = {0, 1, 3};  // 2 is 1
static constexpr const char* kSchedules[] = {"", "zero_bubble", "interleaved:2"};

static size_t getNumGroups(const StepFacts& facts) { return std::min(facts.groups.size(), kMostGroups); }

static bool mayShareData(const StepFacts& facts, size_t group) {
  return group < kMostDataGroups && facts.groups[group].hasParameters();
}

static Candidate getPlain(const StepFacts& facts, SearchMesh mesh) {
  Candidate candidate;
  candidate.mesh = mesh;
  candidate.groups.assign(facts.groups.size(), GroupAxis::None);
  return candidate;
}

Candidate mlir::sgd::getOneRank(const StepFacts& facts) { return getPlain(facts, {}); }

/// Whether a tensor has both. Members ascend.
static bool meet(const DimGroup& left, const DimGroup& right) {
  for (auto a = left.members.begin(), b = right.members.begin(); a != left.members.end() && b != right.members.end();) {
    if (a->argument == b->argument) return true;
    a->argument < b->argument ? ++a : ++b;
  }
  return false;
}

namespace {

/// Groups of which no tensor has two, and to which none can be added: of a transformer heads, hidden features and words
/// are one such set, the features between layers another.
class CompatibleGroups {
 public:
  CompatibleGroups(const StepFacts& facts, std::vector<size_t> eligible) : eligible(std::move(eligible)) {
    for (size_t left : this->eligible)
      for (size_t right : this->eligible)
        if (left != right && meet(facts.groups[left], facts.groups[right])) meeting.emplace(left, right);
  }

  /// The first few, in the order of their groups.
  std::vector<std::vector<size_t>> run() {
    extend(0);
    return std::move(sets);
  }

 private:
  static constexpr size_t kMostSets = 8;

  bool fits(size_t group) const {
    return llvm::none_of(chosen, [&](size_t other) { return meeting.count({group, other}) > 0; });
  }

  void extend(size_t next) {
    if (sets.size() == kMostSets) return;
    if (next == eligible.size()) {
      bool isLargest =
          llvm::none_of(eligible, [&](size_t group) { return !llvm::is_contained(chosen, group) && fits(group); });
      if (isLargest) sets.push_back(chosen);
      return;
    }
    if (fits(eligible[next])) {
      chosen.push_back(eligible[next]);
      extend(next + 1);
      chosen.pop_back();
    }
    extend(next + 1);
  }

  std::vector<size_t> eligible, chosen;
  std::set<std::pair<size_t, size_t>> meeting;
  std::vector<std::vector<size_t>> sets;
};

}  // namespace

static void addTensorSeeds(const StepFacts& facts, int64_t ranks, std::vector<Candidate>& seeds) {
  std::vector<int64_t> factors = getPrimeFactors(ranks);
  if (factors.empty()) return;
  SearchMesh mesh{ranks / factors.front(), factors.front(), 1};
  std::vector<size_t> eligible;
  for (size_t group = 0; group < getNumGroups(facts); ++group) {
    Candidate one = getPlain(facts, mesh);
    one.groups[group] = GroupAxis::Model;
    if (facts.groups[group].hasParameters() && isSensible(one, facts)) eligible.push_back(group);
    seeds.push_back(std::move(one));
    if (!mayShareData(facts, group)) continue;
    Candidate& expert = seeds.emplace_back(getPlain(facts, {ranks, 1, 1}));
    expert.groups[group] = GroupAxis::Data;
  }
  for (const std::vector<size_t>& set : CompatibleGroups(facts, std::move(eligible)).run()) {
    Candidate& together = seeds.emplace_back(getPlain(facts, mesh));
    for (size_t group : set) together.groups[group] = GroupAxis::Model;
  }
}

static void addPipelineSeeds(const StepFacts& facts, const SearchMesh& mesh, std::vector<Candidate>& seeds) {
  for (int64_t parts : {1, 2, 4}) {
    Candidate candidate = getPlain(facts, mesh);
    candidate.micro = mesh.stages * parts;
    seeds.push_back(std::move(candidate));
  }
}

static Candidate resizeWritten(Candidate candidate, llvm::ArrayRef<int64_t> sizes) {
  for (auto [axis, size] : llvm::zip_equal(*candidate.asWritten, sizes)) axis.size = size;
  return candidate;
}

static void addAsWritten(const StepFacts& facts, int64_t ranks, std::vector<Candidate>& seeds) {
  if (facts.ownMesh.empty()) return;
  Candidate candidate = getPlain(facts, {});
  candidate.asWritten = facts.ownMesh;
  for (const std::vector<int64_t>& sizes : getFirstFactorizations(ranks, facts.ownMesh.size(), kMostWritten))
    seeds.push_back(resizeWritten(candidate, sizes));
}

std::vector<Candidate> mlir::sgd::findSeeds(const StepFacts& facts, int64_t ranks) {
  std::vector<Candidate> seeds;
  for (int zero : kZeroStages) {
    Candidate candidate = getPlain(facts, {ranks, 1, 1});
    candidate.zero = zero;
    seeds.push_back(std::move(candidate));
  }
  addAsWritten(facts, ranks, seeds);
  for (const SearchMesh& mesh : getMeshes(ranks))
    if (mesh.model == 1 && mesh.stages > 1) addPipelineSeeds(facts, mesh, seeds);
  addTensorSeeds(facts, ranks, seeds);
  return seeds;
}

namespace {

class Neighbours {
 public:
  Neighbours(const Candidate& center, const StepFacts& facts) : center(center), facts(facts) {}

  void addWrittenMeshes();
  void addGroups();
  void addMeshes(const std::vector<GroupAxis>* groups);
  void addOthers(bool isShortOfMemory);

  std::vector<Candidate> all;

 private:
  Candidate& add() { return all.emplace_back(center); }

  const Candidate& center;
  const StepFacts& facts;
};

}  // namespace

void Neighbours::addWrittenMeshes() {
  std::vector<int64_t> own;
  for (const MeshAxisSize& axis : *center.asWritten) own.push_back(axis.size);
  for (const std::vector<int64_t>& sizes : getNeighbourSizes(own)) all.push_back(resizeWritten(center, sizes));
}

void Neighbours::addGroups() {
  for (size_t group = 0; group < getNumGroups(facts); ++group)
    for (GroupAxis axis : {GroupAxis::None, GroupAxis::Model, GroupAxis::Data}) {
      if (axis == center.groups[group]) continue;
      if (axis == GroupAxis::Data && !mayShareData(facts, group)) continue;
      if (axis == GroupAxis::Model && center.mesh.model == 1) continue;
      add().groups[group] = axis;
    }
}

void Neighbours::addMeshes(const std::vector<GroupAxis>* groups) {
  for (const SearchMesh& mesh : getNeighbours(center.mesh)) {
    if (mesh.model > 1 && center.mesh.model == 1 && !groups) continue;
    Candidate& moved = add();
    moved.mesh = mesh;
    if (mesh.model > 1 && center.mesh.model == 1) moved.groups = *groups;
    for (GroupAxis& axis : moved.groups)
      if ((axis == GroupAxis::Model && mesh.model == 1) || (axis == GroupAxis::Data && mesh.data == 1))
        axis = GroupAxis::None;
    if (mesh.data == 1) moved.zero = 0;
    if (mesh.stages == 1) moved.schedule.clear();
    if (mesh.stages > 1 && center.mesh.stages == 1) moved.micro = std::max(moved.micro, 2 * mesh.stages);
    if (mesh.stages == 1 && center.mesh.stages > 1) moved.micro = 1;
  }
}

void Neighbours::addOthers(bool isShortOfMemory) {
  for (int zero : kZeroStages)
    if (zero != center.zero) add().zero = zero;
  if (isShortOfMemory || center.micro > 1) add().micro *= 2;
  if (center.micro % 2 == 0) add().micro /= 2;
  if (center.mesh.stages == 1) return;
  for (const char* schedule : kSchedules)
    if (schedule != center.schedule) add().schedule = schedule;
}

std::vector<Candidate> mlir::sgd::findNeighbours(const Candidate& candidate, const StepFacts& facts,
                                                 const std::vector<GroupAxis>* groups, bool isShortOfMemory) {
  Neighbours neighbours(candidate, facts);
  if (candidate.asWritten) {
    neighbours.addWrittenMeshes();
    return std::move(neighbours.all);
  }
  neighbours.addGroups();
  neighbours.addMeshes(groups);
  neighbours.addOthers(isShortOfMemory);
  return std::move(neighbours.all);
}

double mlir::sgd::getBound(const Candidate& candidate, const StepFacts& facts, double oneRank) {
  if (candidate.asWritten) return 0;
  const SearchMesh& mesh = candidate.mesh;
  double seconds = oneRank / static_cast<double>(mesh.data * mesh.model * mesh.stages);
  if (mesh.stages == 1) return seconds;
  // docs/recipes.md, "Pipelines": zb_h1, the best of those that are chosen from, and chunks.
  double parts = static_cast<double>(candidate.micro), waits = static_cast<double>(mesh.stages - 1);
  if (candidate.schedule.empty()) return seconds * (1 + waits / (3 * parts));
  if (candidate.schedule == "interleaved:2") return seconds * (1 + waits / (2 * parts));
  return seconds;
}
