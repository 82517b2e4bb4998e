#!/usr/bin/env bash
# The action's step: COMMAND, PATHS (one a line), FLAGS (a JSON list) and REPORTS come from its inputs.
set -euo pipefail
mapfile -t paths < <(sed '/^[[:space:]]*$/d' <<<"$PATHS")
exec python3 -m grurun.ci "$COMMAND" --reports "$REPORTS" --flags "$FLAGS" -- "${paths[@]}"
