"""The examples of docs/scale.md: a Job that Kubernetes takes, tasks of Slurm that are shell scripts."""

import os
import pathlib
import re
import subprocess
import unittest

from tests import optional_packages

ROOT = pathlib.Path(os.environ.get("GRURUN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
SCALE = ROOT / "examples/scale"


class Scale(unittest.TestCase):
    def test_the_job_fits_the_schema_of_kubernetes(self):
        optional_packages.require({"kubernetes_validate": ["kubernetes-validate==1.37.0"], "yaml": ["pyyaml"]})
        import kubernetes_validate
        import yaml
        job = yaml.safe_load((SCALE / "job.yaml").read_text())
        kubernetes_validate.validate(job, kubernetes_validate.latest_version(), strict=True)
        spec = job["spec"]
        container = spec["template"]["spec"]["containers"][0]
        shards = {entry["name"]: entry["value"] for entry in container["env"]}["GRURUN_SHARDS"]
        self.assertEqual((spec["completionMode"], str(spec["completions"])), ("Indexed", shards))
        spec["completions"] = "eight"
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(job, kubernetes_validate.latest_version(), strict=True)

    def test_batch_scripts_can_be_read(self):
        for name in ("suite.sbatch", "merge.sbatch"):
            result = subprocess.run(["bash", "-n", SCALE / name], capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex((SCALE / "suite.sbatch").read_text(), re.compile("^#SBATCH --array=1-8$", re.MULTILINE))


if __name__ == "__main__":
    unittest.main()
