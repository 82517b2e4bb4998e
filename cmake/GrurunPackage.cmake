# The Debian package of the program alone: scripts/build-deb.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME grurun)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs ONNX models and tests them against the standard")
set(CPACK_PACKAGE_DESCRIPTION "grurun opens an ONNX model or test case, checks it against the rules
of the exact opset that it declares, runs it on a CPU engine of its own
and compares the outputs with expected tensors. It says why a recurrent
layer differs, in the words of the standard.")
# The project has no address of its own; who builds the package names one: scripts/build-deb.
set(CPACK_PACKAGE_CONTACT "grurun developers <developers@grurun.invalid>" CACHE STRING "Maintainer of the Debian package")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
  WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/PackageDebian.cmake)
include(CPack)
