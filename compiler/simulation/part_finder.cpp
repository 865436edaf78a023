#include "compiler/simulation/part_finder.h"

#include <algorithm>

#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/reader.h"

using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

PartFinder::PartFinder(const artifact::Program& program)
    : program(program), seen(artifact::Size(program.instructions())), runs(artifact::ExecutionsOf(program)) {
  for (uint64_t at = 0; at < runs.size(); at = artifact::Next(program, at)) {
    const artifact::Loop* loop = artifact::InstructionAt(program, at).op_as_Loop();
    uint64_t trips = loop && !loop->predicate() ? std::max<uint64_t>(1, loop->trips()) : 1;
    for (uint64_t inner = at + 1; inner < artifact::Next(program, at); ++inner) runs[inner] /= trips;
  }
}

int64_t PartFinder::next(uint32_t index, Interval::Lane lane) {
  const artifact::PartOfBatch* part = program.instructions()->Get(index)->part();
  uint64_t iteration = seen[index][static_cast<size_t>(lane)]++ / std::max<uint64_t>(1, runs[index]);
  return part ? static_cast<int64_t>(part->first() + iteration * part->stride()) : -1;
}
