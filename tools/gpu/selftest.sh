#!/bin/sh
# Emits self-tests, builds them with nvcc and runs them: the rungs of the attention ladder and two small kernels.
# Prints one JSON document.
#
#     tools/gpu/selftest.sh [folder for sources, programs and selftest.json]
#
# Uses the `evolver` of the host archive where it stands beside `tools`, else node. Exits 1 if one does not pass.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/selftest}
mkdir -p "$out" && out=$(cd "$out" && pwd)
cd "$root" || exit 2
if [ -x "$root/evolver" ]; then evolver="$root/evolver"; else evolver="node $root/packages/cli/bin/evolver.js"; fi
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
arch=${ARCH:-native}
shape=${SHAPE:-B1,Hq32,Hkv8,S1024,D128,causal}

compiler=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1)
failed=0
rows=""

# $1 a name, $2 what to emit, further arguments go to emit
test_one() {
  name=$1 target=$2
  shift 2
  if $evolver emit "$target" --target cuda --selftest -o "$out/$name.cu" "$@" 2> "$out/$name.log" &&
    "$nvcc" -O3 -arch="$arch" -o "$out/$name" "$out/$name.cu" >> "$out/$name.log" 2>&1; then
    "$out/$name" > "$out/$name.txt" 2>&1
    code=$?
  else
    code=3
    cp "$out/$name.log" "$out/$name.txt"
  fi
  [ $code = 0 ] || failed=1
  { printf '\n== %s\n' "$target"; cat "$out/$name.txt"; } >&2
  text=$(sed 's/\\/\\\\/g; s/"/\\"/g; s/\t/ /g' "$out/$name.txt" | awk '{ printf "%s\"%s\"", (NR > 1 ? ", " : ""), $0 }')
  pass=$([ $code = 0 ] && echo true || echo false)
  rows="$rows${rows:+,}
    { \"name\": \"$name\", \"emitted\": \"$target\", \"pass\": $pass, \"exit\": $code, \"output\": [$text] }"
}

for rung in ${RUNGS:-k01 k02 k03 k04 k05 k06 k07 k08 k09 k10 k11 k12}; do test_one "$rung" "attention/$rung" --shape "$shape"; done
test_one rowSums "examples/kernels.ts#rowSums"
test_one histogram "examples/kernels.ts#histogram"

cat > "$out/selftest.json" <<JSON
{
  "command": "tools/gpu/selftest.sh",
  "date": "$(date -u +%Y-%m-%dT%H:%M:%SZ)",
  "gpu": "$gpu",
  "nvcc": "$compiler",
  "arch": "$arch",
  "shape": "$shape",
  "tests": [$rows
  ]
}
JSON
cat "$out/selftest.json"
exit $failed
