#!/usr/bin/env bash
# Lints with annotations on standard output and a table in the job's summary. Its input is in the environment, as
# action.yml sets it: PATHS, ARGS, CHANGED_ONLY, BASE (the commit to compare with), SARIF, COMMENT and GITHUB_TOKEN;
# and FORMAT for other systems.
set -euo pipefail

read -r -a options <<<"${ARGS:-}"
read -r -a paths <<<"${PATHS:-.}"
summary=${GITHUB_STEP_SUMMARY:-}

if [ "${CHANGED_ONLY:-false}" = true ] && [ -n "${BASE:-}" ]; then
    git fetch --quiet --depth=1 origin "$BASE" 2>/dev/null || true
    # Only files that a run over the same paths reads: a changed picture is not SQL.
    listing=$(mktemp)
    pubcheck files --format json -- "${paths[@]}" >"$listing" || true
    mapfile -d "" -t changed < <(git diff -z --relative --name-only --diff-filter=d "$BASE" -- "${paths[@]}" |
        python3 -c '
import json, os, sys
with open(sys.argv[1], encoding="utf-8") as file:
    units = json.loads(file.read() or "{}").get("units", [])
read = {os.path.normpath(entry["path"]) for unit in units for entry in unit["files"]}
changed = [name for name in sys.stdin.read().split("\0") if os.path.normpath(name) in read]
sys.stdout.write("".join(name + "\0" for name in changed))' "$listing")
    rm "$listing"
    if [ "${#changed[@]}" -eq 0 ]; then
        echo "pubcheck: no file was changed"
        # The step that uploads the file expects one.
        if [ -n "${SARIF:-}" ]; then pubcheck lint --isolated --quiet --output "sarif:$SARIF" - <<<"-- nothing"; fi
        exit 0
    fi
    paths=("${changed[@]}")
    options+=(--force-exclude)
fi

outputs=()
if [ -n "$summary" ]; then outputs+=(--output "markdown:$summary.pubcheck"); fi
if [ -n "${SARIF:-}" ]; then outputs+=(--output "sarif:$SARIF"); fi

status=0
pubcheck lint --format "${FORMAT:-github}" "${outputs[@]}" "${options[@]}" -- "${paths[@]}" || status=$?
if [ -n "$summary" ] && [ -f "$summary.pubcheck" ]; then
    cat "$summary.pubcheck" >>"$summary"
    if [ "${COMMENT:-false}" = true ] && [ -n "${GITHUB_TOKEN:-}" ] && [[ "${GITHUB_REF:-}" == refs/pull/* ]]; then
        pubcheck comment "$summary.pubcheck" || status=2
    fi
    rm "$summary.pubcheck"
fi
exit "$status"
