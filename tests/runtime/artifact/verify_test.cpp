// Each semantic rule refuses its violation, with a message that says what and where.
#include "runtime/artifact/verify.h"

#include "tests/runtime/artifact/violations.h"

namespace sgd::artifact {
namespace {

// The number of a new kernel that is combined of these.
uint32_t AddCombined(ArtifactT& artifact, std::vector<uint32_t> parts) {
  artifact.kernels.push_back(std::make_unique<KernelT>());
  artifact.kernels.back()->symbol = "group";
  artifact.kernels.back()->parts = std::move(parts);
  return static_cast<uint32_t>(artifact.kernels.size() - 1);
}

std::vector<Violation> RootCases() {
  return {
      {"axis twice", [](ArtifactT& a, ProgramT&) { a.mesh.push_back(std::make_unique<MeshAxisT>(*a.mesh[0])); },
       "mesh axis name 'data' is empty or repeated"},
      {"empty axis", [](ArtifactT& a, ProgramT&) { a.mesh[0]->size = 0; }, "mesh axis 0 has size 0"},
      {"huge mesh", [](ArtifactT& a, ProgramT&) { a.mesh[0]->size = 1u << 30; }, "ranks"},
      {"huge arena", [](ArtifactT& a, ProgramT&) { a.private_bytes = uint64_t{1} << 60; }, "larger than 2^46"},
      {"huge host memory", [](ArtifactT& a, ProgramT&) { a.host_bytes = uint64_t{1} << 60; }, "larger than 2^46"},
      {"host memory of a cpu", [](ArtifactT& a, ProgramT&) { a.host_bytes = 64; },
       "keeps 64 bytes in memory of the host beside the device, and a cpu has no other"},
      {"device", [](ArtifactT& a, ProgramT&) { a.device = std::make_unique<DeviceModelT>(); },
       "the device's operations or bytes per second are not positive and finite"},
      {"cause",
       [](ArtifactT&, ProgramT& p) {
         p.explain.push_back(std::make_unique<ExplainT>());
         p.explain[0]->cause = static_cast<MovementCause>(9);
       },
       "explanation 0: has an unknown cause"},
      {"time of an explanation",
       [](ArtifactT&, ProgramT& p) {
         p.explain.push_back(std::make_unique<ExplainT>());
         p.explain[0]->seconds = -1;
       },
       "explanation 0: has a time that is negative or not finite"},
      {"no program", [](ArtifactT& a, ProgramT&) { a.programs.clear(); }, "holds no program"},
      {"program name", [](ArtifactT&, ProgramT& p) { p.name.clear(); }, "program '': the name is empty or used twice"},
      {"missing kernel", [](ArtifactT& a, ProgramT&) { a.kernels[1]->symbol = "gelu"; },
       "does not define the function 'gelu'"},
      {"kernel outputs", [](ArtifactT& a, ProgramT&) { a.kernels[1]->outputs = 2; },
       "kernel 'parts': 2 of its 1 buffers are outputs"},
      {"kernel range", [](ArtifactT& a, ProgramT&) { a.kernels[1]->range = UINT64_MAX; }, "larger than 2^63"},
      {"kernel of itself", [](ArtifactT& a, ProgramT&) { AddCombined(a, {2}); },
       "kernel 'group': it is combined of kernel 2 of 3, which does not exist or is combined itself"},
      {"kernel of no other", [](ArtifactT& a, ProgramT&) { AddCombined(a, {3}); }, "combined of kernel 3 of 3"},
      {"part with buffers", [](ArtifactT& a, ProgramT&) { a.kernels[0]->parts = {1}; },
       "kernel 'scale': it is combined of others and takes buffers"},
      {"elements of some buffers", [](ArtifactT& a, ProgramT&) { a.kernels[0]->elements = {ElementType::F32}; },
       "kernel 'scale': the elements of 1 of its 2 buffers are known; expected all or none"},
      {"elements of no type",
       [](ArtifactT& a, ProgramT&) { a.kernels[0]->elements = {ElementType::F32, ElementType::C64}; },
       "kernel 'scale': buffer 1 has elements of no type that instructions know"},
      {"line break", [](ArtifactT& a, ProgramT&) { a.kernels[1]->symbol = "a\nb"; }, "'a\\nb'"},
  };
}

std::vector<Violation> TensorCases() {
  return {
      {"input name", [](ArtifactT&, ProgramT& p) { p.inputs[1]->name = "x"; }, "input 1 'x': the name is used twice"},
      {"element", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->element = static_cast<ElementType>(99); },
       "input 0 'x': unknown element type"},
      {"complex", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->element = ElementType::C64; },
       "a shard of 256 bytes does not fit in a slice of 128"},
      {"local rank", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->local_dims.pop_back(); }, "number of dimensions"},
      {"local size", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->local_dims[0] = 3; },
       "dimension 0 of size 8 over 2 shards has local size 3 where 4 is expected"},
      {"blocks", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->sharding[0]->blocks = 3; },
       "dimension 0 of local size 4 is not 3 equal blocks"},
      {"no blocks", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->sharding[0]->blocks = 0; },
       "dimension 0 of local size 4 is not 0 equal blocks"},
      {"blocks without all rows",
       [](ArtifactT&, ProgramT& p) {
         p.inputs[0]->type->sharding[0]->blocks = 2;
         p.inputs[0]->type->local_dims[0] = 2;
       },
       "dimension 0 of size 8 over 2 shards has local size 2 where 4 is expected"},
      {"sharding length", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->sharding.pop_back(); },
       "one entry per dimension"},
      {"owner of a shard", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->owner = {AxisRef(0, 1, 2)}; },
       "its owner: "},
      {"summands of a scalar",
       [](ArtifactT&, ProgramT& p) {
         TensorInfoT& type = *p.outputs[0]->type;
         type.global_dims.clear(), type.local_dims.clear(), type.sharding.clear();
         type.summands = true;
       },
       "has summands, and no dimension"},
      {"owner along no axes", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->owner_index = 1; },
       "has an owner along no axes"},
      {"owner beyond the ranks",
       [](ArtifactT&, ProgramT& p) {
         p.inputs[1]->type->owner = {AxisRef(0, 1, 2)};
         p.inputs[1]->type->owner_index = 2;
       },
       "its owner is rank 2 of 2"},
      {"owner along an unknown axis", [](ArtifactT&, ProgramT& p) { p.inputs[1]->type->owner = {AxisRef(3, 1, 2)}; },
       "axis"},
      {"carried as a summand", [](ArtifactT&, ProgramT& p) { p.inputs[1]->type->summands = true; },
       "and only one of them has summands"},
      {"carried to another owner",
       [](ArtifactT&, ProgramT& p) {
         p.inputs[1]->type->owner = {AxisRef(0, 1, 2)};
         p.inputs[1]->type->sharding.clear();
       },
       "of another owner"},
      {"unknown axis", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->sharding[0]->axes[0] = AxisRef(3, 1, 2); },
       "axis 3"},
      {"axis twice", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->sharding[1]->axes = {AxisRef(0, 1, 2)}; },
       "overlap"},
      {"overflow",
       [](ArtifactT&, ProgramT& p) {
         p.inputs[1]->type->global_dims = p.inputs[1]->type->local_dims = {uint64_t{1} << 40, uint64_t{1} << 40};
       },
       "more than 2^62 bytes"},
      {"slice outside",
       [](ArtifactT&, ProgramT& p) { p.inputs[0]->slice = testing::SliceAt(Space::Private, 1920, 128); },
       "128 bytes at 1920 are outside of the Private space of 1984 bytes"},
      {"slice wraps",
       [](ArtifactT&, ProgramT& p) { p.inputs[0]->slice = testing::SliceAt(Space::Private, UINT64_MAX - 63, 128); },
       "outside of the Private space"},
      {"slice small", [](ArtifactT&, ProgramT& p) { p.inputs[0]->slice = testing::SliceAt(Space::Private, 0, 64); },
       "a shard of 128 bytes does not fit in a slice of 64"},
      {"slice odd", [](ArtifactT&, ProgramT& p) { p.inputs[0]->slice = testing::SliceAt(Space::Private, 2, 128); },
       "not aligned"},
      {"slice space",
       [](ArtifactT&, ProgramT& p) { p.inputs[0]->slice = testing::SliceAt(static_cast<Space>(7), 0, 128); },
       "unknown space"},
      {"constant input",
       [](ArtifactT&, ProgramT& p) { p.inputs[0]->slice = testing::SliceAt(Space::Constant, 0, 128); }, "read-only"},
      {"carry index", [](ArtifactT&, ProgramT& p) { p.outputs[1]->carry_input = 9; },
       "output 1 'new_w': carries into input 9 of 2"},
      {"carry type", [](ArtifactT&, ProgramT& p) { p.outputs[1]->carry_input = 0; }, "of another type or shape"},
      {"carry twice", [](ArtifactT&, ProgramT& p) { p.outputs.push_back(std::make_unique<OutputT>(*p.outputs[1])); },
       "a second output carries into input 1"},
      {"unknown role of an input", [](ArtifactT&, ProgramT& p) { p.inputs[1]->role = static_cast<InputRole>(9); },
       "input 1 'w': has the unknown role 9"},
      {"generator type", [](ArtifactT&, ProgramT& p) { p.inputs[1]->role = InputRole::Generator; },
       "input 1 'w': is no state of a generator"},
      {"unknown role of an output", [](ArtifactT&, ProgramT& p) { p.outputs[0]->role = static_cast<OutputRole>(9); },
       "has the unknown role 9"},
      {"loss type", [](ArtifactT&, ProgramT& p) { p.outputs[0]->role = OutputRole::Loss; },
       "has the role 'loss', and is no floating-point scalar"},
      {"carried metric", [](ArtifactT&, ProgramT& p) { p.outputs[1]->role = OutputRole::Metric; },
       "output 1 'new_w': has the role 'metric', and is carried"},
      {"second loss",
       [](ArtifactT&, ProgramT& p) {
         for (int i = 0; i < 2; ++i) {
           auto loss = std::make_unique<OutputT>(*p.outputs[0]);
           loss->type->global_dims.clear();
           loss->type->local_dims.clear();
           loss->type->sharding.clear();
           loss->role = OutputRole::Loss;
           p.outputs.push_back(std::move(loss));
         }
       },
       "has the role 'loss', as an output before it"},
      {"commit type", [](ArtifactT&, ProgramT& p) { p.outputs[2]->role = OutputRole::Commit; },
       "output 2 'flag': has the role 'commit', and is no boolean scalar"},
      {"second commit",
       [](ArtifactT&, ProgramT& p) {
         for (int i = 0; i < 2; ++i) {
           auto commit = std::make_unique<OutputT>(*p.outputs[2]);
           commit->type->element = ElementType::Bool;
           commit->slice = testing::SliceAt(Space::Private, commit->slice->offset(), 1);
           commit->role = OutputRole::Commit;
           p.outputs.push_back(std::move(commit));
         }
       },
       "has the role 'commit', as an output before it"},
      {"missing slice", [](ArtifactT&, ProgramT& p) { p.outputs[1]->slice = nullptr; }, "lacks a required field"},
  };
}

