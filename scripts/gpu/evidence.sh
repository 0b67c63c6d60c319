# Measures on a GPU machine what evidence/h200/ holds, from the host archive. From the repository's root, with OUT the
# folder for the results:  bash scripts/gpu/evidence.sh
. scripts/gpu/setup.sh
cd /tmp/evolver-host
to=$OUT/h200
keep() { name=$1; shift; timeout 240 node scripts/evidence.ts "$to/$name.json" -- "$@" || echo "$name FAILED"; }
conformance=packages/device/conformance/cli.node.ts
keep devices evolver devices --json
keep conformance-cuda node $conformance --device cuda --json
keep conformance-webgpu node $conformance --device webgpu --json
keep launch node packages/device/bench/launch.ts
for device in cuda webgpu; do
  keep ladder-$device evolver ladder attention --device $device --shape B1,H8,S1024,D64 --json
  keep ladder-$device-gqa evolver ladder attention --device $device --shape B1,Hq32,Hkv8,S512,D128,causal --json
done
keep evolve-cuda evolver evolve attention --device cuda --cycles 8 --trials 4 --shape B1,H8,S512,D64 --workspace /tmp/ws-cuda --json
keep evolve-webgpu evolver evolve attention --device webgpu --cycles 4 --trials 4 --shape B1,H8,S512,D64 --workspace /tmp/ws-webgpu --json
keep noise-cuda node packages/studies/bench/noise.ts --device cuda --cycles 50 --shape B1,H4,S128,D64
tar -C "$OUT" -cf "$OUT/h200.tar" h200 && rm -r "$to"
