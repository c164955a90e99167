# The C interface of BLAS: CBLAS_FOUND, CBLAS_INCLUDE_DIR, CBLAS_LIBRARY. OpenBLAS before the slow reference implementation.
# The header and the library may lie in folders of their own (Fedora: include/openblas; Debian: by alternatives).
find_path(CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas openblas-pthread cblas)
find_library(CBLAS_LIBRARY NAMES openblas cblas PATH_SUFFIXES openblas-pthread)
mark_as_advanced(CBLAS_INCLUDE_DIR CBLAS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CBLAS REQUIRED_VARS CBLAS_LIBRARY CBLAS_INCLUDE_DIR)