std::vector<Violation> OperationCases() {
  return {
      {"location", [](ArtifactT&, ProgramT& p) { p.instructions[1]->loc = 5; },
       "instruction 1 (launch): location 5 of 2"},
      {"kind of operations",
       [](ArtifactT&, ProgramT& p) {
         p.instructions[1]->operations.emplace_back(static_cast<OperationKind>(9), Precision::Single, 1);
       },
       "instruction 1 (launch): has operations of an unknown kind"},
      {"precision of operations",
       [](ArtifactT&, ProgramT& p) {
         p.instructions[1]->operations.emplace_back(OperationKind::Vector, static_cast<Precision>(9), 1);
       },
       "instruction 1 (launch): has operations of an unknown kind"},
      {"negative operations",
       [](ArtifactT&, ProgramT& p) {
         p.instructions[1]->operations.emplace_back(OperationKind::Vector, Precision::Single, -1);
       },
       "instruction 1 (launch): has a number of operations that is negative or not finite"},
      {"unknown phase", [](ArtifactT&, ProgramT& p) { p.instructions[1]->phase = static_cast<Phase>(4); },
       "instruction 1 (launch): is of an unknown phase"},
      {"a scope that is not there",
       [](ArtifactT&, ProgramT& p) { p.scopes = {"", "mlp"}, p.instructions[1]->scope = 2; },
       "instruction 1 (launch): scope 2 of 2"},
      {"kernel", [](ArtifactT&, ProgramT& p) { LaunchIn(p).kernel = 2; },
       "instruction 1 (launch): kernel 2 does not exist (there are 2)"},
      {"grain", [](ArtifactT&, ProgramT& p) { LaunchIn(p).grain = 0; }, "grain"},
      {"empty group", [](ArtifactT&, ProgramT& p) { GroupIn(p).launches.clear(); }, "the group has no launches"},
      {"dependent group", [](ArtifactT&, ProgramT& p) { GroupIn(p); },
       "(launch_group): a launch of the group writes what another one touches"},
      {"reader in a group",
       [](ArtifactT&, ProgramT& p) {
         LaunchGroupT& group = GroupIn(p);
         std::swap(group.launches[1]->buffers[0], group.launches[1]->buffers[1]);
       },
       "a launch of the group writes what another one touches"},
      {"combined kernel", [](ArtifactT&, ProgramT& p) { CombinedIn(p).kernel = 7; },
       "combined kernel 7 does not exist (there are 2)"},
      {"combined launch", [](ArtifactT&, ProgramT& p) { CombinedIn(p).launches = {0, 2}; },
       "launch 2 of 2 is combined twice or does not exist"},
      {"launch combined twice", [](ArtifactT&, ProgramT& p) { CombinedIn(p).launches = {1, 0, 1}; },
       "launch 1 of 2 is combined twice or does not exist"},
      {"grain in a group", [](ArtifactT&, ProgramT& p) { GroupIn(p).launches[1]->grain = 0; },
       "launch 1: the grain must be"},
      {"kernel in a group", [](ArtifactT&, ProgramT& p) { GroupIn(p).launches[0]->kernel = 9; },
       "launch 0: kernel 9 does not exist"},
      {"buffer in a group",
       [](ArtifactT&, ProgramT& p) { GroupIn(p).launches[1]->buffers[1] = Slice(Space::Window, 0, 257); },
       "launch 1: buffer 1"},
      {"parts of a combined kernel",
       [](ArtifactT& a, ProgramT& p) {
         CombinedLaunchesT& combined = CombinedIn(p);
         combined.launches = {0, 1}, combined.kernel = AddCombined(a, {0});
       },
       "2 launches are combined where kernel 'group' is made of 1"},
      {"other parts of a combined kernel",
       [](ArtifactT& a, ProgramT& p) {
         CombinedLaunchesT& combined = CombinedIn(p);
         combined.launches = {0, 1}, combined.kernel = AddCombined(a, {0, 1});
       },
       "launch 1 is of kernel 0 where kernel 'group' has kernel 1"},
      {"combined kernel alone", [](ArtifactT& a, ProgramT& p) { LaunchIn(p).kernel = AddCombined(a, {0}); },
       "kernel 'group' does not run alone"},
      {"part alone", [](ArtifactT& a, ProgramT&) { a.kernels[0]->only_combined = true; },
       "kernel 'scale' does not run alone"},
      {"range", [](ArtifactT&, ProgramT& p) { LaunchIn(p).range = UINT64_MAX; }, "is larger than the 64 of kernel"},
      {"range by one", [](ArtifactT&, ProgramT& p) { LaunchIn(p).range = 65; },
       "(launch): the range 65 is larger than the 64 of kernel 'scale'"},
      {"no buffers", [](ArtifactT&, ProgramT& p) { LaunchIn(p).buffers.clear(); },
       "(launch): 0 buffers with 1 outputs where kernel 'scale' takes 2 with 1"},
      {"too many buffers", [](ArtifactT&, ProgramT& p) { LaunchIn(p).buffers.push_back(LaunchIn(p).buffers[1]); },
       "3 buffers with 1 outputs where kernel 'scale' takes 2 with 1"},
      {"outputs", [](ArtifactT&, ProgramT& p) { LaunchIn(p).outputs = 2; },
       "2 buffers with 2 outputs where kernel 'scale' takes 2 with 1"},
      {"small buffer", [](ArtifactT&, ProgramT& p) { LaunchIn(p).buffers[0] = Slice(Space::Private, 640, 252); },
       "buffer 0 has 252 bytes where kernel 'scale' needs 256"},
      {"shared output", [](ArtifactT&, ProgramT& p) { LaunchIn(p).buffers[1] = Slice(Space::Private, 832, 256); },
       "an output buffer overlaps another buffer"},
      {"no coordinate", [](ArtifactT&, ProgramT& p) { LaunchIn(p).coordinates.clear(); },
       "0 coordinates where kernel 'scale' takes 1"},
      {"unknown interface", [](ArtifactT& a, ProgramT&) { *a.kernels[0] = KernelT(), a.kernels[0]->symbol = "scale"; },
       "2 buffers with 1 outputs where kernel 'scale' takes 0 with 0"},
      {"buffer", [](ArtifactT&, ProgramT& p) { LaunchIn(p).buffers[1] = Slice(Space::Window, 0, 257); },
       "buffer 1: 257 bytes at 0"},
      {"unaligned buffer", [](ArtifactT&, ProgramT& p) { LaunchIn(p).buffers[1] = Slice(Space::Private, 900, 256); },
       "buffer 1 is not aligned to 64 bytes"},
      {"constant output", [](ArtifactT&, ProgramT& p) { LaunchIn(p).buffers[1] = Slice(Space::Constant, 0, 256); },
       "output buffer 1 is in the constants, which are read-only"},
      {"coordinate", [](ArtifactT&, ProgramT& p) { LaunchIn(p).coordinates[0]->axes = {AxisRef(0, 2, 2)}; },
       "coordinate: "},
      {"a extent", [](ArtifactT&, ProgramT& p) { MatmulIn(p).a_m = 9; },
       "instruction 0 (matmul): A reaches 35 elements of f32 in a slice of 128 bytes"},
      {"complex product", [](ArtifactT&, ProgramT& p) { MatmulIn(p).element = ElementType::C64; },
       "unknown element type"},
      {"complex factor", [](ArtifactT&, ProgramT& p) { MatmulIn(p).b_element = ElementType::C64; },
       "element types that do not go together"},
      {"complex reduction", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).operands[0]->element = ElementType::C64; },
       "unknown element type"},
      {"negative", [](ArtifactT&, ProgramT& p) { MatmulIn(p).b_n = -1; }, "B has a negative stride"},
      // The reach of an empty operand is computed too.
      {"negative and empty", [](ArtifactT&, ProgramT& p) { MatmulIn(p).k = 0, MatmulIn(p).a_m = -1; },
       "A has a negative stride"},
      {"far and empty", [](ArtifactT&, ProgramT& p) { MatmulIn(p).k = 0, MatmulIn(p).a_m = INT64_MAX / 4; },
       "A has more than 2^48 elements"},
      {"far and alone", [](ArtifactT&, ProgramT& p) { MatmulIn(p).k = 1, MatmulIn(p).a_k = INT64_MAX; },
       "A has more than 2^48 elements"},
      {"overflow", [](ArtifactT&, ProgramT& p) { MatmulIn(p).b_n = INT64_MAX; }, "B has more than 2^48 elements"},
      {"huge m", [](ArtifactT&, ProgramT& p) { MatmulIn(p).m = UINT64_MAX; }, "a dimension is larger than 2^48"},
      {"c shared", [](ArtifactT&, ProgramT& p) { MatmulIn(p).c_m = 8; }, "let two elements share one address"},
      {"c constant", [](ArtifactT&, ProgramT& p) { MatmulIn(p).c = testing::SliceAt(Space::Constant, 0, 512); },
       "read-only"},
      {"c overlaps", [](ArtifactT&, ProgramT& p) { MatmulIn(p).c = testing::SliceAt(Space::Private, 64, 256); },
       "C overlaps A or B"},
      {"batch length", [](ArtifactT&, ProgramT& p) { MatmulIn(p).batch_dims = {1}; },
       "batch dimensions and batch strides"},
      {"no bias", [](ArtifactT&, ProgramT& p) { MatmulIn(p).epilogue = {EpilogueStep::Bias}; },
       "no operand bias for epilogue step bias"},
      {"epilogue", [](ArtifactT&, ProgramT& p) { MatmulIn(p).epilogue = {static_cast<EpilogueStep>(9)}; },
       "unknown epilogue"},
      {"long epilogue", [](ArtifactT&, ProgramT& p) { MatmulIn(p).epilogue.assign(1000, EpilogueStep::Residual); },
       "an epilogue of 1000 steps"},
      {"epilogue twice",
       [](ArtifactT&, ProgramT& p) { MatmulIn(p).epilogue = {EpilogueStep::Residual, EpilogueStep::Residual}; },
       "residual after residual"},
      {"order", [](ArtifactT&, ProgramT& p) { MatmulIn(p).epilogue = {EpilogueStep::Relu, EpilogueStep::Bias}; },
       "bias after relu"},
      {"no aux", [](ArtifactT&, ProgramT& p) { MatmulIn(p).epilogue = {EpilogueStep::GeluGradient}; },
       "no operand aux for epilogue step gelu_gradient"},
      {"aux alone", [](ArtifactT&, ProgramT& p) { MatmulIn(p).aux = testing::SliceAt(Space::Private, 0, 256); },
       "an operand aux that no epilogue step needs"},
      {"two activations",
       [](ArtifactT&, ProgramT& p) { MatmulIn(p).epilogue = {EpilogueStep::Relu, EpilogueStep::Gelu}; },
       "gelu after relu"},
      {"reduction of a residual",
       [](ArtifactT&, ProgramT& p) { MatmulIn(p).epilogue = {EpilogueStep::Residual, EpilogueStep::LhsReduction}; },
       "lhs_reduction with another step"},
      {"aux overlaps",
       [](ArtifactT&, ProgramT& p) {
         MatmulIn(p).epilogue = {EpilogueStep::Gelu}, MatmulIn(p).aux = testing::SliceAt(Space::Private, 64, 256);
       },
       "aux overlaps another operand"},
      {"tf32 of bf16",
       [](ArtifactT&, ProgramT& p) { MatmulIn(p).element = ElementType::BF16, MatmulIn(p).allows_tf32 = true; },
       "TF32 is for f32 alone"},
      {"f8 into f8", [](ArtifactT&, ProgramT& p) { MatmulIn(p).element = ElementType::F8E4M3FN; },
       "element types that do not go together"},
      {"rhs of another type", [](ArtifactT&, ProgramT& p) { MatmulIn(p).b_element = ElementType::F16; },
       "element types that do not go together"},
      {"reduction alone",
       [](ArtifactT&, ProgramT& p) { MatmulIn(p).reduction = testing::SliceAt(Space::Private, 0, 256); },
       "an operand reduction that no epilogue step needs"},
      {"no reduction", [](ArtifactT&, ProgramT& p) { MatmulIn(p).epilogue = {EpilogueStep::LhsReduction}; },
       "no operand reduction for epilogue step lhs_reduction"},
      {"reduction overlaps",
       [](ArtifactT&, ProgramT& p) {
         MatmulIn(p).epilogue = {EpilogueStep::RhsReduction},
         MatmulIn(p).reduction = testing::SliceAt(Space::Private, 64, 256);
       },
       "reduction overlaps another operand"},
      {"workspace", [](ArtifactT&, ProgramT& p) { MatmulIn(p).workspace = testing::SliceAt(Space::Private, 0, 64); },
       "the workspace overlaps an operand"},
      {"copy size", [](ArtifactT&, ProgramT& p) { CopyIn(p).source = testing::SliceAt(Space::Private, 0, 255); },
       "instruction 2 (copy): the source is smaller than the target"},
      {"copy overlap", [](ArtifactT&, ProgramT& p) { CopyIn(p).source = testing::SliceAt(Space::Window, 0, 256); },
       "overlap"},
      {"copy to constants",
       [](ArtifactT&, ProgramT& p) { CopyIn(p).target = testing::SliceAt(Space::Constant, 0, 256); },
       "target is in the constants, which are read-only"},
      {"fill pattern", [](ArtifactT&, ProgramT& p) { FillIn(p).pattern.clear(); },
       "instruction 6 (fill): a pattern of 0 bytes"},
      {"fill size", [](ArtifactT&, ProgramT& p) { FillIn(p).pattern = {1, 2, 3}; }, "not a whole number of patterns"},
      {"collective kind", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).kind = static_cast<CollectiveKind>(9); },
       "unknown kind of collective"},
      {"collective reduce", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).reduce = static_cast<ReduceKind>(9); },
       "unknown kind of reduction"},
      {"collective axes", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).axes = {AxisRef(0, 1, 3)}; },
       "instruction 3 (all_reduce): "},
      {"collective space",
       [](ArtifactT&, ProgramT& p) { AllReduceIn(p).operands[0]->source = testing::SliceAt(Space::Private, 0, 256); },
       "the source of operand 0 is not in the window"},
      {"collective count", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).operands[0]->count = 65; },
       "reaches 65 elements"},
      {"no operands", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).operands.clear(); }, "without operands"},
      {"scatter", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).kind = CollectiveKind::ReduceScatter; },
       "instruction 3 (reduce_scatter)"},
      {"permute", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).kind = CollectiveKind::Permute; },
       "source axes of a permute"},
      {"range kind", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).kind = CollectiveKind::GatherRange; },
       "an operand has a range exactly when ranges are gathered"},
      {"range of an all-reduce",
       [](ArtifactT&, ProgramT& p) { AllReduceIn(p).operands[0]->range = std::make_unique<TileRangeT>(); },
       "an operand has a range exactly when ranges are gathered"},
      {"range divisor", [](ArtifactT&, ProgramT& p) { RangeIn(p).divisor = 0; }, "a divisor or a step of zero"},
      {"range tiles", [](ArtifactT&, ProgramT& p) { RangeIn(p).size = 1 << 20; }, "do not hold 1048576"},
      {"range number", [](ArtifactT&, ProgramT& p) { RangeIn(p).step = uint64_t{1} << 60; }, "larger than 2^48"},
      {"range scale", [](ArtifactT&, ProgramT& p) { RangeIn(p).scale = INT64_MIN; }, "beyond 2^62"},
      {"range count", [](ArtifactT&, ProgramT& p) { RangeIn(p).tile = 64; }, "its dimensions say 64"},
      {"range target", [](ArtifactT&, ProgramT& p) { RangeIn(p).length = 1 << 20; }, "the target of operand 0"},
      {"range rows without elements",
       [](ArtifactT&, ProgramT& p) {
         RangeIn(p);
         AllReduceIn(p).operands[0]->outer = uint64_t{1} << 60, AllReduceIn(p).operands[0]->inner = 0;
       },
       "an operand has more than 2^62 bytes"},
      {"range axes",
       [](ArtifactT&, ProgramT& p) {
         RangeIn(p);
         AllReduceIn(p).to_axes = {AxisRef(0, 1, 3)};
       },
       "instruction 3 (gather_range)"},
      {"no operation", [](ArtifactT&, ProgramT& p) { p.instructions[0]->op.Reset(); }, "lacks a required field"},
  };
}

