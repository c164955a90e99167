#include <doctest/doctest.h>

#include <mezzo/optim/stored_schedule.hpp>

TEST_CASE("any small schedule is held by value") {
  struct Line {
    float slope;
    float operator()(std::int64_t step) const { return slope * static_cast<float>(step); }
  };
  CHECK(mezzo::StoredSchedule()(17) == 1.0f);
  mezzo::StoredSchedule schedule;
  {
    Line line{0.5f};
    schedule = mezzo::StoredSchedule(line);
    line.slope = 9;
  }
  CHECK(schedule(4) == 2.0f);
}
