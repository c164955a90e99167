#!/usr/bin/env python3
"""What the benchmarks' JSON says: a summary, the page docs/performance.md with its plots, and whether a run is slower than another.

report.py summary RESULTS.json
report.py name RESULTS.json          a file name for this CPU
report.py page FOLDER DOCS           the page, from all results in the folder
report.py compare OLD.json NEW.json  exits with 1 on a regression
"""

import json
import math
import re
import subprocess
import sys
from pathlib import Path


# Why a target is missed, where that is understood: patterns of the case and of the peer. No numbers: those are in the tables.
REASONS = [
    (r"cast/.*MiB", "best_copy", "A copy reads as much as it writes. A cast to 16 bits reads twice what it writes, and one core reads this "
     "memory more slowly than it writes past the caches; the traffic twin beside it moves the same bytes without converting them."),
    (r"cast/.*MiB", "highway|torch", "Both sides wait for the same memory: what can be gained is the read before each write, which "
     "non-temporal stores save."),
    (r"cast/.*KiB", "highway|copy", "Within the noise of a peer that does the same loads and stores; what is left is the call."),
    (r"unscale_check_norm/.*KiB", ".*_pass(es)?", "In the cache the multiply-add of the norm shares its execution units with the "
     "multiplication; nothing else has been added to the loop."),
    (r"unscale_check_norm/.*MiB", "scale_pass", "Within the noise of a pass that moves the same bytes."),
    (r"unscale_check_norm/1000_tensors", "mezzo_flat", "The vectors that end each tensor, and the table of tensors, which a flat run does without."),
    (r"unscale_check_norm/transformer", "torch", "LibTorch's passes are as many, but its tensors are large here, and memory the limit of both."),
    (r"norm/", "read", "Within the noise of a read; in the cache the call and the combination of sums remain."),
    (r"adamw/.*/64Ki", "traffic_twin", "The square root: this CPU's unit takes longer for it than the cache for all streams. An estimate with "
     "Newton's steps has been measured, and takes longer still."),
    (r"adamw/", "traffic_twin", "Within the noise of a loop that moves the same bytes."),
    (r"gemm/bf16/", "onednn", "mezzo calls oneDNN in blocks that its own threads share, and each block packs its operands; oneDNN packs them once."),
    (r"gemm/", "best_library|own_fp32", "Within the noise of the library that does the work."),
    (r"isa_baseline/(gelu|softmax)", "best_isa", "Four elements to a register instead of sixteen, and no fused multiply-add: arithmetic takes its time."),
    (r"isa_baseline/.*half", "best_isa", "Without F16C a conversion is thirty integer operations."),
    (r"isa_", "best_isa", "Registers of half the width, where arithmetic and not memory is the limit."),
    (r"two_threads/", "one_thread", "Two threads share this machine's memory, and as virtual cores perhaps one core: the copy beside it gains as little."),
    (r"softmax|layer_norm|cross_entropy", ".*", "One read and one write of each row are left; where memory is the limit, the peer waits for the same."),
]


def reason(case, peer):
    for name, peers, text in REASONS:
        if re.match(name, case.name) and re.fullmatch(peers, peer):
            return text
    return "Not understood."


class Case:
    def __init__(self, entry):
        self.name = entry["name"].split("/iterations:")[0]
        values = {key: value for key, value in entry.items() if ":" in key}
        pick = lambda kind: {key.split(":", 1)[1]: value for key, value in values.items() if key.startswith(kind + ":")}
        self.seconds, self.ratios, self.noises, self.targets, self.rates = map(pick, ("seconds", "ratio", "noise", "target", "rate"))

        if self.name.startswith("two_threads/"):  # the copy's own scaling, or 1.7 where it is better than that
            self.targets["one_thread"] = min(1.7, 0.97 * self.ratios["copy_one_thread"] / self.ratios["copy"])

    def missed(self):
        return {peer: least for peer, least in self.targets.items() if peer in self.ratios and self.ratios[peer] < least}


class Run:
    def __init__(self, path):
        data = json.loads(Path(path).read_text())
        self.context = data["context"]
        self.cases = {case.name: case for case in map(Case, (b for b in data["benchmarks"] if "error_occurred" not in b))}

    def title(self):
        return f"{self.context['cpu']} ({self.context['cpu_features']})"

    def group(self, prefix):
        return [case for case in self.cases.values() if case.name.split("/")[0] == prefix]


def growth_series(run):
    """name: (sizes, mezzo's seconds, the twin's seconds)."""
    series = {}
    for case in run.group("growth"):
        _, what, size = case.name.split("/")
        twin = case.ratios.get("copy", case.ratios.get("scale"))
        series.setdefault(what, []).append((int(size), case.seconds["mezzo"], case.seconds["mezzo"] * twin))
    return {what: list(zip(*sorted(points))) for what, points in series.items() if len(points) > 2}


def slope(sizes, seconds):
    """Of log(seconds) over log(size), by least squares: 1 is linear."""
    x, y = [math.log(n) for n in sizes], [math.log(s) for s in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)


