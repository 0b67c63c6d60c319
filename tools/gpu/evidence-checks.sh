# Correctness on a GPU machine, from the host archive: conformance, random programs, goldens, faults, large buffers,
# self-tests, and beside them the cost of a launch and the noise of a judgement. About five minutes. From the repository's
# root, with OUT the folder for the results and GOLDENS that of the golden values:
#   EVOLVER_COMMIT=4763160 GOLDENS=… bash tools/gpu/evidence-checks.sh
goldens=$(readlink -f "$GOLDENS")
. tools/gpu/setup.sh
cd /tmp/evolver-host
to=$OUT/h200
keep() { name=$1; shift; timeout 240 node tools/gpu/evidence.ts "$to/$name.json" -- "$@" || echo "$name FAILED"; }
keep devices evolver devices --json
for device in cuda webgpu; do
  keep conformance-$device node packages/device/conformance/cli.node.ts --device $device --json
  keep property-$device node packages/device/test/property/cli.ts --device $device --runs 150
  keep goldens-$device node packages/attention/bench/goldens.ts --device $device --data "$goldens"
  keep faults-$device node tools/gpu/faults.ts --device $device
done
keep large node packages/device/bench/large.ts --device cuda
keep launch node packages/device/bench/launch.ts
keep noise-cuda node packages/attention/bench/noise.ts --device cuda --cycles 50 --shape B1,H4,S128,D64
bash tools/gpu/selftest.sh /tmp/selftest && cp /tmp/selftest/selftest.json "$to/"
tar -C "$OUT" -cf "$OUT/h200.tar" h200 && rm -r "$to"
