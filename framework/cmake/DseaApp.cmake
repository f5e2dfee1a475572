# dsea_add_app(<name> <source>... | SOURCES <source>...)
#
# A program made of workers. Its sources are written once as .cpp files; where the framework was built with CUDA they are
# compiled by nvcc, so that one program holds both back ends, otherwise by the host compiler.
function(dsea_add_app name)
  cmake_parse_arguments(PARSE_ARGV 1 app "" "" "SOURCES;LIBS")
  set(sources ${app_SOURCES} ${app_UNPARSED_ARGUMENTS})
  if(NOT sources)
    message(FATAL_ERROR "dsea_add_app(${name}): no sources given")
  endif()
  add_executable(${name} ${sources})
  dsea_user_sources(${sources})
  target_link_libraries(${name} PRIVATE dsea::dsea ${app_LIBS})
  if(TARGET dsea::kernels)
    target_link_libraries(${name} PRIVATE dsea::kernels)
  endif()
endfunction()

# dsea_user_sources(<source>...): these .cpp files of the calling folder hold workers or kernels (see above).
function(dsea_user_sources)
  if(NOT DSEA_USE_CUDA)
    return()
  endif()
  foreach(source IN LISTS ARGN)
    if(source MATCHES "\\.(cpp|cc|cxx)$")
      set_source_files_properties("${source}" PROPERTIES LANGUAGE CUDA)
    endif()
  endforeach()
endfunction()
