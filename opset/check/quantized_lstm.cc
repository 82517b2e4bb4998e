#include "opset/check/quantized_lstm.h"

#include <utility>

#include "opset/recurrent/recurrent_attributes.h"
#include "opset/recurrent/recurrent_rules.h"

namespace grurun::opset {

// What the schema says has been told; of the others, the errors.
void check_quantized_attributes(const NodeAt& at, const SchemaInfo& schema, CheckReport& report) {
  RecurrentFindings findings;
  read_recurrent_attributes(quantized_lstm_form(), schema, at.node.attributes, findings);
  for (RecurrentFinding& found : findings) {
    if (found.rule > RecurrentRule::attribute_once && is_error(quantized_lstm_form(), found))
      report.add(Rule::inference, at, std::move(found.message));
  }
}

}  // namespace grurun::opset
