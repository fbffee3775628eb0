#!/usr/bin/env bash
# Lints with annotations on standard output and a table in the job's summary. Its input is in the environment, as
# action.yml sets it: PATHS, ARGS, CHANGED_ONLY, BASE (the commit to compare with), SARIF, COMMENT, FORK (whether the
# request comes from one) and GITHUB_TOKEN; and FORMAT for other systems. It runs with bash 3.2, which macOS has.
set -euo pipefail

set -f # the names of files are not patterns here
# shellcheck disable=SC2206 # the words of each, on one line or several
options=(${ARGS:-}) paths=(${PATHS:-.})
set +f
summary=${GITHUB_STEP_SUMMARY:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

write_comment() {  # FILE: write a report as a comment, if that is asked for
    if [ "${COMMENT:-false}" != true ] || [[ "${GITHUB_REF:-}" != refs/pull/* ]]; then return; fi
    if [ "${FORK:-false}" = true ]; then
        echo "pubcheck: a request from a fork gets no comment: its job may not write any"
        return
    fi
    pubcheck comment "$1"
}

if [ "${CHANGED_ONLY:-false}" = true ] && [ -n "${BASE:-}" ]; then
    # Fetched only where it is missing: that makes a whole clone shallow.
    git cat-file -e "$BASE^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$BASE" || {
        echo "pubcheck: the commit to compare with, $BASE, is not here: check out with fetch-depth: 0" >&2
        exit 2
    }
    base=$(git merge-base "$BASE" HEAD 2>/dev/null) || base=$BASE
    git diff -z --relative --name-only --diff-filter=d "$base" -- "${paths[@]}" >"$scratch/changed"
    # Only files that a run over the same paths reads: a changed picture is not SQL.
    pubcheck files --format json -- "${paths[@]}" >"$scratch/files.json"
    python3 -c '
import json, os, sys
folder = sys.argv[1]
with open(f"{folder}/files.json", encoding="utf-8") as file:
    read = {os.path.normpath(entry["path"]) for unit in json.load(file)["units"] for entry in unit["files"]}
with open(f"{folder}/changed", encoding="utf-8", errors="surrogateescape") as file:
    changed = [name for name in file.read().split("\0") if os.path.normpath(name) in read]
sys.stdout.reconfigure(errors="surrogateescape")
sys.stdout.write("".join(name + "\0" for name in changed))' "$scratch" >"$scratch/linted"
    paths=()
    while IFS= read -r -d "" name; do paths+=("$name"); done <"$scratch/linted"
    if [ "${#paths[@]}" -eq 0 ]; then
        echo "pubcheck: no file was changed"
        # The step that uploads the file expects one.
        if [ -n "${SARIF:-}" ]; then pubcheck lint --isolated --quiet --output "sarif:$SARIF" - <<<"-- nothing"; fi
        # It replaces the comment of an earlier run.
        printf '### pubcheck\n\nNo file that pubcheck reads is changed.\n' >"$scratch/summary.md"
        write_comment "$scratch/summary.md"
        exit
    fi
    options+=(--force-exclude)
fi

outputs=(--output "markdown:$scratch/summary.md")
if [ -n "${SARIF:-}" ]; then outputs+=(--output "sarif:$SARIF"); fi

status=0
pubcheck lint --format "${FORMAT:-github}" "${outputs[@]}" ${options[@]+"${options[@]}"} -- "${paths[@]}" || status=$?
if [ -f "$scratch/summary.md" ]; then
    if [ -n "$summary" ]; then cat "$scratch/summary.md" >>"$summary"; fi
    write_comment "$scratch/summary.md" || status=2
fi
exit "$status"
