# SPDX-License-Identifier: Apache-2.0
# The two kinds of targets of this tree, each made by one function.

# What the sanitizer builds have to build: the programs whose tests carry the label `sanitize` (address and undefined
# behaviour) or `tsan` (threads).
add_custom_target(gradstorm_sanitize_tests)
add_custom_target(gradstorm_tsan_tests)

# gradstorm_library(NAME SOURCES a.cpp ... HEADERS a.h ... LINK lib ... PRIVATE_LINK lib ...)
# A folder's library. Headers are a file set, so that `all_verify_interface_header_sets` proves each compiles alone.
function(gradstorm_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;LINK;PRIVATE_LINK" ${ARGN})
  if(arg_SOURCES)
    add_library(${name} STATIC ${arg_SOURCES})
    target_link_libraries(${name} PUBLIC ${arg_LINK} PRIVATE gradstorm_warnings ${arg_PRIVATE_LINK})
    target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${arg_HEADERS})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${arg_LINK})
    target_sources(${name} INTERFACE FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${arg_HEADERS})
  endif()
  set_target_properties(${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()

# gradstorm_test(NAME SOURCES a_test.cpp ... LINK lib ... [LABELS sanitize ...] [MAIN] [TIMEOUT seconds])
# A GoogleTest binary, each of its tests a test of ctest. MAIN: the sources bring their own main(). The label `sanitize`
# marks tests that the address sanitizer's build runs too, `tsan` those of the thread sanitizer's.
# GRADSTORM_SHARED_DATA tells tests where optional real-world data lies.
function(gradstorm_test name)
  cmake_parse_arguments(arg "MAIN" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} gradstorm_warnings GTest::gtest GTest::gmock)
  if(NOT arg_MAIN)
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
  endif()
  target_compile_definitions(${name} PRIVATE
    GRADSTORM_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
    GRADSTORM_SHARED_DATA="${PROJECT_SOURCE_DIR}/../shared/data")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if("sanitize" IN_LIST arg_LABELS)
    add_dependencies(gradstorm_sanitize_tests ${name})
  endif()
  if("tsan" IN_LIST arg_LABELS)
    add_dependencies(gradstorm_tsan_tests ${name})
  endif()
  set(environment "")
  if(GRADSTORM_SANITIZE MATCHES "thread")
    set(environment ENVIRONMENT
      "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/thread_sanitizer_suppressions.txt")
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${arg_TIMEOUT} ${environment})
  if(arg_LABELS)
    # gtest_discover_tests takes one label at most: a list falls apart on its way. NAME_TESTS is what it found.
    set(labels "${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake")
    file(WRITE "${labels}" "if(${name}_TESTS)\n"
      "  set_tests_properties(\${${name}_TESTS} PROPERTIES LABELS \"${arg_LABELS}\")\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${labels}")
  endif()
endfunction()
