// Holds any schedule by value, so that an optimizer's type does not depend on it.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace mezzo {

/// A learning-rate schedule: a trivially copyable value of at most 128 bytes with float operator()(int64 step), the factor on the
/// base learning rate at the given number of steps taken. By default the constant 1.
class StoredSchedule {
 public:
  StoredSchedule() = default;
  template <class Schedule>
  explicit StoredSchedule(const Schedule& schedule)
      : m_call([](const void* storage, std::int64_t step) {
          Schedule copy = *static_cast<const Schedule*>(storage);
          return static_cast<float>(copy(step));
        }) {
    static_assert(std::is_trivially_copyable_v<Schedule> && sizeof(Schedule) <= sizeof m_storage,
                  "mezzo: a schedule is a trivially copyable value of at most 128 bytes");
    std::memcpy(m_storage, &schedule, sizeof schedule);
  }

  float operator()(std::int64_t step) const { return m_call == nullptr ? 1.0f : m_call(m_storage, step); }

 private:
  alignas(16) unsigned char m_storage[128] = {};
  float (*m_call)(const void* storage, std::int64_t step) = nullptr;
};

}  // namespace mezzo
