// Work that no device would end is refused before it begins; work that takes long is not.
#include "runtime/artifact/verify_work.h"

#include "tests/runtime/artifact/violations.h"

namespace sgd::artifact {
namespace {

void AddLoop(ProgramT& program, uint32_t body, uint64_t trips) {
  LoopT loop;
  loop.body = body, loop.trips = trips;
  testing::Append(program, loop);
}

// A product of `k` multiplications for each of the sample's 64 results, from the same elements.
void AddProduct(ProgramT& program, uint64_t k) {
  MatmulT product = MatmulIn(program);
  product.k = k, product.a_k = product.b_k = 0;
  testing::Append(program, std::move(product));
}

TEST(VerifyWork, RefusesEndlessSteps) {
  ExpectRefused({
      {"trips", [](ArtifactT&, ProgramT& p) { AddLoop(p, 0, UINT64_MAX); },
       "instruction 7 (loop): a step has more than 1099511627776 trips of a loop"},
      {"trips of a loop in a loop",
       [](ArtifactT&, ProgramT& p) { AddLoop(p, 2, 1 << 20), AddLoop(p, 1, 1 << 20), AddProduct(p, 1); },
       "instruction 9 (matmul): a step has more than 1099511627776 executions of instructions"},
      {"multiplications", [](ArtifactT&, ProgramT& p) { AddLoop(p, 1, 1 << 21), AddProduct(p, uint64_t{1} << 40); },
       "instruction 8 (matmul): a step has more than 9223372036854775808 multiplications"},
      {"multiplications of too many",
       [](ArtifactT&, ProgramT& p) {
         for (int i = 0; i < 2; ++i) AddLoop(p, 1, 3 << 15), AddProduct(p, uint64_t{1} << 40);
       },
       "instruction 10 (matmul): a step has more than 9223372036854775808 multiplications"},
  });
  EXPECT_EQ(ErrorAfter([](ArtifactT&, ProgramT& p) { AddLoop(p, 1, 1 << 19), AddProduct(p, uint64_t{1} << 37); }), "");
}

}  // namespace
}  // namespace sgd::artifact
