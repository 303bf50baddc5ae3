# SPDX-License-Identifier: Apache-2.0
# GRADSTORM_SANITIZE instruments every target of ours.
if(GRADSTORM_SANITIZE)
  add_compile_options("-fsanitize=${GRADSTORM_SANITIZE}" -fno-omit-frame-pointer)
  add_link_options("-fsanitize=${GRADSTORM_SANITIZE}")
  if(GRADSTORM_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(GRADSTORM_SANITIZE MATCHES "thread")
    add_compile_definitions(RTE_USE_C11_MEM_MODEL)
  endif()
endif()
