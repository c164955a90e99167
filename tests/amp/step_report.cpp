#include <doctest/doctest.h>

#include <mezzo/amp/step_report.hpp>

#include <string>

TEST_CASE("outcomes name themselves and a report gives its values") {
  using enum mezzo::StepOutcome;
  CHECK(std::string(describe(stepped)) == "stepped");
  CHECK(std::string(describe(skipped)) == "skipped");
  CHECK(std::string(describe(accumulating)) == "accumulating");
  CHECK(std::string(describe(nothing_to_do)) == "nothing to do");
  const mezzo::StepReport report({skipped, 1024.0f, true, 2.0, 0.5, 7});
  CHECK(report.skipped());
  CHECK_FALSE(report.stepped());
  CHECK(report.loss_scale() == 1024.0f);
  CHECK(report.at_minimum_scale());
  CHECK(report.grad_norm() == 2.0);
  CHECK(report.clip_factor() == 0.5);
  CHECK(report.step_count() == 7);
}
