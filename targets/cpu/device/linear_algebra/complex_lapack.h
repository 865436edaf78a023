// LAPACK's routines for complex matrices; lapack_library.h opens them.
#pragma once

#include <complex>
#include <cstddef>

namespace sgd::cpu {

// As LapackRoutines, for complex matrices of R. Working memory beside `work` is real.
template <typename R>
struct ComplexLapackRoutines {
  using C = std::complex<R>;

  void (*trsm)(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
               const C* alpha, const C* a, const int* lda, C* b, const int* ldb, size_t, size_t, size_t, size_t);
  void (*potrf)(const char* uplo, const int* n, C* a, const int* lda, int* info, size_t);
  void (*getrf)(const int* m, const int* n, C* a, const int* lda, int* pivots, int* info);
  void (*geqrf)(const int* m, const int* n, C* a, const int* lda, C* tau, C* work, const int* lwork, int* info);
  void (*geqp3)(const int* m, const int* n, C* a, const int* lda, int* pivots, C* tau, C* work, const int* lwork,
                R* rwork, int* info);
  void (*ungqr)(const int* m, const int* n, const int* k, C* a, const int* lda, const C* tau, C* work, const int* lwork,
                int* info);
  void (*unmqr)(const char* side, const char* trans, const int* m, const int* n, const int* k, const C* a,
                const int* lda, const C* tau, C* c, const int* ldc, C* work, const int* lwork, int* info, size_t,
                size_t);
  void (*heevd)(const char* job, const char* uplo, const int* n, C* a, const int* lda, R* w, C* work, const int* lwork,
                R* rwork, const int* lrwork, int* iwork, const int* liwork, int* info, size_t, size_t);
  void (*gesdd)(const char* job, const int* m, const int* n, C* a, const int* lda, R* s, C* u, const int* ldu, C* vt,
                const int* ldvt, C* work, const int* lwork, R* rwork, int* iwork, int* info, size_t);
  void (*gesvd)(const char* job_u, const char* job_vt, const int* m, const int* n, C* a, const int* lda, R* s, C* u,
                const int* ldu, C* vt, const int* ldvt, C* work, const int* lwork, R* rwork, int* info, size_t, size_t);
  void (*geev)(const char* job_left, const char* job_right, const int* n, C* a, const int* lda, C* values, C* left,
               const int* ldleft, C* right, const int* ldright, C* work, const int* lwork, R* rwork, int* info, size_t,
               size_t);
  void (*gees)(const char* job, const char* sort, void* select, const int* n, C* a, const int* lda, int* sorted,
               C* values, C* vectors, const int* ldvectors, C* work, const int* lwork, R* rwork, int* flags, int* info,
               size_t, size_t);
  void (*gehrd)(const int* n, const int* low, const int* high, C* a, const int* lda, C* tau, C* work, const int* lwork,
                int* info);
  void (*hetrd)(const char* uplo, const int* n, C* a, const int* lda, R* diagonal, R* off_diagonal, C* tau, C* work,
                const int* lwork, int* info, size_t);
  void (*gtsv)(const int* n, const int* columns, C* lower, C* diagonal, C* upper, C* b, const int* ldb, int* info);
};

}  // namespace sgd::cpu
