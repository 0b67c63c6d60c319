# The ladder in full on a GPU machine, from the host archive: the machine's profile, every rung beside PyTorch and through
# WebGPU, the simulator's counters beside Nsight Compute's, and the ladder's own report. About six minutes. Each step has
# its own limit, so that one that fails leaves the others. From the repository's root, with OUT the folder for the results:
#   EVOLVER_COMMIT=$(git rev-parse --short HEAD) by value:  EVOLVER_COMMIT=4763160 bash tools/gpu/ladder.sh
# STEPS names some of: microbench peers ncu webgpu ladders
: "${EVOLVER_COMMIT:?the commit that is measured, which this machine has no git to ask for}"
export EVOLVER_COMMIT
. tools/gpu/setup.sh
cd /tmp/evolver-host
to=$OUT/h200 && mkdir -p "$to"
profile=/tmp/profile.json
# keep NAME SECONDS COMMAND…
keep() { name=$1; limit=$2; shift 2; timeout "$limit" node tools/gpu/evidence.ts "$to/$name.json" -- "$@" || echo "$name FAILED"; }
wants() { case " ${STEPS:-microbench peers ncu webgpu ladders} " in *" $1 "*) true ;; *) false ;; esac; }
roofs() { if [ -s $profile ]; then echo "--profile $profile"; fi; }
peers=packages/attention/bench/peers.ts
if wants microbench; then keep microbench 120 evolver bench microbench --device cuda --save $profile --report "$to/microbench" --json; fi
if wants peers; then keep peers 200 node $peers --device cuda --budget-ms 40 $(roofs); fi
if wants ncu; then keep ncu 120 node tools/gpu/ncu.ts --shape B1,H8,S1024,D64; fi
if wants webgpu; then keep peers-webgpu 150 node $peers --device webgpu --no-torch --budget-ms 40 $(roofs); fi
if wants ladders; then
  for device in cuda webgpu; do
    keep ladder-$device 60 evolver ladder attention --device $device --shape B1,H8,S1024,D64 --json
    keep ladder-$device-gqa 90 evolver ladder attention --device $device --shape B1,Hq32,Hkv8,S512,D128,causal --json
  done
fi
tar -C "$OUT" -cf "$OUT/h200.tar" h200 && rm -r "$to"
