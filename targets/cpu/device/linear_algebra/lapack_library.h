// LAPACK, opened when an artifact needs it: it comes with the system and not with us, and no other program starts
// slower for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "targets/cpu/device/linear_algebra/complex_lapack.h"

namespace sgd::cpu {

// A size of a form, each of which LAPACK's integers hold.
inline int LapackInt(uint64_t size) { return static_cast<int>(size); }

// Routines of LAPACK (and trsm of BLAS) for one element type, as Fortran has them: everything by address, matrices
// column-major, and the length of each text (1) as further arguments at the end.
template <typename T>
struct LapackRoutines {
  void (*trsm)(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
               const T* alpha, const T* a, const int* lda, T* b, const int* ldb, size_t, size_t, size_t, size_t);
  void (*potrf)(const char* uplo, const int* n, T* a, const int* lda, int* info, size_t);
  void (*getrf)(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);
  void (*geqrf)(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info);
  void (*geqp3)(const int* m, const int* n, T* a, const int* lda, int* pivots, T* tau, T* work, const int* lwork,
                int* info);
  void (*orgqr)(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work, const int* lwork,
                int* info);
  void (*ormqr)(const char* side, const char* trans, const int* m, const int* n, const int* k, const T* a,
                const int* lda, const T* tau, T* c, const int* ldc, T* work, const int* lwork, int* info, size_t,
                size_t);
  void (*syevd)(const char* job, const char* uplo, const int* n, T* a, const int* lda, T* w, T* work, const int* lwork,
                int* iwork, const int* liwork, int* info, size_t, size_t);
  void (*gesdd)(const char* job, const int* m, const int* n, T* a, const int* lda, T* s, T* u, const int* ldu, T* vt,
                const int* ldvt, T* work, const int* lwork, int* iwork, int* info, size_t);
  void (*gesvd)(const char* job_u, const char* job_vt, const int* m, const int* n, T* a, const int* lda, T* s, T* u,
                const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, int* info, size_t, size_t);
  void (*geev)(const char* job_left, const char* job_right, const int* n, T* a, const int* lda, T* real, T* imaginary,
               T* left, const int* ldleft, T* right, const int* ldright, T* work, const int* lwork, int* info, size_t,
               size_t);
  void (*gees)(const char* job, const char* sort, void* select, const int* n, T* a, const int* lda, int* sorted,
               T* real, T* imaginary, T* vectors, const int* ldvectors, T* work, const int* lwork, int* flags,
               int* info, size_t, size_t);
  void (*gehrd)(const int* n, const int* low, const int* high, T* a, const int* lda, T* tau, T* work, const int* lwork,
                int* info);
  void (*sytrd)(const char* uplo, const int* n, T* a, const int* lda, T* diagonal, T* off_diagonal, T* tau, T* work,
                const int* lwork, int* info, size_t);
  void (*gtsv)(const int* n, const int* columns, T* lower, T* diagonal, T* upper, T* b, const int* ldb, int* info);
};

class LapackLibrary {
 public:
  // The library that SGD_LAPACK names, else the system's OpenBLAS. It computes each matrix on the thread that calls it.
  // FailedPrecondition, saying what to install, when there is none or it lacks a routine.
  static absl::StatusOr<std::unique_ptr<const LapackLibrary>> Open();

  ~LapackLibrary();
  LapackLibrary(const LapackLibrary&) = delete;
  LapackLibrary& operator=(const LapackLibrary&) = delete;

  // Everything that influences bits: names and versions of the library, and the kind of CPU that it has chosen kernels
  // for.
  const std::string& version() const { return version_; }

  // Whether several threads may call it at a time. An OpenBLAS that is built without threads shares working memory
  // between calls without a lock, and then gives wrong results.
  bool is_concurrent() const { return is_concurrent_; }

  template <typename T>
  const LapackRoutines<T>& routines() const;
  // For complex matrices of T.
  template <typename T>
  const ComplexLapackRoutines<T>& complex_routines() const;

 private:
  explicit LapackLibrary(void* handle) : handle_(handle) {}
  absl::Status Find(const char* symbol, void** function) const;
  template <typename T>
  absl::Status FindAll(char prefix, LapackRoutines<T>& routines) const;
  template <typename T>
  absl::Status FindAll(char prefix, ComplexLapackRoutines<T>& routines) const;
  absl::Status FindEach(char prefix, std::span<const std::pair<const char*, void**>> wanted) const;
  absl::Status Initialize();

  void* handle_;
  std::string path_;
  std::string version_;
  bool is_concurrent_ = false;
  LapackRoutines<float> floats_{};
  LapackRoutines<double> doubles_{};
  ComplexLapackRoutines<float> complex_floats_{};
  ComplexLapackRoutines<double> complex_doubles_{};
};

template <>
inline const LapackRoutines<float>& LapackLibrary::routines<float>() const {
  return floats_;
}
template <>
inline const LapackRoutines<double>& LapackLibrary::routines<double>() const {
  return doubles_;
}
template <>
inline const ComplexLapackRoutines<float>& LapackLibrary::complex_routines<float>() const {
  return complex_floats_;
}
template <>
inline const ComplexLapackRoutines<double>& LapackLibrary::complex_routines<double>() const {
  return complex_doubles_;
}

}  // namespace sgd::cpu