TEST(Verify, AcceptsTheSample) {
  EXPECT_EQ(ErrorAfter([](ArtifactT&, ProgramT&) {}), "");
}

TEST(Verify, RefusesEachViolation) {
  for (const auto& cases : {RootCases(), TensorCases(), OperationCases()}) ExpectRefused(cases);
}

// Of a device with memory of its own, which copies alone may reach.
TEST(Verify, HostMemoryIsForCopies) {
  const auto error_after = [](const std::function<void(ProgramT&)>& change) {
    return ErrorAfter([&](ArtifactT& artifact, ProgramT& program) {
      artifact.target = "cuda";
      artifact.cpu_features.clear();
      artifact.host_bytes = 256;
      change(program);
    });
  };
  const auto at_host = [](uint64_t offset, uint64_t size) { return testing::SliceAt(Space::Host, offset, size); };
  // The program is accepted; the sample's kernels are a CPU's.
  const auto is_accepted = ::testing::HasSubstr("section 'kernels' holds more than its modules");
  EXPECT_THAT(error_after([&](ProgramT& p) { CopyIn(p).target = at_host(0, 256); }), is_accepted);
  EXPECT_THAT(error_after([&](ProgramT& p) { p.inputs[0]->slice = at_host(128, 128); }), is_accepted);
  EXPECT_THAT(error_after([&](ProgramT& p) { CopyIn(p).target = at_host(64, 256); }),
              ::testing::HasSubstr("target: 256 bytes at 64 are outside of the Host space of 256 bytes"));
  EXPECT_THAT(error_after([&](ProgramT& p) { p.inputs[0]->slice = at_host(192, 128); }),
              ::testing::HasSubstr("128 bytes at 192 are outside of the Host space of 256 bytes"));
  EXPECT_THAT(error_after([&](ProgramT& p) {
                CopyIn(p).source = at_host(0, 64);
                CopyIn(p).target = at_host(64, 64);
              }),
              ::testing::HasSubstr("source and target are both in host memory"));
  EXPECT_THAT(error_after([&](ProgramT& p) { FillIn(p).target = at_host(0, FillIn(p).target->size()); }),
              ::testing::HasSubstr("target is in host memory, which copies alone touch"));
  EXPECT_THAT(error_after([&](ProgramT& p) { LaunchIn(p).buffers[0] = Slice(Space::Host, 0, 256); }),
              ::testing::HasSubstr("in host memory, which copies alone touch"));
}

TEST(Verify, EmptyMatmulsNeedNoStorage) {
  EXPECT_EQ(ErrorAfter([](ArtifactT&, ProgramT& p) {
              MatmulIn(p).k = 0;
              MatmulIn(p).a = testing::SliceAt(Space::Private, 0, 0);
              MatmulIn(p).b = testing::SliceAt(Space::Private, 0, 0);
            }),
            "");
}

}  // namespace
}  // namespace sgd::artifact
