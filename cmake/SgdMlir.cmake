# The half of the tree that links MLIR: one precompiled header for all of it, and TableGen rules.

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
find_program(SGD_MLIR_TBLGEN mlir-tblgen HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)

# MLIR's own code is built without RTTI users in mind and without exceptions. -O1: the compiler's speed is in LLVM's libraries.
set(SGD_MLIR_FLAGS -fno-rtti -fno-exceptions -O1 -Wno-unused-parameter)
# A test's own code is not hot: without optimisation it compiles in half the time.
set(SGD_MLIR_TEST_FLAGS -fno-rtti -fno-exceptions -O0 -Wno-unused-parameter)

add_library(sgd_mlir INTERFACE)
target_include_directories(sgd_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_include_directories(sgd_mlir INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
# Only the two shared libraries: a static libMLIR*.a beside them would duplicate TypeIDs. A target with the property
# SGD_LINKS_MLIR_ARCHIVES takes what it needs from LLVM's archives instead, and starts faster; all of it, for the same reason.
file(GLOB sgd_mlir_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
list(LENGTH sgd_mlir_archives count)
if(count GREATER 300)
  set(has_mlir_archives ON)
else()
  set(has_mlir_archives OFF)
endif()
option(SGD_MLIR_ARCHIVES "Link libsgd_compiler.so with LLVM's archives, not with its shared libraries" ${has_mlir_archives})
target_link_libraries(sgd_mlir INTERFACE
  "$<IF:$<BOOL:$<TARGET_PROPERTY:SGD_LINKS_MLIR_ARCHIVES>>,${sgd_mlir_archives};z;zstd,MLIR;LLVM>")

sgd_precompiled_header(sgd_mlir_pch HEADERS mlir_pch.h FLAGS ${SGD_MLIR_FLAGS})
target_link_libraries(sgd_mlir_pch PUBLIC sgd_mlir)
if(SGD_BUILD_TESTS)
  sgd_precompiled_header(sgd_mlir_test_pch HEADERS mlir_pch.h mlir_test_pch.h FLAGS ${SGD_MLIR_TEST_FLAGS})
  target_link_libraries(sgd_mlir_test_pch PUBLIC sgd_mlir GTest::gmock)
endif()

# All generated headers: compiler libraries may include any of them.
add_custom_target(sgd_tablegen)

# sgd_mlir_library(NAME SRCS ... DEPS ...): a static library of one folder of the compiler half.
function(sgd_mlir_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SRCS})
  target_compile_options(${name} PRIVATE ${SGD_MLIR_FLAGS} ${SGD_PCH_FLAGS})
  target_link_libraries(${name} PUBLIC sgd_mlir ${ARG_DEPS})
  target_precompile_headers(${name} REUSE_FROM sgd_mlir_pch)
  # Code of the runtime says `sgd::`, which is two namespaces once a source before it has opened MLIR's.
  set(header)
  if("${ARG_DEPS}" MATCHES "sgd_runtime_artifact|sgd_compiler_")
    set(header HEADER runtime/artifact/program_generated.h)
  endif()
  sgd_merge_sources(${name} ${header})
  add_dependencies(${name} sgd_tablegen)
endfunction()

# sgd_mlir_executable(NAME SRCS ... DEPS ...)
function(sgd_mlir_executable name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_compile_options(${name} PRIVATE ${SGD_MLIR_FLAGS})
  target_link_libraries(${name} PRIVATE sgd_mlir ${ARG_DEPS})
  sgd_reuse_in_executable(${name} sgd_mlir_pch)
  add_dependencies(${name} sgd_tablegen)
endfunction()

# sgd_run_tablegen(FILE.td OUT.inc -gen-...): runs mlir-tblgen; OUT lands beside FILE.td in the build tree.
function(sgd_run_tablegen td out)
  file(RELATIVE_PATH here ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(outfile ${CMAKE_BINARY_DIR}/${here}/${out})
  set(tdfile ${CMAKE_CURRENT_SOURCE_DIR}/${td})
  add_custom_command(OUTPUT ${outfile}
    COMMAND ${SGD_MLIR_TBLGEN} ${ARGN} -I ${CMAKE_SOURCE_DIR} -I ${MLIR_INCLUDE_DIRS} ${tdfile} -o ${outfile}
            --write-if-changed -d ${outfile}.d
    DEPENDS ${tdfile} DEPFILE ${outfile}.d VERBATIM)
  string(REPLACE "/" "_" target "tablegen_${here}_${out}")
  string(REPLACE "." "_" target ${target})
  add_custom_target(${target} DEPENDS ${outfile})
  add_dependencies(sgd_tablegen ${target})
endfunction()

# sgd_mlir_test(NAME SRCS ... DEPS ... [APART]): a GoogleTest binary over compiler libraries; APART as for sgd_test.
function(sgd_mlir_test name)
  cmake_parse_arguments(ARG "APART" "" "SRCS;DEPS;LABELS" ${ARGN})
  sgd_gtest(${name} SRCS ${ARG_SRCS} DEPS sgd_mlir ${ARG_DEPS} LABELS ${ARG_LABELS})
  if(NOT ARG_APART)
    sgd_merge_sources(${name})
  endif()
  target_compile_options(${name} PRIVATE ${SGD_MLIR_TEST_FLAGS})
  sgd_reuse_in_executable(${name} sgd_mlir_test_pch)
  add_dependencies(${name} sgd_tablegen)
endfunction()
