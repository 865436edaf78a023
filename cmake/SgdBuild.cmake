# Flags and target functions for the whole tree: a CMake target is a folder, and it lists the folders it may include.

find_program(SGD_CCACHE ccache)
if(SGD_CCACHE)
  # Precompiled headers are only cacheable when ccache may ignore their definitions and time macros.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1 ${SGD_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

add_compile_options(-Wall -Wextra -Werror -Wno-unused-parameter)
add_link_options(-fuse-ld=lld)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options(-fcolor-diagnostics)
endif()
if(SGD_SANITIZE)
  add_compile_options(-fsanitize=${SGD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g1)
  add_link_options(-fsanitize=${SGD_SANITIZE})
endif()

if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(CMAKE_PCH_INSTANTIATE_TEMPLATES ON)
  set(SGD_PCH_FLAGS -Xclang -fno-pch-timestamp)
  # ccache makes the path of -include-pch relative, not CMake's `-Xclang -include-pch`.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
endif()

# sgd_precompiled_header(NAME HEADERS a.h ... FLAGS ...): the last of HEADERS, of cmake/, compiled once; it includes those before it.
# Targets with the same flags take it by REUSE_FROM.
function(sgd_precompiled_header name)
  cmake_parse_arguments(ARG "" "" "HEADERS;FLAGS" ${ARGN})
  list(TRANSFORM ARG_HEADERS PREPEND ${CMAKE_SOURCE_DIR}/cmake/)
  list(GET ARG_HEADERS -1 header)
  add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/cmake/pch.cpp)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${ARG_FLAGS} ${SGD_PCH_FLAGS})
  target_precompile_headers(${name} PRIVATE ${header})
  # ccache takes this sum in place of the compiled file, which holds the checkout's path: so objects are shared between checkouts.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARG_HEADERS})
  set(sum)
  foreach(header IN LISTS ARG_HEADERS)
    file(SHA256 ${header} header_sum)
    string(APPEND sum ${header_sum})
  endforeach()
  string(SHA256 sum "${sum} ${CMAKE_CXX_COMPILER_VERSION} ${MLIR_VERSION} ${CMAKE_CXX_FLAGS} ${CMAKE_BUILD_TYPE} ${ARG_FLAGS} ${SGD_SANITIZE}")
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch.sum ${sum})
endfunction()

find_package(Threads REQUIRED)
sgd_precompiled_header(sgd_runtime_pch HEADERS runtime_pch.h)
if(SGD_BUILD_TESTS)
  find_package(GTest REQUIRED)
  sgd_precompiled_header(sgd_test_pch HEADERS runtime_pch.h test_pch.h)
  target_link_libraries(sgd_test_pch PRIVATE GTest::gmock)
endif()

# sgd_library(NAME SRCS a.cpp ... DEPS target ...): a static library of one folder of the runtime half.
function(sgd_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  if(ARG_SRCS)
    add_library(${name} STATIC ${ARG_SRCS})
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
    target_link_libraries(${name} PUBLIC ${ARG_DEPS})
    target_compile_options(${name} PRIVATE ${SGD_PCH_FLAGS})
    target_precompile_headers(${name} REUSE_FROM sgd_runtime_pch)
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
  endif()
endfunction()

# Executables are compiled as libraries are (-fPIC, not -fPIE), else they could not take a library's precompiled header.
function(sgd_reuse_in_executable name pch)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC ${SGD_PCH_FLAGS})
  target_precompile_headers(${name} REUSE_FROM ${pch})
endfunction()

# sgd_executable(NAME SRCS ... DEPS ...): a tool; installs nothing, lands in build/bin.
function(sgd_executable name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  sgd_reuse_in_executable(${name} sgd_runtime_pch)
endfunction()

# sgd_test(NAME SRCS ... DEPS ... [LABELS ...]): a GoogleTest binary of the runtime half, registered as one ctest test.
function(sgd_test name)
  sgd_gtest(${name} ${ARGN})
  sgd_reuse_in_executable(${name} sgd_test_pch)
endfunction()

# What tests of both halves share.
function(sgd_gtest name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS "unit;${ARG_LABELS}")
endfunction()
