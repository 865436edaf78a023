# sgd_kernel_suite(TARGET CODEGEN): the tests of kernels by value for one target, which brings compiled_kernels.cpp in its test folder.
# Further arguments: more sources of the target's own.
function(sgd_kernel_suite target codegen)
  set(suite ${CMAKE_SOURCE_DIR}/tests/targets/kernels)
  set(runner compiled_kernels.cpp ${suite}/kernel_check.cpp ${suite}/kernel_runner.cpp ${suite}/reference.cpp)
  sgd_mlir_test(${target}_kernels_test
    SRCS ${suite}/float8_test.cpp ${suite}/pointwise_test.cpp ${suite}/reductions_test.cpp ${suite}/rows_test.cpp ${ARGN} ${runner}
    DEPS sgd_reference ${codegen})
  sgd_mlir_test(${target}_math_test
    SRCS ${suite}/math_test.cpp compiled_kernels.cpp ${suite}/kernel_runner.cpp
    DEPS ${codegen})
  sgd_mlir_test(${target}_random_programs_test
    SRCS ${suite}/random_programs_test.cpp ${runner}
    DEPS sgd_reference ${codegen} sgd_passes_kernels_clusters)
endfunction()
