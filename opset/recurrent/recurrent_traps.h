// What the text of GRU, RNN and LSTM allows, but is probably a mistake: warnings that need types or values.
#pragma once

#include "opset/recurrent/recurrent_shapes.h"

namespace grurun::opset {

void check_recurrent_traps(const RecurrentForm& form, const RecurrentAttributes& attributes,
                           const std::vector<RecurrentInputInfo>& inputs, RecurrentFindings& findings);

}  // namespace grurun::opset
