# Sourced: compile_seconds <compiler> <file> <options...> prints the user and system time of compiling a file with mezzo's headers, the
# best of three.
compile_seconds() {
  local compiler=$1 file=$2 LC_ALL=C TIMEFORMAT="%U %S"
  shift 2
  for _ in 1 2 3; do
    { time "$compiler" -std=c++20 -I include "$@" "$file" >&3; } 2>&1 3> /dev/null | awk 'END { printf "%.3f\n", $1 + $2 }'
  done | sort -n | awk 'NR == 1'
}
