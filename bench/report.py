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


class Case:
    def __init__(self, entry):
        self.name = entry["name"].split("/iterations:")[0]
        values = {key: value for key, value in entry.items() if ":" in key}
        pick = lambda kind: {key.split(":", 1)[1]: value for key, value in values.items() if key.startswith(kind + ":")}
        self.seconds, self.ratios, self.noises, self.targets, self.rates = map(pick, ("seconds", "ratio", "noise", "target", "rate"))

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


def summary(run):
    print(f"\n{run.title()}, {run.context['threads']} thread(s); peers: {run.context['peers']}")
    met = sum(len(set(case.targets) & set(case.ratios)) - len(case.missed()) for case in run.cases.values())
    missed = [(case, peer, least) for case in run.cases.values() for peer, least in case.missed().items()]
    print(f"targets met: {met}, missed: {len(missed)}")
    for case, peer, least in missed:
        print(f"  {case.name}: {case.ratios[peer]:.2f} times as fast as {peer}, target {least:.2f}")


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
    """Time per element or tensor over their number, in log-log; a flat line is linear growth."""
    series = {}
    for case in run.group("growth"):
        _, what, size = case.name.split("/")
        series.setdefault(what, []).append((int(size), case.seconds["mezzo"]))
    if not series:
        return None
    path = folder / f"{name}-growth.svg"
    blocks = "\n".join(
        f"${re.sub('[^a-z0-9]', '_', what)} << EOD\n" + "\n".join(f"{n} {s}" for n, s in sorted(points)) + "\nEOD" for what, points in series.items())
    plots = ", ".join(f"${re.sub('[^a-z0-9]', '_', what)} using 1:2 with linespoints title '{what.replace('_', ' ')}'" for what in series)
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
    ("softmax", "Softmax", ""),
    ("layer_norm", "Layer normalisation", ""),
    ("cross_entropy", "Cross entropy, forward and backward", ""),
    ("two_threads", "A second thread", "`one_thread` is mezzo on one, and `copy` a copy on two threads."),
    ("growth", "Growth", ""),
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
        missed = sum(len(case.missed()) for case in run.cases.values())
        lines += [f"## {run.title()}", "",
                  f"{run.context['threads']} thread, loops for {run.context['isa']}, {run.context['date'][:10]}. Peers: {run.context['peers']}.",
                  f"Targets missed: {missed}.", ""]
        for prefix, title, text in GROUPS:
            cases = run.group(prefix)
            if not cases:
                continue
            lines += [f"### {title}", ""] + ([text, ""] if text else [])
            lines += ["| case | time | rate | times as fast as |", "|---|---|---|---|"]
            for case in cases:
                lines.append(f"| {case.name.split('/', 1)[1]} | {duration(case.seconds['mezzo'])} | {rate(case)} | {against(case)} |")
            lines.append("")
            if prefix == "growth":
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
    sys.exit(main(sys.argv[1:]))
