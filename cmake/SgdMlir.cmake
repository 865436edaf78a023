# The half of the tree that links MLIR: one precompiled header for all of it, and TableGen rules.

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
find_program(SGD_MLIR_TBLGEN mlir-tblgen HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)

# MLIR's own code is built without RTTI users in mind and without exceptions. -O1: the compiler's speed is in LLVM's libraries.
set(SGD_MLIR_FLAGS -fno-rtti -fno-exceptions -O1 -Wno-unused-parameter)

add_library(sgd_mlir INTERFACE)
target_include_directories(sgd_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_include_directories(sgd_mlir INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
# Only the two shared libraries: a static libMLIR*.a beside them would duplicate TypeIDs.
target_link_libraries(sgd_mlir INTERFACE MLIR LLVM)

add_library(sgd_mlir_pch OBJECT ${CMAKE_SOURCE_DIR}/cmake/mlir_pch.cpp)
target_compile_options(sgd_mlir_pch PRIVATE ${SGD_MLIR_FLAGS})
target_link_libraries(sgd_mlir_pch PUBLIC sgd_mlir)
target_precompile_headers(sgd_mlir_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/mlir_pch.h)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(CMAKE_PCH_INSTANTIATE_TEMPLATES ON)
  target_compile_options(sgd_mlir_pch PRIVATE -Xclang -fno-pch-timestamp)
  # ccache makes the path of -include-pch relative, not CMake's `-Xclang -include-pch`, and takes the sum in place of the file, which
  # holds the checkout's path: so objects are shared between checkouts.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
  file(SHA256 ${CMAKE_SOURCE_DIR}/cmake/mlir_pch.h pch_sum)
  string(SHA256 pch_sum "${pch_sum} ${CMAKE_CXX_COMPILER_VERSION} ${MLIR_VERSION} ${CMAKE_CXX_FLAGS} ${CMAKE_BUILD_TYPE} ${SGD_MLIR_FLAGS} ${SGD_SANITIZE}")
  file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/sgd_mlir_pch.dir/cmake_pch.hxx.pch.sum ${pch_sum})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/mlir_pch.h)
endif()

# All generated headers: compiler libraries may include any of them.
add_custom_target(sgd_tablegen)

# sgd_mlir_library(NAME SRCS ... DEPS ...): a static library of one folder of the compiler half.
function(sgd_mlir_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SRCS})
  target_compile_options(${name} PRIVATE ${SGD_MLIR_FLAGS} -Xclang -fno-pch-timestamp)
  target_link_libraries(${name} PUBLIC sgd_mlir ${ARG_DEPS})
  target_precompile_headers(${name} REUSE_FROM sgd_mlir_pch)
  add_dependencies(${name} sgd_tablegen)
endfunction()

# sgd_mlir_executable(NAME SRCS ... DEPS ...)
function(sgd_mlir_executable name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  # -fPIC, not -fPIE: the precompiled header is built with it.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE ${SGD_MLIR_FLAGS} -fPIC -Xclang -fno-pch-timestamp)
  target_link_libraries(${name} PRIVATE sgd_mlir ${ARG_DEPS})
  target_precompile_headers(${name} REUSE_FROM sgd_mlir_pch)
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

# sgd_mlir_test(NAME SRCS ... DEPS ...): a GoogleTest binary over compiler libraries.
function(sgd_mlir_test name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS;LABELS" ${ARGN})
  sgd_test(${name} SRCS ${ARG_SRCS} DEPS sgd_mlir ${ARG_DEPS} LABELS ${ARG_LABELS})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE ${SGD_MLIR_FLAGS} -fPIC -Xclang -fno-pch-timestamp)
  target_precompile_headers(${name} REUSE_FROM sgd_mlir_pch)
  add_dependencies(${name} sgd_tablegen)
endfunction()
