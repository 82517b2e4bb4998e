#include "engine/graph/scope.h"

#include "engine/graph/fusion.h"
#include "tensor/error.h"

namespace grurun::engine {

int Frame::new_slot() {
  return plan_->slot_count++;
}

int Frame::new_constant(Value value) {
  const int slot = new_slot();
  constants_.emplace(slot, std::move(value));
  return slot;
}

const Value* Frame::constant(int slot) const {
  const auto found = constants_.find(slot);
  return found == constants_.end() ? nullptr : &found->second;
}

std::shared_ptr<const Plan> Frame::finish(bool fuse) {
  constexpr std::size_t never = static_cast<std::size_t>(-1);
  const auto slot_count = static_cast<std::size_t>(plan_->slot_count);
  std::vector<std::size_t> last(slot_count, never);
  std::vector<bool> kept(slot_count, false);
  for (const int slot : plan_->outputs) {
    if (slot != no_slot) kept[static_cast<std::size_t>(slot)] = true;
  }
  std::vector<bool> visible = kept;  // from outside: an input that has a value must not seem to miss it
  for (const int slot : plan_->inputs) visible[static_cast<std::size_t>(slot)] = true;
  for (const auto& [slot, value] : constants_) kept[static_cast<std::size_t>(slot)] = true;

  for (std::size_t i = 0; i < plan_->steps.size(); ++i) {
    const auto touch = [&](const std::vector<int>& slots) {
      for (const int slot : slots) {
        if (slot != no_slot) last[static_cast<std::size_t>(slot)] = i;
      }
    };
    touch(plan_->steps[i].inputs);
    touch(plan_->steps[i].outputs);
    if (plan_->steps[i].judge != nullptr) touch(plan_->steps[i].judge->slots());
    if (const auto found = captured.find(i); found != captured.end()) touch(found->second);
  }
  for (std::size_t slot = 0; slot < slot_count; ++slot) {
    if (last[slot] != never && !kept[slot])
      plan_->steps[last[slot]].last_used.push_back(static_cast<int>(slot));
  }
  // What only served to compute other constants is not held on to.
  for (auto& [slot, value] : constants_) {
    const auto at = static_cast<std::size_t>(slot);
    if (last[at] != never || visible[at]) plan_->constants.emplace_back(slot, std::move(value));
  }
  if (fuse) fuse_steps(*plan_);
  return std::move(plan_);
}

std::optional<int> Scope::find(const std::string& name) {
  if (const auto found = slots.find(name); found != slots.end()) return found->second;
  if (enclosing == nullptr) return std::nullopt;
  const std::optional<int> outer = enclosing->find(name);
  if (!outer) return std::nullopt;
  int inner = no_slot;
  if (*outer != no_slot) {
    if (const Value* constant = enclosing->frame->constant(*outer)) {
      inner = frame->new_constant(*constant);
    } else {
      inner = frame->new_slot();
      frame->plan().captures.push_back({name, *outer, inner});
    }
  }
  slots.emplace(name, inner);
  return inner;
}

void Scope::define(const std::string& name, int slot) {
  if (!slots.emplace(name, slot).second) {
    fail_invalid("the name '{}' is defined twice (every value of a graph has one definition)", name);
  }
}

}  // namespace grurun::engine
