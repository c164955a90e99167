# oneDNN: DNNL_FOUND, DNNL_VERSION, DNNL_INCLUDE_DIR, DNNL_LIBRARY. Debian's own dnnl-config.cmake fails without OpenCL.
find_path(DNNL_INCLUDE_DIR dnnl.h)
find_library(DNNL_LIBRARY dnnl)
mark_as_advanced(DNNL_INCLUDE_DIR DNNL_LIBRARY)

set(DNNL_VERSION "")
foreach(folder oneapi/dnnl .)
  if(DNNL_INCLUDE_DIR AND DNNL_VERSION STREQUAL "" AND EXISTS "${DNNL_INCLUDE_DIR}/${folder}/dnnl_version.h")
    file(STRINGS "${DNNL_INCLUDE_DIR}/${folder}/dnnl_version.h" DNNL_VERSION REGEX "^#define +DNNL_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
    list(TRANSFORM DNNL_VERSION REPLACE "^#define +[A-Z_]+ +([0-9]+).*" "\\1")
    list(JOIN DNNL_VERSION "." DNNL_VERSION)
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(DNNL REQUIRED_VARS DNNL_LIBRARY DNNL_INCLUDE_DIR VERSION_VAR DNNL_VERSION)
