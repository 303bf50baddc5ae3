# SPDX-License-Identifier: Apache-2.0
# Performance figures: programs that measure us against an anchor in the same run. `./check perf` builds and runs them.

# gradstorm_benchmark(NAME SOURCES a.cpp ... LINK lib ...)
# The program's main() is one call of gradstorm::perf::run (tests/perf/perf_line.h), which gives it the options that
# `./check perf` needs: `--list` names its figures, a figure's name measures that one, no argument measures all.
function(gradstorm_benchmark name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} gradstorm_perf_line gradstorm_warnings benchmark::benchmark)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin/perf")
endfunction()
