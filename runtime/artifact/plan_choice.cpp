// Names and numbers of ranks, compared.
#include "runtime/artifact/plan_choice.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sgd::artifact {
namespace {

std::string RanksText(uint64_t ranks) { return absl::StrCat(ranks, ranks == 1 ? " rank" : " ranks"); }

std::string Quoted(const std::string& name) { return absl::StrCat("'", absl::CEscape(name), "'"); }

bool Fits(const Plan& plan, const PlanChoice& choice) {
  return (!choice.name.has_value() || plan.name == *choice.name) &&
         (!choice.ranks.has_value() || plan.ranks == *choice.ranks);
}

// " 'data=4' for 2 ranks"; empty where nothing is asked for.
std::string ChoiceText(const PlanChoice& choice) {
  return absl::StrCat(choice.name.has_value() ? absl::StrCat(" ", Quoted(*choice.name)) : "",
                      choice.ranks.has_value() ? absl::StrCat(" for ", RanksText(*choice.ranks)) : "");
}

}  // namespace

std::string PlanNameOf(const Artifact& root) {
  if (root.plan() != nullptr) return root.plan()->str();
  if (root.mesh() == nullptr || root.mesh()->size() == 0) return "ranks=1";
  return absl::StrJoin(*root.mesh(), ",", [](std::string* text, const MeshAxis* axis) {
    absl::StrAppend(text, axis->name()->str(), "=", axis->size());
  });
}

std::string PlansText(const std::vector<Plan>& plans) {
  return absl::StrJoin(plans, ", ", [](std::string* text, const Plan& plan) {
    absl::StrAppend(text, Quoted(plan.name), " (", RanksText(plan.ranks), ")");
  });
}

absl::StatusOr<size_t> ChoosePlan(const std::vector<Plan>& plans, const PlanChoice& choice) {
  std::vector<size_t> fitting;
  std::vector<Plan> fitting_plans;
  for (size_t i = 0; i < plans.size(); ++i) {
    if (!Fits(plans[i], choice)) continue;
    fitting.push_back(i);
    fitting_plans.push_back(plans[i]);
  }
  if (fitting.size() == 1) return fitting.front();
  if (fitting.empty()) {
    return absl::NotFoundError(absl::StrCat("has no plan", ChoiceText(choice), "; expected one of: ", PlansText(plans),
                                            "; choose one of them, or compile the model again with that mesh"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "has ", fitting.size(), " plans", ChoiceText(choice), "; expected one of: ", PlansText(fitting_plans),
      "; choose it with --plan NAME", choice.ranks.has_value() ? "" : ", or with sgdrun -n RANKS"));
}

}  // namespace sgd::artifact
