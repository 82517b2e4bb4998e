# grurun_onnx_data(VARIABLE): the source that holds conformance/official/onnx_data.py.
function(grurun_onnx_data variable)
  set(script ${PROJECT_SOURCE_DIR}/conformance/official/onnx_data.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script})
  file(READ ${script} text)
  set(source ${PROJECT_BINARY_DIR}/generated/onnx_data.cc)
  file(WRITE ${source}.new "#include \"conformance/official/onnx_data.h\"\n
namespace grurun::conformance {\nconst std::string_view onnx_data_script = R\"~py~(${text})~py~\";\n}  // namespace grurun::conformance\n")
  file(COPY_FILE ${source}.new ${source} ONLY_IF_DIFFERENT)
  set(${variable} ${source} PARENT_SCOPE)
endfunction()
