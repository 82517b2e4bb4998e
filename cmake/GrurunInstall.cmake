# The CMake package grurun: find_package(grurun) gives grurun::engine and the other rooms. The rooms are static libraries,
# so ONNX, which they use but do not show, is installed with them unless the package finds one of the pinned version.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/grurun)
configure_package_config_file(cmake/grurunConfig.cmake.in ${PROJECT_BINARY_DIR}/grurunConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/grurunConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/grurunConfig.cmake ${PROJECT_BINARY_DIR}/grurunConfigVersion.cmake
  DESTINATION ${package_dir})
install(EXPORT grurunTargets NAMESPACE grurun:: DESTINATION ${package_dir})
if(GRURUN_BUNDLES_ONNX)
  install(FILES ${onnx_prefix}/lib/libonnx.a DESTINATION ${CMAKE_INSTALL_LIBDIR}/grurun)
  install(FILES ${onnx_prefix}/share/onnx/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.onnx COMPONENT program)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
get_property(rooms GLOBAL PROPERTY grurun_installed_rooms)
install(CODE "set(source ${PROJECT_SOURCE_DIR})
set(rooms ${rooms})
set(destination \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/grurun)")
install(SCRIPT cmake/InstallHeaders.cmake)
