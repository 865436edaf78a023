// Requests as attributes and keys.
#include "compiler/request/request.h"

#include "dialects/sgd/programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"

namespace mlir::sgd {
namespace {

using ::testing::HasSubstr;

/// With no field at its default.
Request getSample() {
  Request request;
  request.programs = {{"train", "step.mlir"}, {"eval", "a \"quoted\" file.mlir"}};
  request.level = EmitLevel::Spmd;
  CompileOptions& options = request.options;
  options.recipeFile = "r.json";
  options.recipe = "{\"mesh\": {\"data\": 4}}\n";
  options.mesh = {{"model", 2}, {"data", 4}};
  options.sequential = MeshAxisSize{"micro", 8};
  options.refuseSplit = true;
  options.target = "cuda:sm_90";
  options.cpu = "x86-64-v3";
  options.loss = "result[1]['loss']";
  options.isForSimulation = true;
  options.omitsDescription = true;
  options.memoryLimit = uint64_t{1} << 40;
  options.topology = "h100";
  options.tileScratch = 0;
  options.unrolledOps = 0;
  options.shardUpdates = false;
  options.weighConstraints = true;
  options.allowTf32 = true;
  options.keepUnreduced = true;
  return request;
}

struct RequestAttribute : testing::Test {
  RequestAttribute() {
    context.loadDialect<SgdDialect>();
    module = ModuleOp::create(FileLineColLoc::get(&context, "request.mlir", 1, 1));
  }

  /// What Request::read says of a module with this attribute.
  std::string errorOf(StringRef attribute) {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic& diagnostic) {
      message = diagnostic.str();
      return success();
    });
    Attribute parsed = parseAttribute(attribute, &context);
    if (!parsed) return message;
    module.get()->setAttr(kRequestAttr, parsed);
    return succeeded(Request::read(*module)) ? "accepted" : message;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(RequestAttribute, ComesBackFromItsText) {
  Request sample = getSample();
  std::string text;
  llvm::raw_string_ostream(text) << sample.toAttr(&context);
  Attribute parsed = parseAttribute(text, &context);
  ASSERT_EQ(parsed, sample.toAttr(&context)) << text;
  module.get()->setAttr(kRequestAttr, parsed);
  FailureOr<Request> read = Request::read(*module);
  ASSERT_TRUE(succeeded(read));
  EXPECT_EQ(read->getKey(), sample.getKey());
  EXPECT_EQ(read->toAttr(&context), parsed);
}

TEST_F(RequestAttribute, DefaultsAreLeftOut) {
  Request request;
  EXPECT_EQ(request.toAttr(&context).getFields().size(), 3u) << "target, cpu and shard_updates";
  module.get()->setAttr(kRequestAttr, request.toAttr(&context));
  FailureOr<Request> read = Request::read(*module);
  ASSERT_TRUE(succeeded(read));
  EXPECT_EQ(read->getKey(), request.getKey());
}

TEST_F(RequestAttribute, WhatCannotBeReadIsNamed) {
  EXPECT_THAT(errorOf("unit"), HasSubstr("'sgd.request' is missing"));
  EXPECT_THAT(errorOf("#sgd.request<version = 1, {}>"), HasSubstr("has version 1; expected version 2"));
  EXPECT_THAT(errorOf("#sgd.request<version = 2, {xyzzy = 1}>"), HasSubstr("has the field 'xyzzy'"));
  for (StringRef field : {"recipe = 1", "micro_refuse = false", "memory_limit = 1 : i32", "level = \"spdm\"",
                          "mesh = [1]", "programs = [[\"main\"]]", "micro = \"micro\""}) {
    std::string name = field.split(' ').first.str();
    EXPECT_THAT(errorOf(("#sgd.request<version = 2, {" + field + "}>").str()), HasSubstr("has the field '" + name))
        << field.str();
  }
}

/// Each field on its own makes another key.
TEST(RequestKey, DependsOnEachField) {
  const Request sample = getSample();
  std::vector<Request> others(21, sample);
  size_t next = 0;
  auto change = [&](auto&& how) { how(others[next++]); };
  change([](Request& request) { request.programs.front().name = "main"; });
  change([](Request& request) { request.programs.front().file = "other.mlir"; });
  change([](Request& request) { request.level = EmitLevel::Graph; });
  change([](Request& request) { request.options.recipeFile = "s.json"; });
  change([](Request& request) { request.options.recipe += " "; });
  change([](Request& request) { std::swap(request.options.mesh[0], request.options.mesh[1]); });
  change([](Request& request) { request.options.sequential->size = 4; });
  change([](Request& request) { request.options.refuseSplit = false; });
  change([](Request& request) { request.options.target = "cpu"; });
  change([](Request& request) { request.options.cpu = "native"; });
  change([](Request& request) { request.options.loss = ""; });
  change([](Request& request) { request.options.isForSimulation = false; });
  change([](Request& request) { request.options.omitsDescription = false; });
  change([](Request& request) { request.options.memoryLimit.reset(); });
  change([](Request& request) { request.options.topology = "a100"; });
  change([](Request& request) { request.options.tileScratch.reset(); });
  change([](Request& request) { request.options.unrolledOps.reset(); });
  change([](Request& request) { request.options.shardUpdates = true; });
  change([](Request& request) { request.options.weighConstraints = false; });
  change([](Request& request) { request.options.allowTf32 = false; });
  change([](Request& request) { request.options.keepUnreduced = false; });
  ASSERT_EQ(next, others.size());
  std::set<std::string> keys = {sample.getKey()};
  for (const Request& other : others) keys.insert(other.getKey());
  EXPECT_EQ(keys.size(), others.size() + 1);
}

}  // namespace
}  // namespace mlir::sgd
