#include "conformance/wire.h"

#include "conformance/wire_fields.h"

namespace grurun::conformance {

std::string encode(const CaseResult& result) {
  WireWriter writer;
  fields(writer, result);
  return writer.take();
}

CaseResult decode(std::string_view bytes) {
  WireReader reader(bytes);
  CaseResult result;
  fields(reader, result);
  reader.finish();
  return result;
}

}  // namespace grurun::conformance
