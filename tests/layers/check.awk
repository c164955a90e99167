# Reads the headers; see check.

function breach(text) {
  printf "%s:%d: %s\n", FILENAME, FNR, text > "/dev/stderr"
  breaches++
}

function set_of(text, result,   i, n, words) {
  delete result
  n = split(text, words, " ")
  for (i = 1; i <= n; i++) result[words[i]] = 1
}

BEGIN {
  below = "core"
  uses["core"] = below
  uses["numeric"] = below = below " numeric"
  uses["context"] = below = below " context"
  uses["tensor"] = below = below " tensor"
  uses["io"] = below " io"
  uses["kernels"] = below = below " kernels"
  uses["ops"] = below " ops"
  uses["comm"] = below " comm"
  below = below " ops io"
  uses["optim"] = below = below " optim"
  uses["amp"] = below " amp"
  uses["parallel"] = below " comm parallel"
  uses["train"] = uses["interop"] = below " amp comm parallel train interop"

  # Headers that cost users' compile time, or drag in locales and static initialisers.
  set_of("iostream regex ranges format random", heavy_everywhere)
  set_of("functional algorithm map unordered_map set unordered_set sstream fstream iomanip locale filesystem " \
         "future chrono complex valarray cmath numeric execution memory_resource", heavy_in_mezzo_hpp)
}

FNR == 1 {
  split(FILENAME, parts, "/")
  folder = parts[3]
  is_top = FILENAME ~ /^include\/mezzo\/[^\/]+$/
  if (!is_top && !(folder in uses)) breach("'" folder "' is no layer")
}

/^[ \t]*#[ \t]*define/ {
  if (FILENAME !~ /(^include\/mezzo\/(core\/config|version)\.hpp|\/detail\/cpu\/(ranges|each_isa[^\/]*)\.hpp|\.inl)$/)
    breach("a macro outside core/config.hpp and the loops compiled for each instruction set")
}

/^[ \t]*#[ \t]*include/ {
  if (match($0, /<[^>]*>|"[^"]*"/) == 0) { breach("an include of a macro"); next }
  target = substr($0, RSTART + 1, RLENGTH - 2)
  if (substr($0, RSTART, 1) == "\"") { breach("include \"" target "\": write <mezzo/...>"); next }
  if (target !~ /^mezzo\//) {
    if (target in heavy_everywhere || (target in heavy_in_mezzo_hpp && folder !~ /^(train|io|interop|comm)$/))
      breach("<" target "> is too heavy for every user")
    next
  }
  split(target, target_parts, "/")
  target_folder = target_parts[2]
  if (is_top || target == "mezzo/version.hpp") next
  if (target ~ /^mezzo\/[^\/]+$/) { breach("<" target "> includes everything; name the header"); next }
  set_of(uses[folder], allowed)
  if (!(target_folder in allowed)) breach("'" folder "' may not include '" target_folder "': <" target ">")
  if (target_parts[3] == "detail" && target_folder != folder) breach("<" target "> is private to '" target_folder "'")
}

END { exit breaches > 0 }