def steps(sizes, seconds):
    """How much more an element costs at each size than at the one before."""
    costs = [s / n for n, s in zip(sizes, seconds)]
    return [b / a for a, b in zip(costs, costs[1:])]


def growth_verdict(run):
    """Slopes within five per cent of 1, or no steeper than the twin's, whose data leaves the same caches; no step a quarter higher than
    the twin's."""
    lines = ["| series | slope | twin's slope | largest step beside the twin's | verdict |", "|---|---|---|---|---|"]
    missed = 0
    for what, (sizes, own, twin) in growth_series(run).items():
        a, b = slope(sizes, own), slope(sizes, twin)
        worst = max(x / y for x, y in zip(steps(sizes, own), steps(sizes, twin)))
        is_met = (abs(a - 1) <= 0.05 or 1 < a <= b) and worst <= 1.25
        missed += not is_met
        lines.append(f"| {what} | {a:.3f} | {b:.3f} | {worst:.2f} | {'met' if is_met else '**missed**'} |")
    return lines, missed


def duration(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def rate(case):
    return ", ".join(f"{value / 1e9:.3g} G{unit}/s" for unit, value in case.rates.items())


def against(case):
    """The ratios to the peers, the targets beside those that have one."""
    parts = []
    for peer, ratio in sorted(case.ratios.items()):
        least = case.targets.get(peer)
        verdict = "" if least is None else f" (target {least:.3g})" if ratio >= least else f" (**misses {least:.3g}**)"
        parts.append(f"{peer} {ratio:.2f}{verdict}")
    return ", ".join(parts)


# What the table at the end shows: a line for each kind of work, at the size where it usually is done.
AT_A_GLANCE = (r"cast/.*/64MiB|unscale_check_norm/(64MiB|1000)|norm/64MiB|adamw/.*/16384Ki|full_step|gemm(_own)?/.*/1024$|softmax|layer_norm|"
               r"cross_entropy|two_threads")
LIBRARIES = ("highway", "onednn", "torch", "eigen", "imath", "openblas")


def at_a_glance(run):
    print(f"{'':44}{'time':>10}  {'rate':>13}  fastest other library")
    for case in run.cases.values():
        if not re.match(AT_A_GLANCE, case.name):
            continue
        libraries = [(ratio, peer) for peer, ratio in case.ratios.items() if peer in LIBRARIES]
        other = "{1}: mezzo is {0:.2f} times as fast".format(*min(libraries)) if libraries else ""
        print(f"{case.name:44}{duration(case.seconds['mezzo']):>10}  {rate(case):>13}  {other}")


def summary(run):
    print(f"\n{run.title()}, {run.context['threads']} thread(s); peers: {run.context['peers']}\n")
    at_a_glance(run)
    print()
    met = sum(len(set(case.targets) & set(case.ratios)) - len(case.missed()) for case in run.cases.values())
    missed = [(case, peer, least) for case in run.cases.values() for peer, least in case.missed().items()]
    print(f"targets met: {met}, missed: {len(missed)}")
    for case, peer, least in missed:
        print(f"  {case.name}: {case.ratios[peer]:.2f} times as fast as {peer}, target {least:.2f}")
    if growth_series(run):
        print("growth:", *growth_verdict(run)[0], sep="\n  ")


def compare(old, new):
    worse = 0
    for name, case in new.cases.items():
        before = old.cases.get(name)
        if before is None:
            continue
        for peer, ratio in case.ratios.items():
            if peer not in before.ratios:
                continue
            noise = 3 * math.hypot(case.noises.get(peer, 0), before.noises.get(peer, 0)) + 0.03
            change = ratio / before.ratios[peer] - 1
            if change < -noise:
                print(f"SLOWER {name}: {ratio:.3f} times as fast as {peer}, was {before.ratios[peer]:.3f} ({change:+.1%}, noise {noise:.1%})")
                worse += 1
    print(f"compared {len(set(old.cases) & set(new.cases))} cases: {worse} slower")
    return 1 if worse else 0


def growth_plot(run, folder, name):
    """Time over the number of elements or tensors, in log-log: a straight line at 45 degrees is linear growth."""
    series = growth_series(run)
    if not series:
        return None
    path = folder / f"{name}-growth.svg"
    blocks = "\n".join(
        f"${re.sub('[^a-z0-9]', '_', what)} << EOD\n" + "\n".join(f"{n} {own} {twin}" for n, own, twin in zip(*points)) + "\nEOD" for what, points in series.items())
    plots = ", ".join(f"${re.sub('[^a-z0-9]', '_', what)} using 1:2 with linespoints linetype {i} title '{what.replace('_', ' ')}', "
                      f"${re.sub('[^a-z0-9]', '_', what)} using 1:3 with lines linetype {i} dashtype 2 title 'its twin'"
                      for i, what in enumerate(series, 1))
    script = f"""set terminal svg size 800,480 font 'sans,13' background 'white'
set output '{path}'
set title 'Cost over size'
set xlabel 'elements, or tensors'
set ylabel 'seconds'
set logscale xy
set format x '10^{{%L}}'
set format y '10^{{%L}}'
set grid
set key left top
{blocks}
plot {plots}
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
    return path


GROUPS = [
    ("cast", "Casts", "Beside copies of as many bytes in all; a cast to 16 bits reads twice what it writes, where a copy reads as much."),
    ("unscale_check_norm", "Unscale, check and norm in one pass", "`scale` multiplies and no more; the passes do one thing each."),
    ("norm", "L2 norm with the check", "`read` adds the elements up."),
    ("adamw", "AdamW with fp32 masters, 16-bit weights written", "The traffic twin has the same streams and next to no arithmetic."),
    ("full_step", "The whole step: check, norm, clip, AdamW, 16-bit weights", "`passes` is a pass for each; the best composition is the faster of it and LibTorch."),
    ("gemm", "Matrix products", ""),
    ("gemm_own", "Matrix products without a library", ""),
    ("softmax", "Softmax", ""),
    ("layer_norm", "Layer normalisation", ""),
    ("cross_entropy", "Cross entropy, forward and backward", ""),
    ("isa_avx2", "With AVX2 instead of AVX-512", "What `MEZZO_ISA=avx2` gives; 64 MiB, or 4096 rows of 1024."),
    ("isa_baseline", "With what every x86-64 has", "What `MEZZO_ISA=baseline` gives."),
    ("two_threads", "A second thread", "`one_thread` is mezzo on one thread, and `copy` a copy on two; the target is what the copy gains, at most 1.7."),
    ("growth", "Growth", "From a thousand elements to 256 Mi, and from one tensor to ten thousand, beside a pass that does next to nothing."),
]


def include_cost(path):
    data = json.loads(path.read_text())
    lines = ["## Compile time", "", f"Seconds of {data['compiler']} for `#include` of one header, `-fsyntax-only`, beyond an empty file.", "",
             "| header | seconds |", "|---|---|"]
    return lines + [f"| `{header}` | {seconds:.2f} |" for header, seconds in data["headers"].items()] + [""]


def instructions(path):
    data = json.loads(path.read_text())
    lines = ["## Instructions", "", "Instructions an element under callgrind, in the loops for AVX2; the same on a busy machine.", "",
             "| kernel | instructions |", "|---|---|"]
    return lines + [f"| {kernel.replace('_', ' ')} | {count:.2f} |" for kernel, count in data["kernels"].items()] + [""]


def page(folder, docs):
    results = [path for path in sorted(Path(folder).glob("*.json")) if path.stem not in ("include_cost", "instructions")]
    runs = [(path.stem, Run(path)) for path in results]
    images = Path(docs) / "images"
    images.mkdir(parents=True, exist_ok=True)
    lines = ["# Performance", "",
             "Written by `scripts/bench` from the JSON in `bench/results`, a file for each CPU; nothing here is written by hand. Each case runs in",
             "turns with its peers in one process. A number beside a peer says how many times as fast as the peer mezzo is: the median of the",
             "rounds' own ratios. Above 1, mezzo is faster. Targets are those that mezzo has set itself.", "",
             "GPU figures are unmeasured.", ""]
    for name, run in runs:
        missed = [(case, peer, least) for case in run.cases.values() for peer, least in case.missed().items()]
        lines += [f"## {run.title()}", "",
                  f"{run.context['threads']} thread, loops for {run.context['isa']}, {run.context['date'][:10]}. Peers: {run.context['peers']}.",
                  f"Targets missed: {len(missed)}.", ""]
        if missed:
            lines += ["| missed | measured | target | why |", "|---|---|---|---|"]
            lines += [f"| {case.name} beside {peer} | {case.ratios[peer]:.2f} | {least:.2f} | {reason(case, peer)} |" for case, peer, least in missed]
            lines.append("")
        for prefix, title, text in GROUPS:
            cases = run.group(prefix)
            if not cases:
                continue
            lines += [f"### {title}", ""] + ([text, ""] if text else [])
            lines += ["| case | time | rate | times as fast as |", "|---|---|---|---|"]
            for case in cases:
                lines.append(f"| {case.name.split('/', 1)[1]} | {duration(case.seconds['mezzo'])} | {rate(case)} | {against(case)} |")
            lines.append("")
            if prefix == "growth" and growth_series(run):
                lines += growth_verdict(run)[0] + [""]
                plot = growth_plot(run, images, name)
                lines += [f"![Cost over size]({plot.relative_to(docs)})", ""]
    if (Path(folder) / "instructions.json").exists():
        lines += instructions(Path(folder) / "instructions.json")
    if (Path(folder) / "include_cost.json").exists():
        lines += include_cost(Path(folder) / "include_cost.json")
    (Path(docs) / "performance.md").write_text("\n".join(lines))
    print(f"bench: wrote {docs}/performance.md")


def main(arguments):
    match arguments:
        case ["summary", path]:
            summary(Run(path))
        case ["name", path]:
            context = Run(path).context
            print(re.sub("[^a-z0-9]+", "-", f"{context['cpu']} {context['cpu_features']}".lower()).strip("-"))
        case ["page", folder, docs]:
            page(folder, docs)
        case ["compare", old, new]:
            return compare(Run(old), Run(new))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:
        sys.exit(1)
