// Enums of the plan as the artifact has them: equal numbers, which the assertions here hold.
#ifndef SGD_COMPILER_EXPORT_ENUMS_H
#define SGD_COMPILER_EXPORT_ENUMS_H

#include <initializer_list>
#include <utility>

#include "dialects/plan/plan_dialect.h"
#include "dialects/sgd/linear_algebra.h"
#include "runtime/artifact/program_generated.h"

namespace mlir::sgd {

namespace export_enums {

/// Whether the pairs are all enumerators of both enums, in order and with equal numbers.
template <typename From, typename To>
constexpr bool areEqual(std::initializer_list<std::pair<From, To>> pairs, uint64_t largest) {
  uint64_t next = 0;
  for (auto [from, to] : pairs) {
    if (static_cast<uint64_t>(from) != next || static_cast<uint64_t>(to) != next) return false;
    ++next;
  }
  return next == largest + 1 && next == static_cast<uint64_t>(To::MAX) + 1;
}

}  // namespace export_enums

inline ::sgd::artifact::Space getArtifactSpace(plan::Space space) {
  using From = plan::Space;
  using To = ::sgd::artifact::Space;
  static_assert(export_enums::areEqual<From, To>({{From::Private, To::Private},
                                                  {From::Window, To::Window},
                                                  {From::Constant, To::Constant},
                                                  {From::Scratch, To::Scratch},
                                                  {From::Host, To::Host}},
                                                 plan::getMaxEnumValForSpace()));
  return static_cast<To>(space);
}

inline ::sgd::artifact::LinearAlgebraKind getArtifactKind(LinearAlgebraKind kind) {
  using From = LinearAlgebraKind;
  using To = ::sgd::artifact::LinearAlgebraKind;
  static_assert(export_enums::areEqual<From, To>({{From::Cholesky, To::Cholesky},
                                                  {From::TriangularSolve, To::TriangularSolve},
                                                  {From::Lu, To::Lu},
                                                  {From::Qr, To::Qr},
                                                  {From::PivotedQr, To::PivotedQr},
                                                  {From::HouseholderProduct, To::HouseholderProduct},
                                                  {From::HouseholderMultiply, To::HouseholderMultiply},
                                                  {From::Eigh, To::Eigh},
                                                  {From::Svd, To::Svd},
                                                  {From::Eig, To::Eig},
                                                  {From::Schur, To::Schur},
                                                  {From::Hessenberg, To::Hessenberg},
                                                  {From::Tridiagonal, To::Tridiagonal},
                                                  {From::TridiagonalSolve, To::TridiagonalSolve},
                                                  {From::Fft, To::Fft},
                                                  {From::RealFft, To::RealFft},
                                                  {From::InverseRealFft, To::InverseRealFft}},
                                                 getMaxEnumValForLinearAlgebraKind()));
  return static_cast<To>(kind);
}

}  // namespace mlir::sgd

#endif
