# SPDX-License-Identifier: Apache-2.0
# Fuzz targets: an ordinary, bounded and repeatable test in every build, a libFuzzer program with GRADSTORM_FUZZ=ON.

if(GRADSTORM_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "GRADSTORM_FUZZ needs Clang, this is ${CMAKE_CXX_COMPILER_ID}: "
    "configure with -DCMAKE_CXX_COMPILER=clang++ (packaging/setup fuzz installs it)")
endif()
if(GRADSTORM_FUZZ)
  # The libraries under test are instrumented too: without coverage of them libFuzzer searches blindly.
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

# gradstorm_fuzz_target(NAME SOURCES a_fuzz.cpp ... LINK lib ... [CORPUS dir] [RUNS n] [LABELS label ...])
# The sources define LLVMFuzzerTestOneInput. The test `NAME` feeds it every file of CORPUS (default: corpus/NAME beside
# the caller's CMakeLists.txt) and RUNS (default 20000) seeded mutations of them. With GRADSTORM_FUZZ, `NAME_libfuzzer`
# searches without bounds (CONTRIBUTING.md says how).
function(gradstorm_fuzz_target name)
  cmake_parse_arguments(arg "" "CORPUS;RUNS" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT arg_CORPUS)
    set(arg_CORPUS "${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name}")
  endif()
  if(NOT arg_RUNS)
    set(arg_RUNS 20000)
  endif()
  if(GRADSTORM_TESTS)
    add_executable(${name} ${arg_SOURCES} "${PROJECT_SOURCE_DIR}/tests/fuzz/bounded_driver.cpp")
    target_link_libraries(${name} PRIVATE ${arg_LINK} gradstorm_warnings)
    add_test(NAME ${name} COMMAND ${name} "${arg_CORPUS}" ${arg_RUNS})
    set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS "fuzz;sanitize;${arg_LABELS}")
    add_dependencies(gradstorm_sanitize_tests ${name})
  endif()
  if(GRADSTORM_FUZZ)
    add_executable(${name}_libfuzzer ${arg_SOURCES})
    target_link_libraries(${name}_libfuzzer PRIVATE ${arg_LINK} gradstorm_warnings)
    target_compile_options(${name}_libfuzzer PRIVATE -fsanitize=fuzzer)
    target_link_options(${name}_libfuzzer PRIVATE -fsanitize=fuzzer)
  endif()
endfunction()
