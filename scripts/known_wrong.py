"""Proves and lists the official cases that contradict the standard, in every release of ONNX that carries test data.

Each rule of conformance/known_wrong.cc has a proof in known_wrong_proofs.py. Every case that a rule's pattern matches is
recomputed; it is listed when the proof holds. The data of a release is fetched when it is not in testdata/official yet.

usage: known_wrong.py [--write]      without --write: exit status 1 when the list in the repository is another
"""

import fnmatch
import hashlib
import pathlib
import re
import subprocess
import sys

import numpy as np

import known_wrong_proofs

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "conformance" / "official"))

from onnx_data import RELEASES  # it stands beside the program that embeds it

TABLE = ROOT / "conformance" / "known_wrong_cases.cc"
PAGE = ROOT / "docs" / "known-wrong.md"

# Which cases a rule is tried on.
PATTERNS = {
    "adam-epsilon": ["test_adam*"],
    "attention-3d": ["test_attention_3d*"],
    "attention-gqa": ["test_attention_*_gqa*"],
    "attention-mask-after-softcap": ["test_attention_*"],
    "averagepool-ceil-mode": ["test_averagepool_3d_dilations_large_*ceil_mode_is_True"],
    "bfloat16-as-uint16": ["test_cast*BFLOAT16*"],
    "cast-string-pointers": ["test_cast_*STRING*"],
    "col2im-pads": ["test_col2im_pads"],
    "convtranspose-same-lower": ["test_convtranspose_autopad_same"],
    "dft-two-answers": ["test_dft_inverse*"],
    "lpnormalization-zero": ["test_l2normalization_*"],
    "mod-fmod-missing": ["test_mod_float_*"],
    "momentum-swapped": ["test_momentum*", "test_nesterov_momentum"],
    "qlinearmatmul-wrapped": ["test_qlinearmatmul_*_int8_*"],
    "resize-nearest-mode": ["test_resize_upsample_sizes_nearest_*"],
    "sequence-insert-front": ["test_sequence_insert_at_front"],
    "shrink-rank": ["test_shrink"],
    "softplus-add-1": ["test_softplus_*expanded"],
    "unique-sorted": ["test_unique_not_sorted_without_axis"],
}
BODY_RULES = {"softplus-add-1", "bfloat16-as-uint16"}  # others say nothing of a case that holds a function body


def digest(folder):
    """What `sha256sum model.onnx test_data_set_*/output_*.pb | sha256sum` prints in the case's folder."""
    files = [folder / "model.onnx", *sorted(folder.glob("test_data_set_*/output_*.pb"))]
    lines = [f"{hashlib.sha256(f.read_bytes()).hexdigest()}  {f.relative_to(folder)}\n" for f in files]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def same(values, expected):
    def close(a, b):
        if isinstance(b, list):
            return len(a) == len(b) and all(close(x, y) for x, y in zip(a, b))
        return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-3, atol=1e-7, equal_nan=True)

    return len(values) == len(expected) and all(close(a, b) for a, b in zip(values, expected))


def holds(rule, folder):
    """True when the case makes the rule's mistake."""
    case = known_wrong_proofs.load(folder)
    try:
        with np.errstate(all="ignore"):
            outcome = known_wrong_proofs.proof(rule)(case)
    except AssertionError:
        return False
    if outcome is None:
        return True
    right, *mistaken = outcome
    return any(same(m, case.expected) for m in mistaken) and not same(right, case.expected)


def search():
    """{(digest, rule, name): [releases]}"""
    found = {}
    for release in RELEASES:
        data = ROOT / "testdata" / "official" / f"onnx-{release}"
        if not (data / "complete").exists():
            subprocess.run([ROOT / "scripts" / "fetch-onnx-data", release], check=True)
        for folder in sorted(data.glob("*/test_*")):
            for rule, patterns in PATTERNS.items():
                matches = any(fnmatch.fnmatchcase(folder.name, p) for p in patterns)
                if matches and (rule in BODY_RULES or not folder.name.endswith("_expanded")) and holds(rule, folder):
                    found.setdefault((digest(folder), rule, f"{folder.parent.name}/{folder.name}"), []).append(release)
                    break
    return found


def table(found):
    rows = "".join(f'    {{"{d}",\n     "{rule}", "{name}",\n     "{" ".join(releases)}"}},\n'
                   for (d, rule, name), releases in sorted(found.items()))
    return f"""// Made by scripts/known_wrong.py, which proves every row; do not edit.
#include "conformance/known_wrong.h"

namespace grurun::conformance {{

// clang-format off
std::span<const KnownWrongCase> known_wrong_cases() {{
  static constexpr KnownWrongCase cases[] = {{
{rows}  }};
  return cases;
}}
// clang-format on

}}  // namespace grurun::conformance
"""


def rule_texts():
    """{id: (text, mistake)} of the rules in conformance/known_wrong.cc."""
    source = (ROOT / "conformance" / "known_wrong.cc").read_text()
    body = re.search(r"KnownWrongRule rules\[\] = \{\n(.*?)\n\};", source, re.S).group(1)
    texts = {}
    for entry in re.findall(r"^    \{(.*?)\},?$", body, re.S | re.M):
        strings = re.findall(r'((?:"(?:[^"\\]|\\.)*"\s*)+),?', entry)
        rule, text, mistake = ("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', s)) for s in strings)
        texts[rule] = (text, mistake)
    return texts


def page(found):
    texts = rule_texts()
    lines = ["# Official cases that are known to be wrong", "",
             "Made by `scripts/known_wrong.py --write`, which recomputes every case: with the mistake that is named the expected",
             "files are reproduced, without it they are not. `grurun conformance` gives these cases the verdict `known-wrong`;",
             "they are recognised by the SHA-256 of their model and expected files.", "",
             f"{len(found)} different cases in the data of {len(set(r for rs in found.values() for r in rs))} releases, "
             f"by {len(PATTERNS)} rules.", ""]
    for rule in PATTERNS:
        cases = {}
        for (_, of_rule, name), releases in found.items():
            if of_rule == rule:
                cases.setdefault(name, []).extend(releases)
        text, mistake = texts[rule]
        lines += [f"## {rule}", "", f"The standard: {text}.", "", f"The cases: {mistake}.", ""]
        lines += [f"- `{name}`: {', '.join(sorted(r, key=RELEASES.index))}" for name, r in sorted(cases.items())] + [""]
    return "\n".join(lines)


def main():
    found = search()
    for rule in PATTERNS:
        if not any(r == rule for _, r, _ in found):
            sys.exit(f"known_wrong: no case makes the mistake of {rule}")
    made = {TABLE: table(found), PAGE: page(found)}
    if sys.argv[1:] == ["--write"]:
        for path, text in made.items():
            path.write_text(text)
    elif stale := [str(p.relative_to(ROOT)) for p, text in made.items() if not p.exists() or p.read_text() != text]:
        sys.exit(f"known_wrong: {', '.join(stale)} would be another: run scripts/known_wrong.py --write")
    print(f"{len(found)} cases are known to be wrong, each proven")


if __name__ == "__main__":
    main()
