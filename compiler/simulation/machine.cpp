// Axes of other sizes than the artifact's.
#include "compiler/simulation/timed_program.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/cost/message_cost.h"
#include "runtime/artifact/collective.h"

using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

static std::string getAxisNames(const artifact::Artifact& root) {
  std::string names;
  for (const artifact::MeshAxis* axis : *root.mesh()) names += (names.empty() ? "" : ", ") + axis->name()->str();
  return names;
}

/// Whether programs name parts of `axis`, or tiles of ranges over it.
static bool isCut(const artifact::Artifact& root, unsigned axis, uint32_t size) {
  auto names = [&](const artifact::AxisRefs* refs) {
    return refs && llvm::any_of(*refs, [&](const artifact::AxisRef* ref) { return ref->axis() == axis; });
  };
  auto isPart = [&](const artifact::AxisRefs* refs) {
    return refs && llvm::any_of(
                       *refs, [&](const artifact::AxisRef* ref) { return ref->axis() == axis && ref->size() != size; });
  };
  for (const artifact::Program* program : *root.programs()) {
    if (!program->instructions()) continue;
    for (const artifact::Instruction* instruction : *program->instructions()) {
      const artifact::Collective* collective = instruction->op_as_Collective();
      if (!collective) continue;
      if (isPart(collective->axes()) || isPart(collective->from_axes()) || isPart(collective->to_axes())) return true;
      if (collective->kind() == artifact::CollectiveKind::GatherRange &&
          (names(collective->axes()) || names(collective->to_axes())))
        return true;
    }
  }
  return false;
}

static bool isSmall(llvm::ArrayRef<int64_t> mesh) {
  constexpr int64_t kMostRanks = int64_t(1) << 24;
  int64_t left = kMostRanks;
  for (int64_t size : mesh) left /= size;
  return left > 0;
}

llvm::Expected<Machine> Machine::create(const artifact::Artifact& root, llvm::StringRef file, Topology topology,
                                        llvm::ArrayRef<MeshAxisSize> sizes) {
  MeshSizes mesh;
  for (unsigned i = 0; i < artifact::Size(root.mesh()); ++i) mesh.push_back(root.mesh()->Get(i)->size());
  for (const auto& [name, size] : sizes) {
    unsigned axis = 0;
    while (axis < mesh.size() && root.mesh()->Get(axis)->name()->string_view() != name) ++axis;
    auto fail = [&](const llvm::Twine& what) {
      return llvm::createStringError(file + ": axis '" + name + "' " + what);
    };
    if (axis == mesh.size())
      return fail("is not in its mesh; expected one of " +
                  (mesh.empty() ? std::string("no axes") : getAxisNames(root)));
    if (size == mesh[axis]) continue;
    if (axis == 0 && artifact::Size(root.stages()) > 0)
      return fail("has a program for each stage; expected its size " + llvm::Twine(mesh[axis]) +
                  "; compile with other stages");
    if (isCut(root, axis, mesh[axis]))
      return fail("is used in parts, or for ranges of dimensions, by size; expected its size " +
                  llvm::Twine(mesh[axis]) + "; compile for a mesh of that size");
    mesh[axis] = size;
    // Each is a positive number of 64 bits.
    if (!isSmall(mesh))
      return fail("of " + llvm::Twine(size) + " makes more ranks than any machine has; expected 2^24 or fewer in all");
  }
  return Machine(root, CostModel(std::move(topology), mesh));
}

int64_t Machine::getRanks() const {
  int64_t ranks = 1;
  for (int64_t size : getMesh()) ranks *= size;
  return ranks;
}

int64_t Machine::getStages() const { return std::max<int64_t>(1, artifact::Size(root->stages())); }

unsigned Machine::getLinkBetween(int64_t from, int64_t to) const {
  const Topology& topology = cost.getTopology();
  return &getMessageLink(topology, getRanks() / getStages(), from, to) - topology.links.data();
}

AxisParts Machine::getParts(const artifact::AxisRefs* axes) const {
  AxisParts parts;
  if (!axes) return parts;
  for (const artifact::AxisRef* ref : *axes) {
    bool isWhole = ref->pre_size() == 1 && ref->size() == root->mesh()->Get(ref->axis())->size();
    parts.push_back({ref->axis(), ref->pre_size(), isWhole ? getMesh()[ref->axis()] : ref->size()});
  }
  return parts;
}
